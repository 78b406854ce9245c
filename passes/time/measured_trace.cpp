#include "passes/time/measured_trace.h"

#include "passes/time/json_words.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace mscclc::passes::time {

namespace {

using nlohmann::json;

constexpr std::string_view npkitPrefix = "NPKIT_EVENT_EXECUTOR_", npkitSuffix = "_ENTRY", npkitLaunch = "INIT";
constexpr std::string_view criticalSuffix = " (critical)"; ///< a suffix that --emit-trace writes
/// A block may have several lanes in a trace of --emit-trace. Each lane is a thread of the trace. The thread ids of a
/// block's lanes differ by multiples of this number.
constexpr std::uint64_t laneDistance = 1'000'000;
/// The latest time in a trace, in microseconds: thirty years. A trace with later times is refused.
constexpr double latest = 1e15;

bool isOperation(std::string_view name) {
  for (std::size_t kind = 0; kind < ir::opKindCount; ++kind)
    if (isNameOf(name, static_cast<ir::OpKind>(kind)))
      return true;
  return false;
}

/// Reads events one by one and sorts them by block.
class Reader {
public:
  void event(const json &event);
  MeasuredTrace finish() &&;
  std::uint64_t number() const { return number_; }

private:
  using Thread = std::pair<std::uint64_t, std::uint64_t>; ///< pid, tid
  static constexpr std::size_t noOperation = ~std::size_t{0};
  static constexpr Time unended = -std::numeric_limits<Time>::infinity();

  [[noreturn]] void fail(const std::string &what) const {
    throw TraceError{"event " + std::to_string(number_) + " " + what};
  }
  std::uint64_t whole(const json &event, const char *key) const;
  double microseconds(const json &event, const char *key) const;
  std::uint32_t nameOf(const json &event);
  std::vector<MeasuredOp> &opsOf(Thread thread);
  std::size_t begin(Thread thread, MeasuredOp op);
  void end(Thread thread, Time at);

  MeasuredTrace trace_;
  std::map<std::string, std::uint32_t, std::less<>> numbers_; ///< name of an operation → its number
  /// Operations that have begun and not ended, as returned by begin().
  std::map<Thread, std::vector<std::size_t>> open_;
  std::uint64_t number_ = 0;
  static constexpr std::uint32_t notOne = MeasuredOp::launch - 1;
};

std::uint64_t Reader::whole(const json &event, const char *key) const {
  const auto at = event.find(key);
  if (at == event.end() || !at->is_number_unsigned())
    fail(std::string("has no '") + key + "' that is a whole number");
  return at->get<std::uint64_t>();
}

double Reader::microseconds(const json &event, const char *key) const {
  const auto at = event.find(key);
  if (at == event.end() || !at->is_number() || !(std::abs(at->get<double>()) <= latest))
    fail(std::string("has no '") + key + "' that is a number of microseconds");
  return at->get<double>();
}

/// Returns the number of the event's name. Returns `launch` if the event marks the beginning of a launch, and `notOne`
/// if its name is not that of an operation.
std::uint32_t Reader::nameOf(const json &event) {
  const auto at = event.find("name");
  if (at == event.end() || !at->is_string())
    fail("has no 'name' that is a string");
  std::string_view name = at->get_ref<const std::string &>();
  const bool npkit = name.starts_with(npkitPrefix) && name.ends_with(npkitSuffix);
  if (npkit) {
    name.remove_prefix(npkitPrefix.size());
    name.remove_suffix(npkitSuffix.size());
    if (name == npkitLaunch)
      return MeasuredOp::launch;
  } else if (name.ends_with(criticalSuffix)) {
    name.remove_suffix(criticalSuffix.size());
  }
  if (const auto known = numbers_.find(name); known != numbers_.end())
    return known->second;
  if (!isOperation(name))
    return notOne;
  trace_.npkit |= npkit;
  const auto number = static_cast<std::uint32_t>(trace_.names.size());
  trace_.names.emplace_back(name);
  numbers_.emplace(name, number);
  return number;
}

void Reader::event(const json &event) {
  ++number_;
  const auto phase = event.find("ph");
  if (phase == event.end() || !phase->is_string())
    fail("has no 'ph' that is a string");
  const std::string &ph = phase->get_ref<const std::string &>();
  if (ph != "X" && ph != "B" && ph != "E")
    return;
  const Thread thread{whole(event, "pid"), whole(event, "tid")};
  const Time at = microseconds(event, "ts") * 1e3;
  if (ph == "E") {
    end(thread, at);
  } else if (ph == "B") {
    open_[thread].push_back(begin(thread, {nameOf(event), at, unended}));
  } else {
    const double duration = microseconds(event, "dur");
    if (duration < 0)
      fail("lasts less than nothing");
    begin(thread, {nameOf(event), at, at + duration * 1e3});
  }
}

std::vector<MeasuredOp> &Reader::opsOf(Thread thread) {
  return trace_
      .blocks[{static_cast<std::uint32_t>(thread.first), static_cast<std::uint32_t>(thread.second % laneDistance - 1)}];
}

/// Adds the operation to its block's list, and returns its index there. Returns `noOperation` if the event is no
/// operation.
std::size_t Reader::begin(Thread thread, MeasuredOp op) {
  if (op.name == notOne || thread.second % laneDistance == 0 || thread.first >= MeasuredOp::launch) {
    ++trace_.others;
    return noOperation;
  }
  std::vector<MeasuredOp> &ops = opsOf(thread);
  ops.push_back(op);
  return ops.size() - 1;
}

void Reader::end(Thread thread, Time at) {
  std::vector<std::size_t> &open = open_[thread];
  if (open.empty()) {
    ++trace_.others;
    return;
  }
  if (open.back() != noOperation) {
    MeasuredOp &op = opsOf(thread)[open.back()];
    if (at < op.start)
      fail("ends before it began");
    op.end = at;
  }
  open.pop_back();
}

MeasuredTrace Reader::finish() && {
  for (auto &[block, ops] : trace_.blocks) {
    trace_.others += std::erase_if(ops, [](const MeasuredOp &op) { return op.end == unended; });
    std::stable_sort(ops.begin(), ops.end(),
                     [](const MeasuredOp &a, const MeasuredOp &b) { return a.start < b.start; });
  }
  std::erase_if(trace_.blocks, [](const auto &block) { return block.second.empty(); });
  return std::move(trace_);
}

} // namespace

namespace {

TracedLaunch launchOf(const json &document) {
  TracedLaunch launch;
  const auto about = document.is_object() ? document.find("otherData") : document.end();
  if (about == document.end() || !about->is_object())
    return launch;
  for (const auto &[key, to] : {std::pair{"program", &launch.program}, std::pair{"machine", &launch.machine},
                                std::pair{"run by", &launch.runner}})
    if (const auto at = about->find(key); at != about->end() && at->is_string())
      *to = at->get<std::string>();
  for (const auto &[key, to] : {std::pair{"bytes", &launch.bytes}, std::pair{"scheduled for", &launch.scheduledFor}})
    if (const auto at = about->find(key); at != about->end() && at->is_number_unsigned())
      *to = at->get<std::uint64_t>();
  return launch;
}

} // namespace

bool isNameOf(std::string_view name, ir::OpKind kind) {
  const ir::OpInfo &info = ir::info(kind);
  return info.step != ir::OpStep::Loop && !name.empty() &&
         (name == info.event || name == info.call || name == info.mnemonic);
}

MeasuredTrace readTrace(std::string_view text) {
  Reader reader;
  bool isList = false, inEvents = false, found = false;
  // An event is processed and dropped as soon as it is read, because a trace may have millions.
  const auto take = [&](int depth, json::parse_event_t what, json &value) {
    if (depth == 0 && what == json::parse_event_t::array_start)
      isList = found = true;
    else if (depth == 1 && what == json::parse_event_t::key && !isList)
      inEvents = value.is_string() && value.get_ref<const std::string &>() == "traceEvents";
    else if (depth == 1 && what == json::parse_event_t::array_start && inEvents)
      found = true;
    if (depth != (isList ? 1 : inEvents ? 2 : -1))
      return true;
    if (what == json::parse_event_t::object_end)
      reader.event(value);
    else if (what == json::parse_event_t::value || what == json::parse_event_t::array_start)
      throw TraceError{"event " + std::to_string(reader.number() + 1) + " is no object"};
    return what == json::parse_event_t::object_start;
  };
  TracedLaunch launch;
  try {
    launch = launchOf(json::parse(text, take));
  } catch (const json::exception &error) {
    throw TraceError{"it is not a JSON text: " + wordsOf(error)};
  }
  if (!found)
    throw TraceError{"it has no list 'traceEvents'"};
  MeasuredTrace trace = std::move(reader).finish();
  trace.launch = std::move(launch);
  return trace;
}

} // namespace mscclc::passes::time
