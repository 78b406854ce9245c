// Launches a kernel of a Dispatch or a Combine as users do, and compares every byte that it may write with the
// definition (MscclcIndex):
//
//   experts_client [--threads N] [--capacities LIST] [--row-bytes LIST] LIBRARY
//
// For each capacity of an expert, row length and width of entries it launches, in a row, one launch for each kind of
// index: no expert at all, all experts full, more rows than fit, one sender, all to one expert, rows that name an
// expert twice, random ones with numbers of no expert, and no rows. A combine with an index of 8 bytes brings the cells
// of its dispatch or, in a kind of its own, cells that are far too large. Rows of a dispatch have one to three
// payloads, which leave a part of the row unused or not. Groups of rows have places of their own, are packed, or begin
// at multiples of 3 or 4 rows. If rows come once, they are longer by a list. Then it does all of it again with other
// random indices. Of a split kernel, every third launch is one call, and the others are one that sends and one that
// receives. A kernel that hands rows over (.readyRows) has a user that runs at the same time, and is started before it
// or after it (ready_user.cuh). Prints what was run. Exits with 1 where a byte is wrong, or where a call without an
// index, or a part of a launch out of turn, is not refused.
#include "experts_launch.h"

#include <algorithm>
#include <cstdio>
#include <dlfcn.h>
#include <list>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace mscclc;
using test::elementOf;
using test::ExpertsLaunch;
using test::ExpertsShape;
using test::IndexKind;

struct Options {
  uint32_t threads = 0;
  std::vector<uint64_t> capacities{0, 1, 5, 33}, rowBytes{16, 40, 6, 1};
};

/// What must be refused. Returns the number of calls that were not.
unsigned countAccepted(runtime::Instance &instance, const MscclcVariant &variant, uint32_t ranks,
                       const ExpertsLaunch &launch) {
  unsigned wrong = 0;
  const auto refuses = [&](const char *what, const std::vector<MscclcIndex> &index) {
    runtime::Call call = launch.call(variant);
    call.indexedBy(index);
    wrong += test::isRefused(instance, call, MSCCLC_ERROR_COUNTS, what) ? 0 : 1;
  };
  refuses("a call without an index", {});
  std::vector<MscclcIndex> index(ranks);
  refuses("an index without entries", index);
  for (MscclcIndex &one : index) {
    one.entries = one.work = &index;
    one.payloads[0] = {&index, &index, launch.rowBytes()};
    one.weights = reinterpret_cast<const float *>(&index);
    one.rows = one.choices = 1;
    one.width = 3;
    if (instance.kernel().ready_rows != 0)
      one.ready = reinterpret_cast<uint32_t *>(&index);
  }
  refuses("a width of 3", index);
  index.back().width = 4;
  index.back().rows = uint64_t{1} << 31;
  std::swap(index.front(), index.back());
  refuses("2^31 entries", index);
  for (MscclcIndex &one : index) {
    one.rows = 1;
    one.width = 4;
  }
  const auto behind = [&](uint64_t bytes) -> void * { return reinterpret_cast<char *>(&index) + bytes; };
  std::vector<MscclcIndex> unaligned = index;
  unaligned.back().entries = behind(2);
  refuses("an array of entries at no multiple of 4", unaligned);
  unaligned = index;
  unaligned.back().status = static_cast<uint32_t *>(behind(2));
  refuses("an array of states at no multiple of 4", unaligned);
  unaligned = index;
  unaligned.back().payloads[0].from = behind(1);
  if (launch.adds() && elementOf(variant.dtype).bytes > 1)
    refuses("an array of rows to add at an odd address", unaligned);
  std::vector<MscclcIndex> payloads = index;
  payloads.back().payloads[0] = {};
  refuses("an index without payloads", payloads);
  payloads.back().payloads[0] = {&index, &index, launch.rowBytes() + 1};
  refuses("a payload that is longer than a row", payloads);
  payloads.back().payloads[0].bytes = launch.rowBytes();
  payloads.back().payloads[1] = {&index, &index, ~uint64_t{0}};
  refuses("payloads whose bytes have no sum", payloads);
  payloads.back().payloads[1] = {};
  payloads.back().payloads[0] = {nullptr, nullptr, launch.rowBytes()};
  refuses("a payload without memory", payloads);
  std::vector<MscclcIndex> words = index;
  for (MscclcIndex &one : words)
    one.ready = one.ready == nullptr ? static_cast<uint32_t *>(behind(0)) : nullptr;
  refuses(words[0].ready == nullptr ? "no words for rows that are handed over" : "words where none are", words);
  if (launch.adds() && (instance.kernel().flags & MSCCLC_SPLIT) != 0)
    refuses("a split combine without cells", index);
  if (launch.hasLists()) {
    runtime::Call call = launch.call(variant);
    call.indexedBy(index).rows(2);
    if (elementOf(variant.dtype).bytes == 1) // other rows are multiples of an element
      wrong += test::isRefused(instance, call, MSCCLC_ERROR_COUNTS, "rows with lists at no multiple of 4") ? 0 : 1;
    payloads = index;
    payloads.back().choices = 2;
    if (ranks > 1)
      refuses("lists of two lengths", payloads);
  }
  if (launch.adds() || launch.rowBytes() == 1) // these have one payload
    return wrong;
  payloads = index;
  for (MscclcIndex &one : payloads)
    one.payloads[0].bytes = launch.rowBytes() - 1;
  payloads.front().payloads[2] = {&index, &index, 1};
  refuses("a payload behind one of 0 bytes", payloads);
  std::swap(payloads.front().payloads[1], payloads.front().payloads[2]);
  if (ranks > 1)
    refuses("fewer payloads than those of the first rank", payloads);
  return wrong;
}

/// Launches what a call says: a split kernel in one call or in two, by turns. Returns the number of calls out of turn
/// that were not refused.
unsigned launchInParts(runtime::Instance &instance, const runtime::Call &call, size_t number) {
  const bool isSplit = (instance.kernel().flags & MSCCLC_SPLIT) != 0;
  unsigned wrong = 0;
  const auto refuses = [&](const char *what, MscclcPart part) {
    wrong += test::isRefused(instance, runtime::Call(call).only(part), MSCCLC_ERROR_PART, what) ? 0 : 1;
  };
  if (number == 0)
    refuses("to receive before anything is sent", MSCCLC_RECEIVE);
  if (number == 0 && !isSplit)
    refuses("a part of a kernel that has none", MSCCLC_SEND);
  if (!isSplit || number % 3 == 0) {
    instance.launch(call);
    return wrong;
  }
  instance.launch(runtime::Call(call).only(MSCCLC_SEND));
  if (number == 1) {
    refuses("to send twice", MSCCLC_SEND);
    refuses("a launch before what was sent is received", MSCCLC_WHOLE);
    runtime::Call other = call;
    other.message_bytes += instance.kernel().message_shares * instance.kernel().experts * call.row_bytes;
    wrong += test::isRefused(instance, other.only(MSCCLC_RECEIVE), MSCCLC_ERROR_PART, "another size") ? 0 : 1;
  }
  instance.launch(runtime::Call(call).only(MSCCLC_RECEIVE));
  return wrong;
}

/// Returns what starts a user of the kernel, in its library; null if the kernel hands no rows over.
test::StartUser *userOf(const MscclcKernel &kernel) {
  if (kernel.ready_rows == 0)
    return nullptr;
  Dl_info info{};
  if (::dladdr(kernel.name, &info) == 0)
    throw std::runtime_error("a kernel of no library");
  void *const library = ::dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  auto *const start = reinterpret_cast<test::StartUser *>(::dlsym(library, "mscclc_test_user"));
  return start != nullptr ? start : throw std::runtime_error("the library has no user of its kernel");
}

unsigned run(const Options &options, const MscclcKernel &kernel) {
  if ((kernel.flags & MSCCLC_TAKES_INDEX) == 0)
    throw std::runtime_error(std::string("no index in ") + kernel.name);
  runtime::Communicator communicator{runtime::CommunicatorOptions(kernel.ranks)};
  // Memory is kept until the end. The machine that runs PTX has no end of memory, so it would find races between its
  // users and those that get it afterwards.
  std::list<runtime::Instance> instances;
  std::list<std::vector<std::unique_ptr<ExpertsLaunch>>> kept;
  test::StartUser *const user = userOf(kernel);
  unsigned wrong = 0;
  for (uint32_t v = 0; v < kernel.num_variants; ++v) {
    const MscclcVariant &variant = kernel.variants[v];
    const uint32_t dtype = variant.dtype == MSCCLC_ANY_DTYPE ? uint32_t{MSCCLC_U8} : variant.dtype;
    unsigned bad = 0, ran = 0;
    for (const uint64_t rowBytes : options.rowBytes) {
      if (rowBytes % elementOf(dtype).bytes != 0)
        continue;
      const uint64_t largest = *std::max_element(options.capacities.begin(), options.capacities.end());
      constexpr uint64_t mostChoices = 4;
      const uint64_t longest =
          (kernel.flags & MSCCLC_ONCE_PER_RANK) != 0 ? ExpertsLaunch::listedRow(rowBytes, mostChoices) : rowBytes;
      runtime::Instance &instance =
          instances.emplace_back(communicator.load(kernel, largest * kernel.experts * kernel.ranks * longest, longest));
      std::vector<std::unique_ptr<ExpertsLaunch>> &launches = kept.emplace_back();
      for (const uint64_t capacity : options.capacities)
        for (const uint32_t width : {4u, 8u})
          for (int kind = 0; kind < static_cast<int>(IndexKind::End); ++kind)
            launches.push_back(std::make_unique<ExpertsLaunch>(
                communicator, kernel, ExpertsShape{capacity, rowBytes, width, dtype}, static_cast<IndexKind>(kind)));
      std::mt19937 random(static_cast<uint32_t>(rowBytes));
      for (int round = 0; round < 2; ++round) {
        std::shuffle(launches.begin(), launches.end(), random);
        for (const std::unique_ptr<ExpertsLaunch> &launch : launches)
          launch->fill(random);
        for (size_t i = 0; i < launches.size(); ++i) {
          runtime::Call call = launches[i]->call(variant);
          call.threads = options.threads;
          if (i % 2 == 0) // else it begins after the launch
            launches[i]->startUsers(user);
          bad += launchInParts(instance, call, i);
          if (i % 2 != 0)
            launches[i]->startUsers(user);
        }
        communicator.synchronize();
        for (uint32_t rank = 0; user != nullptr && rank < kernel.ranks; ++rank)
          user(nullptr, rank);
        for (const std::unique_ptr<ExpertsLaunch> &launch : launches)
          bad += launch->countWrong();
        ran += static_cast<unsigned>(launches.size());
      }
      bad += countAccepted(instance, variant, kernel.ranks, *launches[0]);
    }
    std::printf("type %u: %u launches, %u wrong\n", dtype, ran, bad);
    wrong += ran == 0 ? 1 : bad;
  }
  return wrong;
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  const test::Arguments arguments{{{"--threads", test::takeNumber(options.threads)},
                                   {"--capacities", test::takeNumbers(options.capacities)},
                                   {"--row-bytes", test::takeNumbers(options.rowBytes)}},
                                  {}};
  return test::runClient("experts_client", argc, argv, arguments,
                         [&](const MscclcKernel &kernel) { return run(options, kernel); });
}
