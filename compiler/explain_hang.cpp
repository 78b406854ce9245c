#include "compiler/explain_hang.h"

#include "compiler/diagnostics.h"
#include "compiler/driver.h"
#include "compiler/files.h"
#include "compiler/guard.h"
#include "compiler/session.h"
#include "runtime-min/include/mscclc/hang.hpp"

#include <nlohmann/json.hpp>

#include <iostream>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>

namespace mscclc::driver {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t readVersion = 1;
/// Limits of the numbers in a dump. Real communicators are far smaller. Within these limits, an answer takes seconds at
/// most.
constexpr std::uint64_t mostRanks = 1 << 16;
constexpr std::size_t mostEntries = 1 << 20, mostKernels = 1 << 10;
constexpr std::size_t mostWaitsShown = 40;

constexpr std::string_view help = R"(Usage: mscclc explain-hang DUMP...

Says why launches of kernels hang: which rank is the cause, or which ranks wait for each other in a circle, and who
waits for whom at which line of the algorithm. The runtime writes a dump where a wait takes too long, and where a
communicator fails, if the environment has MSCCLC_DUMP=hang.json: hang.json of a process with all ranks, hang.3.json of
one whose first rank is 3. Name those of all processes; what a rank that dumped nothing does is not known.
)";

struct BadDump : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A value in a dump, with its place in words for error messages.
class Value {
public:
  Value(const Json &value, std::string place) : value_(value), place_(std::move(place)) {}

  Value operator[](const char *name) const {
    expect(value_.is_object(), "an object");
    const auto found = value_.find(name);
    if (found == value_.end())
      throw BadDump(place_ + " has no '" + name + "'");
    return {*found, "'" + std::string(name) + "' of " + place_};
  }
  template <class F> void forEach(F f) const {
    expect(value_.is_array(), "a list");
    if (value_.size() > mostEntries)
      throw BadDump(place_ + " has " + std::to_string(value_.size()) + " entries, and at most " +
                    std::to_string(mostEntries) + " are read");
    std::size_t i = 0;
    for (const Json &entry : value_)
      f(Value(entry, "entry " + std::to_string(i++) + " of " + place_));
  }
  std::string text() const {
    expect(value_.is_string(), "text");
    return ir::printable(value_.get<std::string>());
  }
  bool boolean() const {
    expect(value_.is_boolean(), "true or false");
    return value_.get<bool>();
  }
  std::uint64_t number(std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) const {
    expect(value_.is_number_unsigned(), "a whole number from 0 on");
    const auto number = value_.get<std::uint64_t>();
    if (number > most)
      throw BadDump(place_ + " is " + std::to_string(number) + ", and can be " + std::to_string(most) + " at most");
    return number;
  }
  std::uint32_t number32() const {
    return static_cast<std::uint32_t>(number(std::numeric_limits<std::uint32_t>::max()));
  }
  std::uint32_t rank(std::uint32_t ranks) const { return static_cast<std::uint32_t>(number(ranks - 1)); }
  std::vector<std::uint32_t> rankList(std::uint32_t ranks) const {
    std::vector<std::uint32_t> list;
    forEach([&](const Value &entry) { list.push_back(entry.rank(ranks)); });
    hang::sortUnique(list);
    return list;
  }

private:
  void expect(bool is, const char *what) const {
    if (!is)
      throw BadDump(place_ + " is not " + what);
  }
  const Json &value_;
  std::string place_;
};

hang::Wait readWait(const Value &value, std::uint32_t ranks) {
  hang::Wait wait;
  wait.kernel = value["kernel"].text();
  wait.rank = value["rank"].rank(ranks);
  wait.block = value["block"].number32();
  wait.operation = value["operation"].number32();
  wait.name = value["name"].text();
  wait.place = value["place"].text();
  wait.kind = static_cast<std::uint32_t>(value["kind"].number(MSCCLC_OVERLAP));
  wait.from = value["from"].rankList(ranks);
  wait.index = value["index"].number();
  wait.expected = value["expected"].number();
  wait.came = value["came"].number();
  wait.milliseconds = value["milliseconds"].number();
  return wait;
}

hang::Launch readLaunch(const Value &value, std::uint32_t ranks) {
  return {value["kernel"].text(), value["rank"].rank(ranks),
          value["finished"].number(std::numeric_limits<std::uint64_t>::max() - 1), value["runs"].boolean(),
          value["bytes"].number()};
}

/// The dumps of all processes of a communicator, merged.
struct Merged {
  std::uint32_t ranks = 0;
  std::vector<std::uint32_t> reporting, lost;
  std::map<std::string, hang::Wait> waits; ///< key: the rank, then the text of the wait without its time
  std::map<std::pair<std::string, std::uint32_t>, hang::Launch> launches; ///< key: the kernel and the rank

  void add(hang::Wait wait) {
    const auto milliseconds = std::exchange(wait.milliseconds, 0);
    const std::string order = std::to_string(100000 + wait.rank);
    hang::Wait &kept = waits.emplace(order + describe(wait), wait).first->second;
    kept.milliseconds = std::max(kept.milliseconds, milliseconds);
  }
  /// Adds a launch. Several processes may report the same launch at different times; the latest state is kept.
  void add(const hang::Launch &launch) {
    hang::Launch &kept = launches.emplace(std::pair(launch.kernel, launch.rank), launch).first->second;
    if (kept.begun() < launch.begun() || (kept.begun() == launch.begun() && kept.finished < launch.finished))
      kept = launch;
  }
  hang::Report report() const {
    hang::Report report{ranks, reporting, lost, {}, {}};
    hang::sortUnique(report.reporting);
    hang::sortUnique(report.lost);
    for (const auto &[text, wait] : waits)
      report.waits.push_back(wait);
    for (const auto &[key, launch] : launches)
      report.launches.push_back(launch);
    return report;
  }
};

class Explanation {
public:
  explicit Explanation(ir::DiagnosticEngine &diags) : diags_(diags) {}

  void read(const std::string &path) {
    std::string text, error;
    if (!readWhole(path, text, error, looksLikeText)) {
      diags_.report(diag::cannot_read, {}, {error});
      return;
    }
    try {
      readDump(path, Json::parse(text));
    } catch (const Json::parse_error &fault) {
      bad(path, "it is not JSON: byte " + std::to_string(fault.byte) + " cannot stand there");
    } catch (const Json::exception &) {
      bad(path, "it holds text that is not UTF-8");
    } catch (const BadDump &fault) {
      bad(path, fault.what());
    }
  }

  std::string text() const {
    std::string out;
    for (const auto &[name, merged] : communicators_)
      out += (out.empty() ? "" : "\n") + explain(name, merged.report());
    return out.empty() ? "the dumps hold no report\n" : out;
  }

private:
  void bad(const std::string &path, const std::string &why) { diags_.report(diag::bad_dump, {}, {shown(path), why}); }
  static std::string shown(const std::string &path) { return path == "-" ? "standard input" : "'" + path + "'"; }

  void readDump(const std::string &path, const Json &parsed) {
    const Value dump(parsed, "the dump");
    if (dump["format"].text() != "mscclc hang")
      throw BadDump("its format is '" + dump["format"].text() + "', not 'mscclc hang'");
    if (const std::uint64_t version = dump["version"].number(); version != readVersion)
      throw BadDump("it is of version " + std::to_string(version) + " of the format, and this mscclc reads version " +
                    std::to_string(readVersion) + "; the runtime and mscclc have to be of one version");
    dump["reports"].forEach([&](const Value &report) { readReport(path, report); });
  }
  void readReport(const std::string &path, const Value &report) {
    const std::string name = report["communicator"].text();
    const auto ranks = static_cast<std::uint32_t>(report["ranks"].number(mostRanks));
    if (ranks == 0)
      throw BadDump("a communicator in it has no ranks");
    Merged &merged = communicators_[name];
    if (merged.ranks != 0 && merged.ranks != ranks) {
      diags_.report(diag::other_communicator, {}, {shown(path), ranks, name, merged.ranks});
      return;
    }
    merged.ranks = ranks;
    const auto append = [](std::vector<std::uint32_t> &all, const std::vector<std::uint32_t> &more) {
      all.insert(all.end(), more.begin(), more.end());
    };
    append(merged.reporting, report["reporting"].rankList(ranks));
    append(merged.lost, report["lost"].rankList(ranks));
    report["waits"].forEach([&](const Value &wait) { merged.add(readWait(wait, ranks)); });
    report["launches"].forEach([&](const Value &launch) { merged.add(readLaunch(launch, ranks)); });
    std::set<std::string> kernels;
    for (const auto &[key, launch] : merged.launches)
      kernels.insert(launch.kernel);
    if (kernels.size() > mostKernels)
      throw BadDump("it names more than " + std::to_string(mostKernels) + " kernels");
  }

  static std::string explain(const std::string &name, const hang::Report &report) {
    std::string out = "communicator " + name + " of " + ir::plural(report.ranks, "rank") + ", with " +
                      (report.reporting.empty() ? "no dump" : "dumps of " + hang::ranksText(report.reporting)) + "\n";
    std::vector<std::uint32_t> missing;
    for (std::uint32_t rank = 0; rank < report.ranks; ++rank)
      if (!hang::holds(report.reporting, rank) && !hang::holds(report.lost, rank))
        missing.push_back(rank);
    if (!missing.empty())
      out += "there is no dump of " + hang::ranksText(missing) + "\n";
    const std::vector<std::string> causes = hang::causes(report);
    for (const std::string &cause : causes)
      out += "cause: " + cause + "\n";
    if (causes.empty())
      out +=
          "the cause is not known" + std::string(missing.empty() ? "" : "; dumps of the other ranks would help") + "\n";
    for (std::size_t i = 0; i < std::min(report.waits.size(), mostWaitsShown); ++i)
      out += describe(report.waits[i]) + "\n";
    if (report.waits.size() > mostWaitsShown)
      out += "and " + ir::plural(report.waits.size() - mostWaitsShown, "more wait") + "\n";
    return out;
  }

  ir::DiagnosticEngine &diags_;
  std::map<std::string, Merged> communicators_;
};

ExitCode explain(const std::vector<std::string> &paths) {
  ir::DiagnosticEngine diags;
  Explanation explanation(diags);
  if (paths.empty())
    diags.report(diag::no_dumps, {});
  for (const std::string &path : paths)
    if (path.size() > 1 && path.front() == '-')
      diags.report(diag::no_option_of_explain_hang, {}, {path});
  const bool isRightlyCalled = !diags.hasErrors();
  for (std::size_t i = 0; i < paths.size() && isRightlyCalled; ++i)
    explanation.read(paths[i]);
  const bool isDone = !diags.hasErrors() && writeOut(explanation.text(), diags);
  std::cerr << Session::render(diags, Options()) << std::flush;
  return exitCodeOf(isDone, diags);
}

} // namespace

int explainHang(const std::vector<std::string> &arguments) {
  for (const std::string &argument : arguments)
    if (argument == "--help" || argument == "-h") {
      std::cout << help << std::flush;
      return std::cout ? exitDone : exitInputWrong;
    }
  return guarded([&] { return explain(arguments); });
}

} // namespace mscclc::driver
