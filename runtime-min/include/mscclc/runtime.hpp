// The runtime in C++17: handles that free themselves, and failures as exceptions. runtime.h explains each call, and
// says which calls are collective. If a collective call made an object, its destructor is collective, too. This also
// holds for a communicator.
#pragma once

#include "mscclc/runtime.h"

#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace mscclc::runtime {

/// A failed call, with its code. what() is "NAME OF THE CODE: the details".
class Error : public std::runtime_error {
public:
  Error(int32_t code, const std::string &text)
      : std::runtime_error(std::string(mscclc_error_name(code)) + ": " + text), code_(code) {}
  int32_t code() const { return code_; }

private:
  int32_t code_;
};

/// Throws Error if `code` is a failure.
inline void check(int32_t code) {
  if (code != MSCCLC_OK)
    throw Error(code, mscclc_last_error());
}

class Communicator;

/// Memory of the same size on every rank. The communicator must live longer than the buffer.
class Buffer {
public:
  Buffer() = default;
  uint64_t bytes() const { return mscclc_buffer_bytes(get()); }
  /// Returns the address of a local rank's memory; null for other ranks.
  void *address(uint32_t rank) const { return mscclc_buffer_address(get(), rank); }
  bool hasMulticast() const { return mscclc_buffer_multicast(get()) != 0; }

  template <class T> void write(uint32_t rank, const std::vector<T> &values, uint64_t offset = 0) {
    check(mscclc_buffer_write(get(), rank, offset, values.data(), values.size() * sizeof(T)));
  }
  template <class T> std::vector<T> read(uint32_t rank, uint64_t count, uint64_t offset = 0) const {
    std::vector<T> values(count);
    check(mscclc_buffer_read(get(), rank, offset, values.data(), count * sizeof(T)));
    return values;
  }
  MscclcBuffer *get() const { return handle_.get(); }
  explicit operator bool() const { return handle_ != nullptr; }

private:
  friend class Communicator;
  struct Release {
    void operator()(MscclcBuffer *buffer) const { mscclc_buffer_release(buffer); }
  };
  explicit Buffer(MscclcBuffer *handle) : handle_(handle) {}
  std::unique_ptr<MscclcBuffer, Release> handle_;
};

/// The arguments of a launch: the fields of MscclcCall with their defaults.
struct Call : MscclcCall {
  Call() { mscclc_call_init(this); }
  Call &on(const Buffer &in, const Buffer &out) {
    input = in.get();
    output = out.get();
    return *this;
  }
  /// Sets the only buffer of a kernel that works in place.
  Call &inPlace(const Buffer &buffer) { return on(buffer, buffer); }
  Call &of(uint64_t bytes, uint32_t type, uint32_t operation = MSCCLC_SUM) {
    message_bytes = bytes;
    dtype = type;
    reduce_op = operation;
    return *this;
  }
  /// Lets the kernel begin before the earlier kernel of its stream has ended. See MscclcCall::pdl.
  Call &withPdl() {
    pdl = 1;
    return *this;
  }
  /// Starts only the kernel that sends, or only the kernel that receives. See MscclcPart.
  Call &only(MscclcPart of) {
    part = of;
    return *this;
  }
  /// Sets the length of a row, in bytes, for a kernel that takes rows.
  Call &rows(uint64_t bytes) {
    row_bytes = bytes;
    return *this;
  }
  /// Sets the counts of rows: a MscclcCounts for each local rank. See MscclcCall::counts.
  Call &countedBy(const std::vector<MscclcCounts> &counts) {
    counts_ = counts;
    return *this;
  }
  /// Sets the indices of experts: a MscclcIndex for each local rank. See MscclcCall::index.
  Call &indexedBy(const std::vector<MscclcIndex> &index) {
    index_ = index;
    return *this;
  }
  /// Sets an array that the kernel's hooks take: one pointer for each local rank.
  Call &array(const std::string &name, const std::vector<void *> &pointers) {
    arrays_[name] = pointers;
    return *this;
  }

private:
  friend class Instance;
  std::map<std::string, std::vector<void *>> arrays_;
  std::vector<MscclcCounts> counts_;
  std::vector<MscclcIndex> index_;
};

/// A kernel that is loaded into a communicator. The communicator must live longer than the instance.
class Instance {
public:
  Instance() = default;
  void launch(const Call &call) {
    std::vector<MscclcCallArray> arrays;
    for (const auto &[name, pointers] : call.arrays_)
      arrays.push_back({name.c_str(), pointers.data()});
    MscclcCall given = call;
    if (!arrays.empty()) {
      given.arrays = arrays.data();
      given.num_arrays = static_cast<uint32_t>(arrays.size());
    }
    if (!call.counts_.empty())
      given.counts = call.counts_.data();
    if (!call.index_.empty())
      given.index = call.index_.data();
    check(mscclc_launch(handle_.get(), &given));
  }
  const MscclcKernel &kernel() const { return *mscclc_instance_kernel(handle_.get()); }
  uint64_t scratchBytes() const { return mscclc_instance_scratch_bytes(handle_.get()); }
  MscclcInstance *get() const { return handle_.get(); }
  explicit operator bool() const { return handle_ != nullptr; }

private:
  friend class Communicator;
  struct Destroy {
    void operator()(MscclcInstance *instance) const { mscclc_instance_destroy(instance); }
  };
  explicit Instance(MscclcInstance *handle) : handle_(handle) {}
  std::unique_ptr<MscclcInstance, Destroy> handle_;
};

/// The ranks of a communicator, and those of this process: the fields of MscclcCommunicatorOptions with their defaults.
struct CommunicatorOptions : MscclcCommunicatorOptions {
  CommunicatorOptions() { mscclc_communicator_options_init(this); }
  explicit CommunicatorOptions(uint32_t all) : CommunicatorOptions() { ranks = all; }
  /// Lets the processes meet through `exchange(void *all, uint64_t each)`, which returns whether it succeeded.
  /// `exchange` must live until the communicator is made. See MscclcCommunicatorOptions::allgather.
  template <class Exchange> CommunicatorOptions &meetThrough(Exchange &exchange) {
    allgather = [](void *context, void *all, uint64_t each) -> int32_t {
      try {
        return (*static_cast<Exchange *>(context))(all, each) ? 0 : 1;
      } catch (...) {
        return 1;
      }
    };
    allgather_context = &exchange;
    return *this;
  }
};

/// A group of ranks. See MscclcCommunicator.
class Communicator {
public:
  explicit Communicator(const CommunicatorOptions &options) {
    MscclcCommunicator *made = nullptr;
    check(mscclc_communicator_create(&options, &made));
    handle_.reset(made);
  }

  uint32_t ranks() const { return mscclc_communicator_ranks(get()); }
  uint32_t firstLocalRank() const { return mscclc_communicator_first_local_rank(get()); }
  uint32_t localRanks() const { return mscclc_communicator_local_ranks(get()); }
  bool isOnHost() const { return mscclc_communicator_platform(get()) == MSCCLC_PLATFORM_HOST; }

  Buffer allocate(uint64_t bytes) {
    MscclcBuffer *made = nullptr;
    check(mscclc_buffer_allocate(get(), bytes, &made));
    return Buffer(made);
  }
  /// Makes a buffer of memory that the caller owns. `pointers` has one address for each local rank.
  Buffer adopt(const std::vector<void *> &pointers, uint64_t bytes) {
    if (pointers.size() != localRanks())
      throw Error(MSCCLC_ERROR_ARGUMENT, "one pointer for each local rank is wanted");
    MscclcBuffer *made = nullptr;
    check(mscclc_buffer_register(get(), pointers.data(), bytes, &made));
    return Buffer(made);
  }
  /// Loads a kernel for messages of at most `maxMessageBytes` bytes. `maxRowBytes`: the length of the longest row in
  /// bytes, for a kernel that takes rows.
  Instance load(const MscclcKernel &kernel, uint64_t maxMessageBytes, uint64_t maxRowBytes = 0) {
    MscclcInstance *made = nullptr;
    check(mscclc_instance_create_for_rows(get(), &kernel, maxMessageBytes, maxRowBytes, &made));
    return Instance(made);
  }

  void synchronize() { check(mscclc_communicator_synchronize(get())); }
  void barrier() { check(mscclc_communicator_barrier(get())); }
  void reset() { check(mscclc_communicator_reset(get())); }
  void abort(const std::string &reason) { check(mscclc_communicator_abort(get(), reason.c_str())); }
  bool isHealthy() const { return mscclc_communicator_health(get()) == MSCCLC_OK; }
  MscclcCommunicator *get() const { return handle_.get(); }

private:
  struct Destroy {
    void operator()(MscclcCommunicator *communicator) const { mscclc_communicator_destroy(communicator); }
  };
  std::unique_ptr<MscclcCommunicator, Destroy> handle_;
};

/// Returns the kernels of a library, in the order of their registration.
inline std::vector<const MscclcKernel *> loadLibrary(const std::string &path) {
  uint32_t count = 0;
  check(mscclc_load_library(path.c_str(), nullptr, 0, &count));
  std::vector<const MscclcKernel *> kernels(count);
  check(mscclc_load_library(path.c_str(), kernels.data(), count, &count));
  return kernels;
}

/// A set of kernels to select from. See MscclcSelector.
class Selector {
public:
  Selector() {
    MscclcSelector *made = nullptr;
    check(mscclc_selector_create(&made));
    handle_.reset(made);
  }
  Selector &add(const MscclcKernel &kernel, const std::string &tags = {}, uint64_t minBytes = 0,
                uint64_t maxBytes = UINT64_MAX, int32_t priority = 0) {
    check(mscclc_selector_add(handle_.get(), &kernel, tags.c_str(), minBytes, maxBytes, priority));
    return *this;
  }
  Selector &use(MscclcSelectFunction function, void *user = nullptr) {
    check(mscclc_selector_set_function(handle_.get(), function, user));
    return *this;
  }
  const MscclcKernel &select(const MscclcQuery &query) const {
    const MscclcKernel *kernel = nullptr;
    check(mscclc_select(handle_.get(), &query, &kernel));
    return *kernel;
  }

private:
  struct Destroy {
    void operator()(MscclcSelector *selector) const { mscclc_selector_destroy(selector); }
  };
  std::unique_ptr<MscclcSelector, Destroy> handle_;
};

} // namespace mscclc::runtime
