#include "fixture.h"

using namespace testing;

namespace {

MscclcKernel variantOf(const MscclcKernel &kernel, const char *name, uint64_t minBytes, uint64_t maxBytes) {
  MscclcKernel copy = kernel;
  copy.name = name;
  copy.min_message_bytes = minBytes;
  copy.max_message_bytes = maxBytes;
  return copy;
}

MscclcQuery allReduce(uint64_t bytes) {
  return {"allreduce", 4, MSCCLC_F32, MSCCLC_SUM, 0, bytes, nullptr, 0};
}

std::string nameFor(const Selector &selector, const MscclcQuery &query) {
  const MscclcKernel *kernel = nullptr;
  try {
    kernel = &selector.select(query);
  } catch (const Error &error) {
    return error.code() == MSCCLC_ERROR_NO_KERNEL ? "none" : error.what();
  }
  return kernel->name;
}

/// Takes the last candidate, or none if `user` points at true.
int32_t takeLast(const MscclcQuery *, const MscclcKernel *const *, uint32_t count, void *user) {
  return *static_cast<bool *>(user) ? -1 : static_cast<int32_t>(count) - 1;
}

} // namespace

TEST_CASE("The narrowest range that fits wins, then the first; priority comes before both") {
  const MscclcKernel small = variantOf(packets4(), "small", 0, 4096), wide = variantOf(packets4(), "wide", 0, 1 << 20),
                     late = variantOf(packets4(), "late", 0, 1 << 20);
  Selector selector;
  selector.add(wide).add(small).add(late);
  CHECK(nameFor(selector, allReduce(1024)) == "small");
  CHECK(nameFor(selector, allReduce(4096)) == "small");
  CHECK(nameFor(selector, allReduce(4100)) == "wide");
  CHECK(nameFor(selector, allReduce((1 << 20) + 4)) == "none");
  // The user's range narrows the kernel's.
  selector.add(late, "", 100, 200);
  CHECK(nameFor(selector, allReduce(128)) == "late");
  CHECK(nameFor(selector, allReduce(204)) == "small");
  selector.add(wide, "", 0, 8192, /*priority=*/1);
  CHECK(nameFor(selector, allReduce(128)) == "wide");
  CHECK(failureOf([&] { selector.add(small, "", 5000, 6000); }).code == MSCCLC_ERROR_ARGUMENT);
}

TEST_CASE("Everything asked for must fit") {
  Selector selector;
  selector.add(packets4()).add(gather4());
  MscclcQuery query = allReduce(64);
  CHECK(nameFor(selector, query) == "packets4");
  CHECK(mscclc_kernel_fits(&packets4(), &query) == MSCCLC_OK);
  CHECK(mscclc_kernel_fits(&gather4(), &query) == MSCCLC_ERROR_NO_KERNEL);
  query.in_place = 1;
  CHECK(nameFor(selector, query) == "none");
  query = allReduce(64);
  query.ranks = 8;
  CHECK(nameFor(selector, query) == "none");
  query = allReduce(64);
  query.dtype = MSCCLC_F16;
  CHECK(nameFor(selector, query) == "none");
  query = allReduce(64);
  query.reduce_op = MSCCLC_MAX;
  CHECK(nameFor(selector, query) == "none");
  query = allReduce(66); // not whole elements
  CHECK(nameFor(selector, query) == "none");
  // A kernel that only moves bytes takes any type and operation.
  CHECK(nameFor(selector, {"allgather", 4, MSCCLC_BF16, MSCCLC_MAX, 1, 64, nullptr, 0}) == "gather4");
}

TEST_CASE("A kernel with a root is for that root alone") {
  MscclcKernel kernel = packets4();
  kernel.flags |= MSCCLC_ROOTED;
  kernel.root = 2;
  Selector selector;
  selector.add(kernel);
  MscclcQuery query = allReduce(64);
  CHECK(nameFor(selector, query) == "none");
  query.root = 2;
  CHECK(nameFor(selector, query) == "packets4");
}

TEST_CASE("A kernel that mixes operations is no sum, and no maximum") {
  MscclcVariant mixed = packets4().variants[0];
  mixed.reduce_op = MSCCLC_MIXED_REDUCE;
  MscclcKernel kernel = packets4();
  kernel.variants = &mixed;
  kernel.num_variants = 1;
  Selector selector;
  selector.add(kernel);
  MscclcQuery query = allReduce(64);
  for (const MscclcReduceOp op : {MSCCLC_SUM, MSCCLC_MAX, MSCCLC_MIXED_REDUCE}) {
    query.reduce_op = op;
    CHECK(nameFor(selector, query) == (op == MSCCLC_MIXED_REDUCE ? "packets4" : "none"));
  }
}

TEST_CASE("Tags: the kernel's own and the user's") {
  Selector selector;
  selector.add(packets4(), "fast, tested").add(packets4());
  MscclcQuery query = allReduce(64);
  for (const char *tags : {"packets", "double-scratch,packets", "fast", "tested,packets", ""}) {
    query.tags = tags;
    CHECK(nameFor(selector, query) == "packets4");
  }
  for (const char *tags : {"port", "fast,multicast", "Fast"}) {
    query.tags = tags;
    CHECK(nameFor(selector, query) == "none");
  }
}

TEST_CASE("Tags: those of the program that the kernel was made of") {
  MscclcKernel kernel = packets4();
  kernel.tags = "default,level=2";
  Selector selector;
  selector.add(kernel, "fast");
  MscclcQuery query = allReduce(64);
  for (const char *tags : {"default", "level=2,packets", "fast,default"}) {
    query.tags = tags;
    CHECK(nameFor(selector, query) == "packets4");
  }
  for (const char *tags : {"level", "level=3", "default,slow"}) {
    query.tags = tags;
    CHECK(nameFor(selector, query) == "none");
  }
}

TEST_CASE("A function of the user's may decide instead") {
  const MscclcKernel first = variantOf(packets4(), "first", 0, 4096), last = variantOf(packets4(), "last", 0, 1 << 20);
  bool refuse = false;
  Selector selector;
  selector.add(first).add(last).use(takeLast, &refuse);
  CHECK(nameFor(selector, allReduce(64)) == "last");
  CHECK(nameFor(selector, allReduce(8192)) == "last");
  refuse = true;
  CHECK(nameFor(selector, allReduce(64)) == "none");
  selector.use([](const MscclcQuery *, const MscclcKernel *const *, uint32_t, void *) { return int32_t{5}; });
  CHECK(contains(nameFor(selector, allReduce(64)), "the selecting function answers 5, there are 2 candidates"));
}

TEST_CASE("Without a selector the registered kernels are picked from, and a failure says why none fits") {
  const MscclcKernel small = variantOf(packets4(), "small", 0, 128);
  mscclc_register_kernel(&small);
  const MscclcKernel *kernel = nullptr;
  MscclcQuery query = allReduce(64);
  CHECK(mscclc_select(nullptr, &query, &kernel) == MSCCLC_OK);
  CHECK(kernel == &small);
  query.message_bytes = 256;
  CHECK(mscclc_select(nullptr, &query, &kernel) == MSCCLC_ERROR_NO_KERNEL);
  CHECK(kernel == nullptr);
  CHECK(
      contains(mscclc_last_error(), "no kernel for allreduce, 4 ranks, 256 bytes of f32, operation sum, out of place"));
  CHECK(contains(mscclc_last_error(), "kernel 'small' takes messages of 0 to 128 bytes, not of 256"));
  mscclc_unregister_kernel(&small);
}
