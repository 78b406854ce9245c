#include "invariant.h"

#include "log.h"

#include <cstdlib>
#include <string_view>

namespace mscclc::nccl {
namespace {

Invariance parse(const char *text) {
  const std::string_view wanted = text == nullptr ? "" : text;
  if (wanted.empty() || wanted == "0")
    return Invariance::Off;
  if (wanted == "strict")
    return Invariance::Strict;
  if (wanted != "1")
    warn("MSCCLC_INVARIANT is '" + std::string(wanted) + "', which is not 0, 1 or strict; it is taken as 1");
  return Invariance::Warns;
}

bool isFloat(int type) {
  const uint32_t dtype = dtypeOf(type);
  return dtype == MSCCLC_F16 || dtype == MSCCLC_BF16 || dtype == MSCCLC_F32 || dtype == MSCCLC_F64 ||
         dtype == MSCCLC_F8E4M3 || dtype == MSCCLC_F8E5M2;
}

} // namespace

Invariance invariance() {
  static const Invariance wanted = parse(std::getenv("MSCCLC_INVARIANT"));
  return wanted;
}

bool hasOrder(const Shape &shape) {
  return reduces(shape.kind) && shape.op != Max && shape.op != Min && isFloat(shape.type) && shape.ranks > 1 &&
         shape.count != 0;
}

bool isRefused(const Shape &shape, const std::string &why) {
  if (invariance() == Invariance::Off || !hasOrder(shape))
    return false;
  const std::string said = describe(shape) + ": " + why + "; NCCL adds in an order of its own";
  if (invariance() == Invariance::Strict)
    refusedCall() = "MSCCLC_INVARIANT=strict refuses " + said;
  warn(invariance() == Invariance::Strict ? refusedCall() : said);
  return invariance() == Invariance::Strict;
}

std::string &refusedCall() {
  static thread_local std::string text;
  return text;
}

} // namespace mscclc::nccl
