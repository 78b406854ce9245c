#include "operations.h"

#include <cstring>
#include <limits>
#include <map>
#include <mutex>

namespace mscclc::nccl {
namespace {

constexpr int scalarOnHost = 1; ///< ncclScalarHostImmediate

struct Operations {
  std::mutex mutex;
  std::map<std::pair<Comm, int>, Factor> factors;
};
/// Returns the only instance. It is never destroyed, because calls may come while the process ends.
Operations &operations() {
  static Operations *const instance = new Operations;
  return *instance;
}

} // namespace

void noteOperation(int op, const void *factor, int type, int residence, Comm comm) {
  Factor made;
  made.type = type;
  if (residence == scalarOnHost)
    std::memcpy(&made.bits, factor, bytesOfType(type));
  else
    made.at = factor;
  const std::lock_guard<std::mutex> lock(operations().mutex);
  operations().factors[{comm, op}] = made;
}

std::optional<Factor> factorOf(int op, Comm comm) {
  if (op < PreMulSum)
    return std::nullopt;
  const std::lock_guard<std::mutex> lock(operations().mutex);
  const auto found = operations().factors.find({comm, op});
  return found == operations().factors.end() ? std::nullopt : std::optional(found->second);
}

void forgetOperation(int op, Comm comm) {
  const std::lock_guard<std::mutex> lock(operations().mutex);
  operations().factors.erase({comm, op});
}

void forgetOperations(Comm comm) {
  auto &factors = operations().factors;
  const std::lock_guard<std::mutex> lock(operations().mutex);
  factors.erase(factors.lower_bound({comm, std::numeric_limits<int>::min()}),
                factors.upper_bound({comm, std::numeric_limits<int>::max()}));
}

} // namespace mscclc::nccl
