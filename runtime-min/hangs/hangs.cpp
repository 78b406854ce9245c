// Reads the state of launches that hang, and writes the dump. mscclc/hang.hpp finds the cause.
#include "communicator/communicator.h"
#include "communicator/sync_layout.h"
#include "mscclc/hang.hpp"

#include <cstdio>
#include <cstdlib>
#include <strings.h>
#include <unistd.h>

namespace mscclc::rt {

struct HangReport {
  hang::Report known;
  uint32_t more = 0; ///< number of waits for which a status had no room
};

namespace {

constexpr size_t mostWaitsShown = 24, mostWaitsInLine = 3;
constexpr uint64_t launchRuns = uint64_t{1} << 63; ///< in MscclcRankArgs::launches
constexpr int dumpVersion = 1;                     ///< must be raised with every change of the format

/// The names of a communicator and of its dump.
struct HangNames {
  std::string communicator; ///< the same in all processes, and different for each communicator
  std::string rank;         ///< the process's first rank; empty: the process has all ranks
};

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

/// The reports of a process, by the path of their file and then by the name of their communicator.
struct Dumps {
  std::mutex mutex;
  std::map<std::string, std::map<std::string, std::string>> files;
};

/// Replaces the file atomically: a reader sees the old file or the new one.
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
    if (kernel.wait_info != nullptr && kind != MSCCLC_WAIT_STAGING && kind != MSCCLC_WAIT_COUNT &&
        kind != MSCCLC_WAIT_READY && kind != MSCCLC_OVERLAP)
      kernel.wait_info(stall.rank, stall.block, stall.operation, operand, &info);
    return info;
  };
  if (const MscclcWaitInfo info = infoOf(0); info.operation != nullptr) {
    wait.name = info.operation;
    wait.place = info.place;
  }
  if (kind == MSCCLC_WAIT_COUNT) {
    for (uint32_t i = 0; i < stall.expected; ++i)
      if ((stall.seen >> i & 1) == 0)
        wait.from.push_back(stall.peer + i);
    return wait;
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

/// Appends the recorded waits of a rank's status to `report`. Returns the number of waits for which the status had no
/// room.
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
    // A new record of a wait replaces older records of the same wait.
    report.waits.erase(
        std::remove_if(report.waits.begin() + static_cast<std::ptrdiff_t>(begin), report.waits.end(), isSame),
        report.waits.end());
    report.waits.push_back(std::move(wait));
  }
  return claimed > MSCCLC_MAX_STALLS ? claimed - MSCCLC_MAX_STALLS : 0;
}

void warn(const std::string &line) {
  const char *const wanted = std::getenv("MSCCLC_DEBUG");
  if (wanted == nullptr || ::strcasecmp(wanted, "NONE") != 0)
    std::fprintf(stderr, "mscclc: %s\n", line.c_str());
}

class HangReports final : public Hangs {
public:
  HangReports(Communicator &communicator, uint64_t id)
      : communicator_(communicator), names_{format("%016llx", wide(id)), ""} {
    base_.ranks = communicator.ranks();
    for (uint32_t i = 0; i < communicator.localRanks(); ++i)
      base_.reporting.push_back(communicator.firstLocalRank() + i);
    if (communicator.localRanks() != communicator.ranks())
      names_.rank = number(communicator.firstLocalRank());
  }

  std::string explainWaits(const std::vector<WatchedRank> &ranks) const override {
    hang::Report report;
    for (const WatchedRank &rank : ranks)
      addWaits(*rank.kernel, *rank.status, report);
    return hang::explain(report, mostWaitsShown);
  }

  std::shared_ptr<const HangReport> read(const std::vector<WatchedRank> &ranks,
                                         const std::vector<uint32_t> &lost) const override {
    auto report = std::make_shared<HangReport>();
    report->known = base_;
    report->known.lost = lost;
    for (const WatchedRank &rank : ranks) {
      report->more += addWaits(*rank.kernel, *rank.status, report->known);
      if (rank.counters != nullptr)
        addLaunches(*rank.kernel, *rank.counters, report->known);
    }
    return report;
  }

  std::string explain(const HangReport &report) const override {
    return hang::explain(report.known, mostWaitsShown) +
           (report.more == 0 ? "" : format("\n%u more waits were not written down", report.more));
  }

  /// Replaces the reports of the communicator in the file that the environment variable MSCCLC_DUMP names. The file has
  /// the reports of all communicators of the process. If other processes have ranks, too, the process's first rank
  /// comes before the file's extension: hang.json becomes hang.3.json. Without the variable, nothing is written. If the
  /// file cannot be written, a line on stderr says so.
  void dump(const HangReport &report, const Status &reason) const override {
    const char *const file = std::getenv("MSCCLC_DUMP");
    if (file == nullptr || *file == '\0')
      return;
    const std::string path = dumpPath(file, names_.rank);
    const auto dumps = ofProcess<Dumps>(/*forEver=*/true);
    const std::lock_guard<std::mutex> lock(dumps->mutex);
    dumps->files[path][names_.communicator] = spell(names_, reason, report.known);
    const std::string text =
        format("{\"format\": \"mscclc hang\", \"version\": %d, \"process\": %d,\n\"reports\": ", dumpVersion,
               static_cast<int>(::getpid())) +
        array(dumps->files[path], [](const auto &one) { return one.second; }, ",\n") + "}\n";
    if (!writeFile(path, text))
      warn("MSCCLC_DUMP: " + systemFailure("cannot write '" + path + "'").text);
  }

  void warnOf(const HangReport &report) const override {
    if (report.known.waits.empty())
      return;
    std::string line = hang::explain(report.known, mostWaitsInLine);
    for (size_t at; (at = line.find('\n')) != std::string::npos;)
      line.replace(at, 1, "; ");
    const std::string what = "launches have waited for long, and continue to wait";
    warn("warning: " + what + ": " + line);
    dump(report, {MSCCLC_OK, what});
  }

private:
  /// Appends the launches of each rank whose memory is mapped and whose process lives. `counters`: the counters of the
  /// instance.
  void addLaunches(const MscclcKernel &kernel, const Memory &counters, hang::Report &report) const {
    Platform &platform = communicator_.platform();
    const DeviceGuard guard(platform);
    const bool onHost = platform.kind() == MSCCLC_PLATFORM_HOST;
    const auto read = [&](const uint64_t *from, uint64_t &value) {
      if (onHost) // a kernel may write the counter at this moment
        value = __atomic_load_n(from, __ATOMIC_RELAXED);
      return onHost || platform.copy(communicator_.device(0), &value, from, sizeof(value)).ok();
    };
    const std::vector<uint32_t> gone = communicator_.meeting().lostRanks(); // the memory of lost ranks is gone
    for (uint32_t rank = 0; rank < kernel.ranks; ++rank) {
      MscclcRankInfo info{};
      kernel.rank_info(rank, &info);
      char *const part = counters.at(0, rank);
      if (part == nullptr || info.blocks == 0 || hang::holds(gone, rank))
        continue;
      const SyncLayout layout(info);
      uint64_t launches = 0, bytes = 0;
      if (!read(counterAt(part, layout.launches, 0), launches) || !read(counterAt(part, layout.finished, 1), bytes))
        continue;
      // apart() keeps the address for all polls
      const uint64_t kernels = (kernel.flags & MSCCLC_SPLIT) != 0 ? 2 : 1, finished = launches & ~launchRuns;
      const bool runs = (launches & launchRuns) != 0 || finished % kernels != 0;
      report.launches.push_back({kernel.name, rank, finished / kernels, runs, bytes});
    }
  }

  Communicator &communicator_;
  HangNames names_;
  hang::Report base_; ///< the part that all reports have: the communicator's ranks
};

[[maybe_unused]] const bool isKnown = [] {
  createHangs = [](Communicator &communicator, uint64_t id) -> std::unique_ptr<Hangs> {
    return std::make_unique<HangReports>(communicator, id);
  };
  return true;
}();

} // namespace

} // namespace mscclc::rt
