#include "library.h"

#include "digest.h"
#include "invariant.h"
#include "log.h"
#include "manifest.h"
#include "sha256.h"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <list>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

namespace mscclc::nccl {
namespace {

constexpr size_t mostShapes = 65536; ///< the most shapes whose choice is remembered

/// A kernel and the sizes for which it is used.
struct Candidate {
  const MscclcKernel *kernel = nullptr;
  const ManifestEntry *entry = nullptr;        ///< null: the program registered the kernel, or it is merely loaded
  const ProgramKernel *registration = nullptr; ///< null: the kernel is listed, or merely loaded

  bool takes(uint64_t message, const char *type) const {
    return entry != nullptr ? isWithin(*entry, message, type)
                            : registration == nullptr || isWithin(*registration, message, type);
  }
  /// Returns the size, in bytes, of the largest message for which the kernel is used. A kernel that is merely loaded
  /// has no limit.
  uint64_t largest() const {
    return entry != nullptr ? entry->max : registration != nullptr ? registration->max : UINT64_MAX;
  }

private:
  template <class Range> static bool isWithin(const Range &range, uint64_t message, const std::string &type) {
    return message >= range.min && message <= range.max &&
           (range.types.empty() || std::count(range.types.begin(), range.types.end(), type) != 0);
  }
};

/// The kernels for a number of ranks. The first communicator of so many ranks finds them. Kernels that are registered
/// later are left out, because other ranks may not have them. A process with different kernels has a different digest.
struct Loaded {
  std::vector<Candidate> candidates; ///< in this order: registered by mscclc_nccl_register, listed, merely loaded
  uint64_t window = 0;               ///< windowBytes
  uint64_t digest = 0;
};

struct Selector {
  MscclcSelectFunction function = nullptr;
  void *user = nullptr;
};

struct Library {
  std::mutex mutex;
  Manifest manifest;
  std::list<ProgramKernel> registrations; ///< made by mscclc_nccl_register; their addresses do not change
  std::map<uint32_t, Loaded> loaded;      ///< by ranks
  std::map<Shape, Choice> choices;
  uint64_t selectors = 0; ///< number of selectors that were set so far
  Selector selector;

  Library() {
    const char *const wanted = std::getenv("MSCCLC_KERNELS");
    const std::string folder = wanted != nullptr && *wanted != '\0' ? wanted : installedFolder();
    const std::string why = readManifest(folder, manifest);
    if (why.empty())
      info("kernels come from " + folder);
    else
      warn(why + "; NCCL runs every call");
  }
  static std::string installedFolder() {
    static const char here = 0;
    Dl_info self{};
    if (::dladdr(&here, &self) == 0 || self.dli_fname == nullptr)
      return ".";
    std::error_code error;
    const std::filesystem::path file = std::filesystem::canonical(self.dli_fname, error); // resolves links
    return ((error ? std::filesystem::path(self.dli_fname) : file).parent_path() / "kernels").string();
  }
};

/// Returns the only instance. It is never destroyed, because the destructors of other libraries may still make calls.
Library &library() {
  static Library *const instance = new Library;
  return *instance;
}

/// Adds a text to a digest. A separator follows each text, so that different lists of texts differ.
uint64_t mix(uint64_t digest, const std::string &text) {
  return digestOf(text + '\n', digest);
}

/// Returns the kernel of an entry. If the kernel cannot be loaded, returns null and sets `why`. `sha256` is the digest
/// of the library's file.
const MscclcKernel *loadEntry(const ManifestEntry &entry, const std::string &sha256, std::string &why) {
  if (!entry.sha256.empty() && sha256 != entry.sha256) {
    why = entry.kernel + " is not the file that is listed: its sha256 is " + (sha256.empty() ? "unknown" : sha256) +
          ", and the list says " + entry.sha256;
    return nullptr;
  }
  uint32_t count = 0;
  std::vector<const MscclcKernel *> kernels(64);
  if (mscclc_load_library(entry.kernel.c_str(), kernels.data(), static_cast<uint32_t>(kernels.size()), &count) !=
      MSCCLC_OK) {
    why = mscclc_last_error();
    return nullptr;
  }
  kernels.resize(std::min<size_t>(count, kernels.size()));
  const MscclcKernel *found = nullptr;
  for (const MscclcKernel *kernel : kernels)
    if (entry.name.empty() ? kernels.size() == 1 : entry.name == kernel->name)
      found = kernel;
  if (found == nullptr)
    why = entry.kernel + (entry.name.empty() ? " holds several kernels, and the list does not name one"
                                             : " has no kernel '" + entry.name + "'");
  else if (found->collective != entry.collective || found->ranks != entry.ranks ||
           (found->flags & MSCCLC_ROOTED ? found->root : 0) != entry.root)
    why = entry.kernel + " is listed for " + entry.collective + " of " + std::to_string(entry.ranks) + " ranks, root " +
          std::to_string(entry.root) + ", but its description says otherwise";
  return why.empty() ? found : nullptr;
}

uint64_t parseBytes(const char *text, uint64_t otherwise) {
  char *end = nullptr;
  const uint64_t number = std::strtoull(text, &end, 10);
  constexpr std::pair<char, uint64_t> units[] = {{'\0', 1}, {'K', 1 << 10}, {'M', 1 << 20}, {'G', 1 << 30}};
  for (const auto &[letter, unit] : units)
    if (end != text && *end == letter && (letter == '\0' || end[1] == '\0') && number > 0 &&
        number <= (1ull << 40) / unit)
      return number * unit;
  warn(std::string("MSCCLC_WINDOW is '") + text + "', which is not a number of bytes, such as 64M; it is taken as " +
       std::to_string(otherwise));
  return otherwise;
}

/// The size of the windows, in bytes, that a kernel without a limit on its messages asks for. The kernel is used for
/// all messages that fit into the windows.
constexpr uint64_t largestWindow = uint64_t{64} << 20;
/// If a kernel is listed for longer messages than this, in bytes, it counts as a kernel without a limit.
constexpr uint64_t largestListed = uint64_t{4} << 30;

/// Returns MSCCLC_WINDOW in bytes; 0 if it is not set.
uint64_t wantedWindow() {
  static const char *const wanted = std::getenv("MSCCLC_WINDOW");
  static const uint64_t bytes = wanted == nullptr || *wanted == '\0' ? 0 : parseBytes(wanted, largestWindow);
  return bytes;
}

/// Returns the size, in bytes, of the largest message that is launched for calls of at most `bytes` bytes. A launch may
/// be longer than its call, so that all shares are whole, for elements of any type.
uint64_t inWholeShares(const MscclcKernel &kernel, uint64_t bytes) {
  const uint64_t share = uint64_t{kernel.message_shares} * sizeof(double);
  if (share != 0)
    bytes += share - 1 - (bytes + share - 1) % share;
  return std::min(kernel.max_message_bytes, bytes);
}

/// Returns the bytes that a candidate's buffers need for its largest message. A kernel that is loaded, but neither
/// listed nor registered, has no limit.
uint64_t windowOf(const Candidate &candidate) {
  if (candidate.entry == nullptr && candidate.registration == nullptr)
    return largestWindow;
  const MscclcKernel &kernel = *candidate.kernel;
  const uint64_t most = candidate.largest() <= largestListed ? candidate.largest() : largestWindow;
  const uint64_t message = inWholeShares(kernel, most);
  uint64_t bytes = 0;
  for (uint32_t rank = 0; rank < kernel.ranks; ++rank)
    bytes = std::max({bytes, kernel.input_bytes(rank, message), kernel.output_bytes(rank, message)});
  return bytes;
}

/// Returns the registrations for this number of ranks, the best first.
std::vector<const ProgramKernel *> inOrder(const std::list<ProgramKernel> &registrations, uint32_t ranks) {
  std::vector<const ProgramKernel *> sorted;
  for (const ProgramKernel &one : registrations)
    if (one.kernel->ranks == ranks)
      sorted.push_back(&one);
  std::stable_sort(sorted.begin(), sorted.end(), [](const ProgramKernel *a, const ProgramKernel *b) {
    return a->priority != b->priority ? a->priority > b->priority : a->max - a->min < b->max - b->min;
  });
  return sorted;
}

/// Adds a registration to the digest. Everything is included, because ranks with different registrations would choose
/// differently.
uint64_t mixProgramKernel(uint64_t digest, const ProgramKernel &one) {
  digest = mix(digest, one.tags + ' ' + std::to_string(one.min) + ' ' + std::to_string(one.max) + ' ' +
                           std::to_string(one.priority));
  for (const std::string &type : one.types)
    digest = mix(digest, type);
  return digest;
}

Loaded load(const Manifest &manifest, const std::list<ProgramKernel> &registrations, uint32_t ranks) {
  Loaded result;
  std::vector<Candidate> &candidates = result.candidates;
  uint64_t digest = mix(manifest.digest, mscclc_runtime_version());
  if (invariance() != Invariance::Off) // all ranks must leave the same calls to NCCL
    digest = mix(digest, invariance() == Invariance::Strict ? "strictly invariant" : "invariant");
  const auto add = [&](const MscclcKernel *kernel, const ManifestEntry *entry, const ProgramKernel *registration) {
    candidates.push_back({kernel, entry, registration});
    digest = mix(digest, mscclc_kernel_identity(kernel));
  };
  for (const ProgramKernel *one : inOrder(registrations, ranks)) {
    add(one->kernel, nullptr, one);
    digest = mixProgramKernel(digest, *one);
  }
  for (const ManifestEntry &entry : manifest.entries) {
    if (entry.ranks != ranks)
      continue;
    std::string why;
    const std::string sha256 = sha256OfFile(entry.kernel);
    digest = mix(digest, sha256); // only the file itself shows which compiler made the kernel
    if (const MscclcKernel *kernel = loadEntry(entry, sha256, why); kernel != nullptr) {
      add(kernel, &entry, nullptr);
    } else {
      warn(why + "; NCCL runs what it is listed for");
      digest = mix(digest, "none");
    }
  }
  const auto listed = static_cast<std::ptrdiff_t>(candidates.size());
  // If the program registers kernels for specific calls, it does not want kernels that are merely loaded.
  for (uint32_t i = 0; const MscclcKernel *kernel = registrations.empty() ? mscclc_kernel_at(i) : nullptr; ++i)
    if (kernel->ranks == ranks && std::none_of(candidates.begin(), candidates.begin() + listed,
                                               [&](const Candidate &known) { return known.kernel == kernel; }))
      add(kernel, nullptr, nullptr);
  result.window = wantedWindow();
  if (result.window == 0)
    for (const Candidate &candidate : candidates)
      result.window = std::max(result.window, windowOf(candidate));
  result.digest = mix(digest, std::to_string(result.window));
  info(std::to_string(candidates.size()) + " kernels for " + std::to_string(ranks) + " ranks, with windows of " +
       std::to_string(result.window) + " bytes");
  return result;
}

/// Returns the kernels for a number of ranks. The result keeps its address, and never changes.
const Loaded &loadedFor(uint32_t ranks) {
  Library &all = library();
  const std::lock_guard<std::mutex> lock(all.mutex);
  auto found = all.loaded.find(ranks);
  if (found == all.loaded.end())
    found = all.loaded.emplace(ranks, load(all.manifest, all.registrations, ranks)).first;
  return found->second;
}

MscclcQuery queryOf(const Shape &shape, const MscclcKernel &kernel, const Choice &choice) {
  MscclcQuery query{};
  query.collective = nameOf(shape.kind);
  query.ranks = shape.ranks;
  query.dtype = choice.dtype;
  query.reduce_op = choice.reduceOp;
  query.in_place = (kernel.flags & MSCCLC_IN_PLACE) != 0 ? 1 : 0;
  query.message_bytes = choice.message;
  query.root = static_cast<uint32_t>(shape.root);
  return query;
}

/// Returns the reason why a kernel may not add in the order that is listed for such calls; empty if it adds in that
/// order.
std::string otherOrder(const Candidate &candidate) {
  if (candidate.entry == nullptr)
    return "not listed, so the order of its sums is not known";
  if (candidate.entry->sums.empty())
    return "by the list, it does not sum all elements in one order";
  if (orderOfCalls(library().manifest, *candidate.entry).empty())
    return "listed with other kernels whose sums have another order";
  return "";
}

/// Returns the reason why a candidate cannot run the call. If it can, returns an empty text and sets choice.message to
/// the size of the launch.
std::string unfit(const Shape &shape, const Candidate &candidate, Choice &choice) {
  const MscclcKernel &kernel = *candidate.kernel;
  const std::string name = std::string("kernel '") + kernel.name + "': ";
  choice.message = extentOf(shape, 0)->message;
  if (!candidate.takes(choice.message, nameOfType(shape.type)))
    return name + (candidate.entry != nullptr ? "not listed" : "not registered") + " for this size and type";
  if (candidate.entry != nullptr && candidate.entry->ranksPerNode != shape.ranksPerNode)
    return name + "made for " + std::to_string(candidate.entry->ranksPerNode) + " ranks a node";
  if (invariance() != Invariance::Off && hasOrder(shape))
    if (const std::string why = otherOrder(candidate); !why.empty())
      return name + why;
  if (shape.maxBlocks != 0 && kernel.max_blocks > shape.maxBlocks)
    return name + "needs " + std::to_string(kernel.max_blocks) + " blocks on a rank";
  const uint64_t share = uint64_t{kernel.message_shares} * bytesOfType(shape.type);
  if (isElementwise(shape.kind) && share != 0 && choice.message % share != 0)
    choice.message += share - choice.message % share;
  const MscclcQuery query = queryOf(shape, kernel, choice);
  if (mscclc_kernel_fits(&kernel, &query) != MSCCLC_OK)
    return mscclc_last_error();
  for (uint32_t rank = 0; rank < shape.ranks; ++rank) {
    const Extent extent = *extentOf(shape, rank);
    MscclcRankInfo info{};
    kernel.rank_info(rank, &info);
    if (info.blocks == 0 && (extent.input != 0 || extent.output != 0))
      return name + "rank " + std::to_string(rank) + " has no block that could copy its data";
    const uint64_t input = kernel.input_bytes(rank, choice.message), output = kernel.output_bytes(rank, choice.message);
    if (input < extent.input || output < extent.output)
      return name + "its buffers are shorter than those of the call";
    if (const uint64_t window = windowBytes(shape.ranks); std::max(input, output) > window)
      return name + "the call is longer than the window of " + std::to_string(window) + " bytes (MSCCLC_WINDOW)";
  }
  return "";
}

/// True if a kernel may work directly on the data of a call.
bool takesOwnMemory(const Shape &shape, const Choice &choice) {
  const MscclcKernel &kernel = *choice.kernel;
  // In a collective with a root, some ranks have no input or no output.
  if (hasRoot(shape.kind))
    return false;
  const bool inPlace = (kernel.flags & MSCCLC_IN_PLACE) != 0;
  for (uint32_t rank = 0; rank < shape.ranks; ++rank) {
    const Extent extent = *extentOf(shape, rank);
    if (extent.message != choice.message || kernel.input_bytes(rank, choice.message) != extent.input ||
        kernel.output_bytes(rank, choice.message) != extent.output)
      return false;
    // If the kernel works in place, its input and output share the memory of the call's output.
    if (inPlace && extent.output < extent.input)
      return false;
  }
  const bool isScaled = reduces(shape.kind) && (shape.op == Avg || shape.op == PreMulSum);
  return inPlace || (!isScaled && (kernel.flags & MSCCLC_WRITES_INPUT) == 0);
}

/// The place of a kernel in the order of choice; the least is chosen. Equal ones are in the order of
/// `Loaded::candidates`. Registered kernels come first, then listed ones, then merely loaded ones. Among listed
/// kernels, a kernel that needs no copies comes first: it works in place if the call does, and only then. After that,
/// less time comes first.
using Priority = std::tuple<int, bool, double>;

Priority priorityOf(const Shape &shape, const Candidate &candidate, const Choice &choice) {
  if (candidate.entry == nullptr)
    return {candidate.registration != nullptr ? 0 : 2, false, 0};
  const bool inPlace = (candidate.kernel->flags & MSCCLC_IN_PLACE) != 0;
  const bool copies = !choice.takesOwnMemory || shape.inPlace != inPlace;
  return {1, shape.inPlace.has_value() && copies, timeOf(*candidate.entry, choice.message)};
}

/// Chooses a kernel. Holds no lock, because the program's selector may call functions of this library.
Choice make(const std::vector<Candidate> &candidates, const Selector &selector, const Shape &shape) {
  Choice choice;
  choice.reduceOp = MSCCLC_SUM;
  choice.dtype = MSCCLC_U8; // kernels that only move bytes accept any type
  if (!extentOf(shape, 0) || shape.count == 0) {
    choice.why = "NCCL runs it, because it moves no data, or its arguments are wrong";
    return choice;
  }
  if (reduces(shape.kind)) {
    const std::optional<uint32_t> op = reduceOpOf(shape.op);
    choice.dtype = dtypeOf(shape.type);
    if (!op) {
      choice.why = "NCCL runs it, because kernels do not have this operation";
      return choice;
    }
    choice.reduceOp = *op;
  }
  std::vector<std::pair<Priority, Choice>> fitting;
  std::string why = "there is no kernel for it";
  bool isFirst = true;
  for (const Candidate &candidate : candidates) {
    if (std::string(candidate.kernel->collective) != nameOf(shape.kind))
      continue;
    Choice one = choice;
    if (const std::string reason = unfit(shape, candidate, one); !reason.empty()) {
      // The reason of a kernel that is listed for this size is the most informative one.
      if (candidate.takes(extentOf(shape, 0)->message, nameOfType(shape.type)) || isFirst)
        why = reason;
      isFirst = false;
      continue;
    }
    one.kernel = candidate.kernel;
    one.why = std::string("kernel '") + one.kernel->name + "', " +
              (candidate.entry == nullptr ? "registered by the program"
                                          : "listed for " + std::to_string(candidate.entry->min) + " to " +
                                                std::to_string(candidate.entry->max) + " bytes");
    one.takesOwnMemory = takesOwnMemory(shape, one);
    fitting.emplace_back(priorityOf(shape, candidate, one), std::move(one));
  }
  std::stable_sort(fitting.begin(), fitting.end(), [](const auto &a, const auto &b) { return a.first < b.first; });
  size_t pick = 0;
  if (selector.function != nullptr && !fitting.empty()) {
    std::vector<const MscclcKernel *> kernels;
    for (const auto &[priority, one] : fitting)
      kernels.push_back(one.kernel);
    const MscclcQuery query = queryOf(shape, *kernels.front(), fitting.front().second);
    const int32_t answer =
        selector.function(&query, kernels.data(), static_cast<uint32_t>(kernels.size()), selector.user);
    pick = answer < 0 ? fitting.size() : static_cast<size_t>(answer);
    why = "the program's selector chose none of " + std::to_string(fitting.size()) + " that fit";
  }
  if (pick < fitting.size())
    return fitting[pick].second;
  choice.why = "NCCL runs it, because " + why;
  return choice;
}

} // namespace

uint64_t windowBytes(uint32_t ranks) {
  return loadedFor(ranks).window;
}

bool mayServe(Kind kind, uint32_t ranks) {
  const std::string name = nameOf(kind);
  const std::vector<Candidate> &all = loadedFor(ranks).candidates;
  return std::any_of(all.begin(), all.end(), [&](const Candidate &c) { return c.kernel->collective == name; });
}

uint64_t loadKernels(uint32_t ranks) {
  return loadedFor(ranks).digest;
}

Choice choose(const Shape &shape) {
  Library &all = library();
  const Loaded &loaded = loadedFor(shape.ranks);
  Selector selector;
  uint64_t selectors = 0;
  {
    const std::lock_guard<std::mutex> lock(all.mutex);
    if (const auto known = all.choices.find(shape); known != all.choices.end())
      return known->second;
    selector = all.selector;
    selectors = all.selectors;
  }
  const Choice made = make(loaded.candidates, selector, shape);
  info(describe(shape) + ": " + made.why);
  const std::lock_guard<std::mutex> lock(all.mutex);
  if (selectors == all.selectors) {
    if (all.choices.size() >= mostShapes)
      all.choices.clear();
    all.choices.emplace(shape, made);
  }
  return made;
}

uint64_t largestMessage(const MscclcKernel &kernel) {
  uint64_t largest = 0;
  for (const Candidate &candidate : loadedFor(kernel.ranks).candidates)
    if (candidate.kernel == &kernel)
      largest = std::max(largest, candidate.largest());
  return inWholeShares(kernel, std::min(largest, windowBytes(kernel.ranks)));
}

bool registerKernel(ProgramKernel registration) {
  Library &all = library();
  const std::lock_guard<std::mutex> lock(all.mutex);
  if (all.loaded.count(registration.kernel->ranks) != 0)
    return false;
  all.registrations.push_back(std::move(registration));
  return true;
}

void setSelector(MscclcSelectFunction function, void *user) {
  Library &all = library();
  const std::lock_guard<std::mutex> lock(all.mutex);
  all.selector = {function, user};
  ++all.selectors;
  all.choices.clear();
}

} // namespace mscclc::nccl
