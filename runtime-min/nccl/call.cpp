#include "call.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace mscclc::nccl {
namespace {

struct Type {
  int number;
  uint32_t bytes;
  uint32_t dtype;
  const char *name;
};
constexpr Type types[] = {
#define TYPE(number, bytes, dtype, name) {number, bytes, dtype, name},
#include "types.def"
};

/// Returns the row of a collective; null if `kind` is not a collective.
const collectives::Row *rowOf(Kind kind) {
  return kind == Kind::Send || kind == Kind::Recv ? nullptr : &collectives::of(static_cast<collectives::Kind>(kind));
}

const Type *findType(int number) {
  for (const Type &type : types)
    if (type.number == number)
      return &type;
  return nullptr;
}

const char *nameOfOp(int op) {
  constexpr const char *names[] = {"sum", "prod", "max", "min", "avg", "premulsum"};
  return op >= 0 && op <= PreMulSum ? names[op] : "an unknown operation";
}

} // namespace

bool reduces(Kind kind) {
  return rowOf(kind) != nullptr && rowOf(kind)->reduces();
}

bool hasRoot(Kind kind) {
  return rowOf(kind) != nullptr && rowOf(kind)->rooted;
}

bool isElementwise(Kind kind) {
  return rowOf(kind) != nullptr && rowOf(kind)->isElementwise();
}

const char *nameOf(Kind kind) {
  return rowOf(kind) != nullptr ? rowOf(kind)->name : kind == Kind::Send ? "send" : "recv";
}

Shape shapeOf(const Call &call, uint32_t ranks, uint32_t ranksPerNode) {
  int op = call.op;
  if (op >= PreMulSum)
    op = call.factor && call.factor->type == call.type ? PreMulSum : UnknownOp;
  return {call.kind, call.count,   call.type,     reduces(call.kind) ? op : 0, hasRoot(call.kind) ? call.root : 0,
          ranks,     ranksPerNode, call.maxBlocks};
}

std::optional<Extent> extentOf(const Shape &shape, uint32_t rank) {
  const collectives::Row *const row = rowOf(shape.kind);
  uint64_t n = 0, most = 0;
  if (row == nullptr || bytesOfType(shape.type) == 0 || shape.root < 0 ||
      static_cast<uint32_t>(shape.root) >= shape.ranks ||
      __builtin_mul_overflow(uint64_t{shape.count}, uint64_t{bytesOfType(shape.type)}, &n) ||
      __builtin_mul_overflow(n, uint64_t{shape.ranks}, &most))
    return std::nullopt;
  // NCCL's count is the size of a share in some collectives, and of one rank's data in collectives with a root.
  const bool isRoot = !row->rooted || rank == static_cast<uint32_t>(shape.root);
  const uint64_t message = n * row->shares(shape.ranks);
  return Extent{message, row->gives(isRoot) ? row->input(shape.ranks, message) : 0,
                row->gets(isRoot) ? row->output(shape.ranks, message) : 0};
}

bool buffersMeet(const Call &call, const Extent &extent) {
  const auto send = reinterpret_cast<uintptr_t>(call.send), recv = reinterpret_cast<uintptr_t>(call.recv);
  return send < recv + extent.output && recv < send + extent.input;
}

uint32_t bytesOfType(int type) {
  const Type *found = findType(type);
  return found == nullptr ? 0 : found->bytes;
}

const char *nameOfType(int type) {
  const Type *found = findType(type);
  return found == nullptr ? "an unknown type" : found->name;
}

bool isTypeName(const std::string &name) {
  return std::any_of(std::begin(types), std::end(types), [&](const Type &type) { return name == type.name; });
}

uint32_t dtypeOf(int type) {
  const Type *found = findType(type);
  return found == nullptr ? static_cast<uint32_t>(MSCCLC_ANY_DTYPE) : found->dtype;
}

std::optional<uint32_t> reduceOpOf(int op) {
  constexpr std::pair<int, uint32_t> known[] = {{Sum, MSCCLC_SUM}, {Prod, MSCCLC_PROD}, {Max, MSCCLC_MAX},
                                                {Min, MSCCLC_MIN}, {Avg, MSCCLC_SUM},   {PreMulSum, MSCCLC_SUM}};
  for (const auto &[number, reduceOp] : known)
    if (number == op)
      return reduceOp;
  return std::nullopt;
}

std::string describe(const Shape &shape) {
  std::string text = nameOf(shape.kind);
  const std::optional<Extent> extent = extentOf(shape, shape.root < 0 ? 0 : static_cast<uint32_t>(shape.root));
  text += " of " + (extent ? std::to_string(extent->message) + " bytes" : std::to_string(shape.count) + " elements");
  text += std::string(" of ") + nameOfType(shape.type);
  if (reduces(shape.kind))
    text += std::string(", ") + nameOfOp(shape.op);
  if (hasRoot(shape.kind))
    text += ", root " + std::to_string(shape.root);
  text += ", " + std::to_string(shape.ranks) + " ranks";
  if (shape.ranksPerNode != 0 && shape.ranksPerNode != shape.ranks)
    text += ", " + std::to_string(shape.ranksPerNode) + " a node";
  if (shape.maxBlocks != 0)
    text += ", " + std::to_string(shape.maxBlocks) + " blocks at most";
  if (shape.inPlace)
    text += *shape.inPlace ? ", in place" : ", not in place";
  return text;
}

} // namespace mscclc::nccl
