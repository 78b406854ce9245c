// --emit-trace: the estimate as Chrome trace events, for Perfetto.
//
// A rank is a process of the trace, and a thread block is a thread. They are numbered as in traces of MSCCL++'s NPKit
// (tools/npkit): thread block + 1 for a block, and (channel + 1) · 1000 for a proxy. The slices of a thread must be
// nested, but operations of one phase overlap. So each block has several lanes, which are threads with numbers
// 1,000,000 apart.
#include "compiler/diagnostics.h"
#include "compiler/outputs/estimates.h"
#include "passes/time/drawn_spans.h"

#include <nlohmann/json.hpp>

#include <map>
#include <set>

namespace mscclc::driver {
namespace {

namespace time = passes::time;
using Json = nlohmann::ordered_json;

constexpr std::uint64_t laneDistance = 1'000'000;

/// Returns the time in microseconds, the unit of trace events. Three decimals represent nanoseconds exactly.
Json microseconds(std::int64_t nanoseconds) {
  return static_cast<double>(nanoseconds) / 1e3;
}

std::string counterOf(const time::Traffic &traffic) {
  std::string name = std::string(time::toString(traffic.kind)) + ", GB/s";
  if (traffic.peer != time::Span::none)
    name += ", to rank " + std::to_string(traffic.peer);
  return name;
}

/// Returns the maximum of each counter. It is the same on all GPUs of a machine.
Json capacitiesOf(const time::Timeline &timeline) {
  std::map<std::string, double> capacities;
  for (const time::Traffic &traffic : timeline.traffic)
    capacities[counterOf(traffic)] = traffic.capacity;
  return capacities;
}

class TraceWriter {
public:
  TraceWriter(std::ostream &stream, const ir::Program &program, const time::Estimate &estimate)
      : stream_(stream), program_(program), timeline_(estimate.timeline), drawn_(time::drawnSpans(timeline_)) {
    const std::vector<time::PathStep> path = time::criticalPath(timeline_);
    for (const time::PathStep &step : path)
      critical_.insert(step.span);
    bounds_ = time::boundsOf(timeline_, path);
  }

  void write(const Json &about) {
    stream_ << "{\"displayTimeUnit\": \"ns\", \"otherData\": " << about.dump() << ", \"traceEvents\": [";
    names();
    for (std::uint32_t span = 0; span < timeline_.spans.size(); ++span)
      slice(span);
    for (std::size_t message = 0; message < timeline_.messages.size(); ++message)
      flow(message);
    for (const time::Rate &rate : timeline_.rates)
      counter(rate);
    stream_ << "\n]}\n";
  }

private:
  void event(const Json &json) {
    stream_ << (first_ ? "\n" : ",\n") << json.dump(-1, ' ', false, Json::error_handler_t::replace);
    first_ = false;
  }
  std::uint64_t threadOf(std::uint32_t number) const {
    const time::Span &span = timeline_.spans[number];
    return (span.proxy ? (span.block + 1) * 1000 : span.block + 1) + drawn_[number].lane * laneDistance;
  }

  void names() {
    std::set<std::uint32_t> ranks;
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::string> threads;
    for (std::uint32_t number = 0; number < timeline_.spans.size(); ++number) {
      const time::Span &span = timeline_.spans[number];
      ranks.insert(span.rank);
      std::string &name = threads[{span.rank, threadOf(number)}];
      name = (span.proxy ? "proxy of port " : "block ") + std::to_string(span.block);
      if (drawn_[number].lane != 0)
        name += ", at the same time (" + std::to_string(drawn_[number].lane) + ")";
    }
    for (const std::uint32_t rank : ranks)
      event(
          {{"ph", "M"}, {"name", "process_name"}, {"pid", rank}, {"args", {{"name", "rank " + std::to_string(rank)}}}});
    for (const auto &[thread, name] : threads)
      event({{"ph", "M"},
             {"name", "thread_name"},
             {"pid", thread.first},
             {"tid", thread.second},
             {"args", {{"name", name}}}});
  }

  void slice(std::uint32_t number) {
    const time::Span &span = timeline_.spans[number];
    const ir::ThreadBlock *block = span.proxy ? nullptr : &program_.ranks[span.rank].blocks[span.block];
    Json args = {{"bound by", time::toString(bounds_[number])}};
    if (span.bytes != 0)
      args["bytes"] = span.bytes;
    if (block) {
      args["operation"] = span.op;
      args["iteration"] = span.iteration;
      if (const std::string source = sourceOf(program_, block->ops[span.op]); !source.empty())
        args["source"] = source;
    }
    args["critical"] = critical_.contains(number);
    const std::string_view name = block ? ir::wordOf(program_, block->ops[span.op]) : "proxy";
    event({{"ph", "X"},
           {"name", critical_.contains(number) ? std::string(name) + " (critical)" : std::string(name)},
           {"cat", critical_.contains(number) ? "operation,critical" : "operation"},
           {"pid", span.rank},
           {"tid", threadOf(number)},
           {"ts", microseconds(drawn_[number].start)},
           {"dur", microseconds(drawn_[number].end - drawn_[number].start)},
           {"args", std::move(args)}});
  }

  /// Adds an arrow from the last nanosecond of the sender's span to the last nanosecond of the waiter's span.
  void flow(std::size_t message) {
    const auto end = [&](std::uint32_t span, const char *phase) {
      Json json = {{"ph", phase},
                   {"name", "signal"},
                   {"cat", "signal"},
                   {"id", message + 1},
                   {"pid", timeline_.spans[span].rank},
                   {"tid", threadOf(span)},
                   {"ts", microseconds(drawn_[span].end - 1)}};
      if (*phase == 'f')
        json["bp"] = "e";
      event(json);
    };
    end(timeline_.messages[message].from, "s");
    end(timeline_.messages[message].to, "f");
  }

  void counter(const time::Rate &rate) {
    const time::Traffic &traffic = timeline_.traffic[rate.traffic];
    event({{"ph", "C"},
           {"name", counterOf(traffic)},
           {"pid", traffic.rank},
           {"ts", microseconds(std::llround(rate.at))},
           {"args", {{"GB/s", rate.rate}}}});
  }

  std::ostream &stream_;
  const ir::Program &program_;
  const time::Timeline &timeline_;
  const std::vector<time::DrawnSpan> drawn_;
  std::set<std::uint32_t> critical_;
  std::vector<time::Cause> bounds_;
  bool first_ = true;
};

} // namespace

bool writeTrace(Job &job) {
  const auto launch = oneLaunch(job, time::Detail::Pictures);
  if (!launch)
    return false;
  job.times.lap("estimate");
  Json about = {{"program", job.program.name},
                {"machine", launch->on.machine.name},
                {"run by", toString(launch->on.runner)},
                {"bytes", launch->size},
                {"extrapolated", launch->estimate.extrapolated},
                {"capacities, GB/s", capacitiesOf(launch->estimate.timeline)}};
  if (const auto bytes = scheduledFor(job))
    about["scheduled for"] = *bytes;
  return job.writeFile(job.options.outputPath,
                       [&](std::ostream &stream) { TraceWriter(stream, job.program, launch->estimate).write(about); });
}

} // namespace mscclc::driver
