#include "communicator/hang.h"

#include "process/process.h"

#include <cstdio>
#include <cstdlib>
#include <strings.h>
#include <unistd.h>

namespace mscclc::rt {
namespace {

constexpr int dumpVersion = 1; ///< raised with any change of the format

std::string quoted(const std::string &text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += '\\';
    if (static_cast<unsigned char>(c) < 0x20)
      out += format("\\u%04x", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out + '"';
}
std::string number(uint64_t value) {
  return std::to_string(value);
}
template <class List, class F> std::string array(const List &list, F spell, const char *separator = ", ") {
  std::string out;
  for (const auto &entry : list)
    out += (out.empty() ? "" : separator) + spell(entry);
  return "[" + out + "]";
}
std::string array(const std::vector<uint32_t> &list) {
  return array(list, [](uint32_t value) { return number(value); });
}

std::string spell(const hang::Wait &wait) {
  return "{\"kernel\": " + quoted(wait.kernel) + ", \"rank\": " + number(wait.rank) +
         ", \"block\": " + number(wait.block) + ", \"operation\": " + number(wait.operation) +
         ", \"name\": " + quoted(wait.name) + ", \"place\": " + quoted(wait.place) +
         ", \"kind\": " + number(wait.kind) + ", \"from\": " + array(wait.from) + ", \"index\": " + number(wait.index) +
         ", \"expected\": " + number(wait.expected) + ", \"came\": " + number(wait.came) +
         ", \"milliseconds\": " + number(wait.milliseconds) + ", \"text\": " + quoted(describe(wait)) + "}";
}
std::string spell(const hang::Launch &launch) {
  return "{\"kernel\": " + quoted(launch.kernel) + ", \"rank\": " + number(launch.rank) +
         ", \"finished\": " + number(launch.finished) + ", \"runs\": " + (launch.runs ? "true" : "false") +
         ", \"bytes\": " + number(launch.bytes) + "}";
}
std::string spell(const HangNames &names, const Status &reason, const hang::Report &report) {
  const auto each = [](const auto &entry) { return spell(entry); };
  return "{\"communicator\": " + quoted(names.communicator) + ", \"ranks\": " + number(report.ranks) +
         ", \"reporting\": " + array(report.reporting) + ", \"lost\": " + array(report.lost) +
         ",\n \"reason\": " + quoted(reason.text) + ",\n \"launches\": " + array(report.launches, each, ",\n  ") +
         ",\n \"waits\": " + array(report.waits, each, ",\n  ") + "}";
}

std::string dumpPath(const std::string &file, const std::string &rank) {
  const size_t name = file.find_last_of('/') + 1, dot = file.find_last_of('.');
  if (rank.empty())
    return file;
  return dot == std::string::npos || dot <= name ? file + "." + rank
                                                 : file.substr(0, dot) + "." + rank + file.substr(dot);
}

/// The reports of a process, by the path of their file and their communicator.
struct Dumps {
  std::mutex mutex;
  std::map<std::string, std::map<std::string, std::string>> files;
};

/// Whoever reads the file sees the old one or the new one.
bool writeFile(const std::string &path, const std::string &text) {
  const std::string part = path + "." + number(static_cast<uint64_t>(::getpid())) + ".part";
  std::FILE *const file = std::fopen(part.c_str(), "w");
  if (file == nullptr)
    return false;
  const bool isWritten = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  return (std::fclose(file) == 0) && isWritten && std::rename(part.c_str(), path.c_str()) == 0;
}

hang::Wait waitOf(const MscclcKernel &kernel, const MscclcStall &stall, uint32_t kind) {
  hang::Wait wait;
  wait.kernel = kernel.name;
  wait.rank = stall.rank;
  wait.block = stall.block;
  wait.operation = stall.operation;
  wait.kind = kind;
  wait.index = stall.index;
  wait.expected = stall.expected;
  wait.came = stall.seen;
  wait.milliseconds = stall.waited_ns / 1000000;
  const auto infoOf = [&](uint32_t operand) {
    MscclcWaitInfo info{nullptr, nullptr, MSCCLC_UNPAIRED};
    if (kernel.wait_info != nullptr && kind != MSCCLC_WAIT_STAGING && kind != MSCCLC_OVERLAP)
      kernel.wait_info(stall.rank, stall.block, stall.operation, operand, &info);
    return info;
  };
  if (const MscclcWaitInfo info = infoOf(0); info.operation != nullptr) {
    wait.name = info.operation;
    wait.place = info.place;
  }
  if (kind != MSCCLC_WAIT_PACKET) {
    if (stall.peer != MSCCLC_UNPAIRED)
      wait.from.push_back(stall.peer);
    return wait;
  }
  wait.came = 0;
  for (uint32_t i = 0; i < stall.expected; ++i) {
    if ((stall.seen >> i & 1) != 0)
      ++wait.came;
    else if (const uint32_t sender = infoOf(stall.peer + i).sender; sender != MSCCLC_UNPAIRED)
      wait.from.push_back(sender);
  }
  hang::sortUnique(wait.from);
  return wait;
}

} // namespace

uint32_t addWaits(const MscclcKernel &kernel, const MscclcStatus &status, hang::Report &report) {
  const uint32_t claimed = __atomic_load_n(&status.num_stalls, __ATOMIC_ACQUIRE);
  const size_t begin = report.waits.size();
  for (uint32_t i = 0; i < std::min(claimed, MSCCLC_MAX_STALLS); ++i) {
    const uint32_t kind = __atomic_load_n(&status.stalls[i].kind, __ATOMIC_ACQUIRE);
    if (kind == 0)
      continue;
    hang::Wait wait = waitOf(kernel, status.stalls[i], kind);
    const auto isSame = [&](const hang::Wait &other) {
      return other.block == wait.block && other.operation == wait.operation && other.index == wait.index;
    };
    // One that was reported before and has ended since.
    report.waits.erase(
        std::remove_if(report.waits.begin() + static_cast<std::ptrdiff_t>(begin), report.waits.end(), isSame),
        report.waits.end());
    report.waits.push_back(std::move(wait));
  }
  return claimed > MSCCLC_MAX_STALLS ? claimed - MSCCLC_MAX_STALLS : 0;
}

void forgetStalls(MscclcStatus &status) {
  for (MscclcStall &stall : status.stalls)
    __atomic_store_n(&stall.kind, 0u, __ATOMIC_RELAXED);
  __atomic_store_n(&status.reported_blocks, uint64_t{0}, __ATOMIC_RELAXED);
  __atomic_store_n(&status.num_stalls, 0u, __ATOMIC_RELEASE);
}

void dumpHang(const HangNames &names, const Status &reason, const hang::Report &report) {
  const char *const file = std::getenv("MSCCLC_DUMP");
  if (file == nullptr || *file == '\0')
    return;
  const std::string path = dumpPath(file, names.rank);
  const auto dumps = ofProcess<Dumps>(/*forEver=*/true);
  const std::lock_guard<std::mutex> lock(dumps->mutex);
  dumps->files[path][names.communicator] = spell(names, reason, report);
  const std::string text =
      format("{\"format\": \"mscclc hang\", \"version\": %d, \"process\": %d,\n\"reports\": ", dumpVersion,
             static_cast<int>(::getpid())) +
      array(dumps->files[path], [](const auto &one) { return one.second; }, ",\n") + "}\n";
  if (!writeFile(path, text))
    warn("MSCCLC_DUMP: " + systemFailure("cannot write '" + path + "'").text);
}

void warn(const std::string &line) {
  const char *const wanted = std::getenv("MSCCLC_DEBUG");
  if (wanted == nullptr || ::strcasecmp(wanted, "NONE") != 0)
    std::fprintf(stderr, "mscclc: %s\n", line.c_str());
}

} // namespace mscclc::rt
