#include "log.h"

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <strings.h>

namespace mscclc::nccl {
namespace {

constexpr size_t mostLines = 10000; ///< the most lines that are remembered

bool debugIs(const char *level) {
  const char *const wanted = std::getenv("MSCCLC_DEBUG");
  return wanted != nullptr && ::strcasecmp(wanted, level) == 0;
}

void sayOnce(const std::string &line) {
  // These two objects are never destroyed, because the destructors of other libraries may still make calls.
  static std::mutex *const mutex = new std::mutex;
  static std::set<std::string> *const said = new std::set<std::string>;
  const std::lock_guard<std::mutex> lock(*mutex);
  if (said->size() < mostLines && said->insert(line).second)
    std::fprintf(stderr, "mscclc: %s\n", line.c_str());
}

} // namespace

bool saysInfo() {
  static const bool says = debugIs("INFO") || debugIs("TRACE");
  return says;
}

void info(const std::string &line) {
  if (saysInfo())
    sayOnce(line);
}

void warn(const std::string &line) {
  static const bool silent = debugIs("NONE");
  if (!silent)
    sayOnce(line);
}

} // namespace mscclc::nccl
