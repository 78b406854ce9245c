// --emit-html: the estimate as a page for a browser, in one file.
//
// The page is made from the files of compiler/outputs/view/, which the build embeds. It has one element with JSON for
// each launch. Tables are stored as columns of numbers, so that the page stays small even if a launch has very many
// operations. view/data.js reads the tables.
#include "compiler/outputs/estimates.h"
#include "compiler/outputs/view/accesses.h"
#include "compiler/outputs/view/rows.h"

#include "ir/op_semantics.h"
#include "ir/program_index.h"
#include "ir/source_text.h"
#include "passes/time/fold_ranks.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

namespace mscclc::driver {
namespace {

namespace time = passes::time;
using Json = nlohmann::ordered_json;
using Column = std::vector<std::int64_t>;

constexpr std::string_view page =
#include "compiler/view_page.inc"
    ;
constexpr std::string_view launchesMark = "<!-- LAUNCHES -->";

/// Writes a JSON object into a script element of the page, one member after another.
class Members {
public:
  explicit Members(std::ostream &stream) : stream_(stream) { stream_ << "{"; }
  ~Members() { stream_ << "\n}"; }
  Members(const Members &) = delete;
  Members &operator=(const Members &) = delete;

  void add(std::string_view name, const Json &value) {
    begin(name);
    const std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
    // Replaces "<", because names come from the input, and "</script>" would end the element. In JSON, "<" occurs in
    // strings only.
    std::size_t from = 0;
    for (std::size_t at; (at = text.find('<', from)) != text.npos; from = at + 1)
      stream_ << std::string_view(text).substr(from, at - from) << "\\u003c";
    stream_ << std::string_view(text).substr(from);
  }
  /// Adds an object whose members are columns. Columns are long, so each is written as soon as it is converted.
  void add(std::string_view name, std::initializer_list<std::pair<std::string_view, const Column &>> columns) {
    begin(name);
    const char *before = "{\"";
    for (const auto &[key, column] : columns) {
      stream_ << before << key << "\":" << Json(column).dump();
      before = ",\n\"";
    }
    stream_ << "}";
  }

private:
  void begin(std::string_view name) {
    stream_ << (first_ ? "\n\"" : ",\n\"") << name << "\":";
    first_ = false;
  }

  std::ostream &stream_;
  bool first_ = true;
};

/// Gives each distinct text a number, so that a text that repeats is stored once.
class Texts {
public:
  std::int64_t operator()(const std::string &text) {
    const auto [it, added] = numbers_.try_emplace(text, all_.size());
    if (added)
      all_.push_back(text);
    return static_cast<std::int64_t>(it->second);
  }
  const Json &all() const { return all_; }

private:
  std::map<std::string, std::size_t> numbers_;
  Json all_ = Json::array();
};

/// The purpose of an operation. The page gives each purpose a colour. Spans of proxies have a colour of their own.
enum class OpClass : std::uint8_t { LocalCopy, Peer, Reduce, Send, Take, BlockSync };

OpClass classOf(const ir::ThreadBlock &block, const ir::Op &op) {
  if (ir::reduces(op.kind))
    return OpClass::Reduce;
  if (!block.operands(op).empty()) {
    const auto chunks = block.operands(op);
    return std::all_of(chunks.begin(), chunks.end(), [](const ir::Chunk &chunk) { return ir::isLocal(chunk.space); })
               ? OpClass::LocalCopy
               : OpClass::Peer;
  }
  if (ir::sends(op.kind))
    return OpClass::Send;
  return ir::takes(op.kind) || op.kind == ir::OpKind::Flush ? OpClass::Take : OpClass::BlockSync;
}

class ViewWriter {
public:
  ViewWriter(std::ostream &stream, const Job &job, const time::Estimate &estimate)
      : members_(stream), job_(job), program_(job.program), timeline_(estimate.timeline), rows_(rowsOf(timeline_)),
        numbers_(timeline_.spans.size()) {
    std::uint32_t next = 0;
    for (const Row &row : rows_.rows)
      for (const std::uint32_t span : row.spans)
        numbers_[span] = next++;
  }

  void write(const Json &about) {
    members_.add("about", about);
    ranks();
    operations();
    rows();
    spans();
    messages();
    path();
    rates();
    Json causes = Json::array();
    for (std::size_t cause = 0; cause < time::causeCount; ++cause)
      causes.push_back(time::toString(static_cast<time::Cause>(cause)));
    members_.add("causes", causes);
  }

private:
  /// Adds, for each rank, the number of chunks of each buffer, the chunks that hold the input, and the number of
  /// operations before each block.
  void ranks() {
    Json ranks = Json::array();
    for (std::uint32_t rank = 0; rank < program_.ranks.size(); ++rank) {
      const ir::Rank &self = program_.ranks[rank];
      const ShownChunks input = inputOf(program_, rank);
      Json blocks = Json::array();
      firstOp_.emplace_back();
      for (const ir::ThreadBlock &block : self.blocks) {
        firstOp_.back().push_back(numOps_);
        blocks.push_back(numOps_);
        numOps_ += block.ops.size();
      }
      ranks.push_back({{"chunks", {self.inputChunks, self.outputChunks, self.scratchChunks}},
                       {"input", {static_cast<int>(input.buffer), input.index, input.size}},
                       {"blocks", std::move(blocks)}});
    }
    members_.add("ranks", ranks);
    members_.add("buffers", Json(shownBuffers));
  }

  void operations() {
    Texts words, elements;
    Column word, kind, pairwise, reads, writes, operands, placeCount, places;
    std::map<ir::LocId, std::vector<std::int64_t>> known;
    std::set<std::uint32_t> files;
    for (std::uint32_t rank = 0; rank < program_.ranks.size(); ++rank)
      for (const ir::ThreadBlock &block : program_.ranks[rank].blocks)
        for (const ir::Op &op : block.ops) {
          word.push_back(words(std::string(ir::wordOf(program_, op))));
          kind.push_back(static_cast<std::int64_t>(classOf(block, op)));
          const ShownAccesses accesses = accessesOf(program_, rank, block, op);
          pairwise.push_back(accesses.pairwise);
          reads.push_back(static_cast<std::int64_t>(accesses.reads.size()));
          writes.push_back(static_cast<std::int64_t>(accesses.writes.size()));
          for (const auto *list : {&accesses.reads, &accesses.writes})
            for (const ShownChunks &chunks : *list)
              operands.insert(operands.end(),
                              {chunks.rank, static_cast<std::int64_t>(chunks.buffer), chunks.index, chunks.size});
          const auto [it, isNew] = known.try_emplace(op.loc);
          if (isNew)
            it->second = placesOf(op.loc, files, elements);
          placeCount.push_back(static_cast<std::int64_t>(it->second.size() / 3));
          places.insert(places.end(), it->second.begin(), it->second.end());
        }
    members_.add("words", words.all());
    members_.add("ops", {{"word", word},
                         {"class", kind},
                         {"pairwise", pairwise},
                         {"reads", reads},
                         {"writes", writes},
                         {"operands", operands},
                         {"placeCount", placeCount},
                         {"places", places}});
    members_.add("elements", elements.all());
    texts(files);
  }

  /// Returns three numbers for each place of `loc`: file, line and column. The places of its callers follow. For a
  /// plan, the numbers are the file, 0, and the number of the element's path.
  Column placesOf(ir::LocId loc, std::set<std::uint32_t> &files, Texts &elements) const {
    Column places;
    for (const ir::LocId place : program_.sources.places(loc)) {
      if (program_.sources.isElement(place)) {
        const ir::Loc &document = program_.sources.get(program_.sources.documentOf(place));
        places.insert(places.end(), {document.file, 0, elements(program_.sources.elementPath(place))});
        continue;
      }
      for (ir::LocId at = place; at != ir::noLoc; at = program_.sources.get(at).caller) {
        const ir::Loc &line = program_.sources.get(at);
        files.insert(line.file);
        places.insert(places.end(), {line.file, line.line, line.column});
      }
    }
    return places;
  }

  void texts(const std::set<std::uint32_t> &shown) {
    const ir::ReadableFiles readable = readableFiles(job_.options);
    Json files = Json::array();
    for (std::uint32_t file = 0; file < program_.sources.files().size(); ++file)
      files.push_back({{"name", program_.sources.files()[file]},
                       {"text", shown.contains(file) ? ir::sourceText(program_.sources, file, &readable) : ""}});
    members_.add("files", files);
  }

  void rows() {
    Column column;
    for (const Row &row : rows_.rows)
      column.insert(column.end(), {row.rank, row.proxy, row.block, static_cast<std::int64_t>(row.spans.size())});
    members_.add("rows", column);
  }

  /// Returns the number of the operation of a span. A proxy's span belongs to the operation that made the request.
  std::int64_t opOf(const time::Span &span) const {
    const std::uint32_t block = span.proxy ? timeline_.spans[span.before.span].block : span.block;
    return firstOp_[span.rank][block] + span.op;
  }
  /// Returns which transfer of its operation a proxy's span is, counted from 1. Returns 0 for a span of a block.
  std::int64_t pairOf(const time::Span &span) const {
    if (!span.proxy)
      return 0;
    const ir::ThreadBlock &block = program_.ranks[span.rank].blocks[timeline_.spans[span.before.span].block];
    const auto channels = block.idsOf(block.ops[span.op]);
    return std::find(channels.begin(), channels.end(), span.block) - channels.begin() + 1;
  }

  void spans() {
    Column op, start, wait, length, bound, iteration, bytes, pair;
    const std::vector<time::Cause> bounds = time::boundsOf(timeline_, time::criticalPath(timeline_));
    for (const Row &row : rows_.rows) {
      std::int64_t previous = 0;
      for (const std::uint32_t number : row.spans) {
        const time::Span &span = timeline_.spans[number];
        const std::int64_t from = rows_.start[number], to = rows_.end[number];
        op.push_back(opOf(span));
        start.push_back(from - previous);
        previous = from;
        wait.push_back(std::clamp<std::int64_t>(std::llround(span.moving) - from, 0, to - from));
        length.push_back(to - from);
        bound.push_back(static_cast<std::int64_t>(bounds[number]));
        iteration.push_back(span.iteration);
        bytes.push_back(static_cast<std::int64_t>(span.bytes));
        pair.push_back(pairOf(span));
      }
    }
    members_.add("spans", {{"op", op},
                           {"start", start},
                           {"wait", wait},
                           {"length", length},
                           {"bound", bound},
                           {"iteration", iteration},
                           {"bytes", bytes},
                           {"pair", pair}});
  }

  void messages() {
    Column column;
    for (const time::Message &message : timeline_.messages)
      if (message.from != time::Span::none && message.to != time::Span::none)
        column.insert(column.end(), {numbers_[message.from], numbers_[message.to]});
    members_.add("messages", column);
  }

  void path() {
    Column column;
    for (const time::PathStep &step : time::criticalPath(timeline_))
      column.insert(column.end(),
                    {step.span == time::Span::none ? -1 : std::int64_t{numbers_[step.span]},
                     static_cast<std::int64_t>(step.cause), std::llround(step.from), std::llround(step.to)});
    members_.add("path", column);
  }

  /// Adds the traffic of each resource, with rates in MB/s.
  void rates() {
    Json traffic = Json::array();
    for (const time::Traffic &one : timeline_.traffic)
      traffic.push_back({static_cast<int>(one.kind), one.rank, one.peer == time::Span::none ? -1 : int(one.peer),
                         std::llround(one.bytes), std::llround(one.capacity * 1e3)});
    members_.add("traffic", traffic);
    Column at, what, rate;
    for (const time::Rate &one : timeline_.rates) {
      at.push_back(std::llround(one.at));
      what.push_back(one.traffic);
      rate.push_back(std::llround(one.rate * 1e3));
    }
    members_.add("rates", {{"at", at}, {"traffic", what}, {"rate", rate}});
  }

  Members members_;
  const Job &job_;
  const ir::Program &program_;
  const time::Timeline &timeline_;
  const Rows rows_;
  std::vector<std::uint32_t> numbers_;             ///< [span]: its number in the order of rows
  std::vector<std::vector<std::int64_t>> firstOp_; ///< [rank][block]
  std::int64_t numOps_ = 0;
};

Json aboutOf(const Job &job, const TimedOn &on, const time::Estimate &estimate) {
  Json about = {{"program", job.program.name},
                {"collective", job.program.collective.name},
                {"machine", on.machine.name},
                {"runBy", toString(on.runner)},
                {"bytes", estimate.messageBytes},
                {"total", estimate.total},
                {"linkBound", estimate.linkBound},
                {"latencyBound", estimate.latencyBound},
                {"bound", time::toString(estimate.bound)},
                {"spent", estimate.spent},
                {"inPlace", job.program.collective.inplace},
                {"extrapolated", estimate.extrapolated},
                {"ranksPerNode", time::RankNodes(job.program, on.machine).ranksPerNode()},
                {"sameRanks", time::foldRanks(ir::ProgramIndex(job.program), on.machine).has_value()}};
  if (const auto bytes = scheduledFor(job))
    about["scheduledFor"] = *bytes;
  return about;
}

} // namespace

bool writeView(Job &job) {
  const auto on = timedOn(job);
  if (!on)
    return false;
  for (const std::uint64_t size : timedSizes(job)) {
    const auto estimate = timeOf(job, *on, size, time::Detail::Pictures);
    if (!estimate)
      return false;
    std::ostringstream launch;
    ViewWriter(launch, job, *estimate).write(aboutOf(job, *on, *estimate));
    job.launches.push_back(std::move(launch).str());
  }
  if (job.diags.hasErrors())
    return false;
  job.times.lap("estimate");
  if (job.each && !job.each->isLast)
    return true;
  return job.writeFile(job.options.outputPath, [&](std::ostream &stream) {
    const std::size_t mark = page.find(launchesMark);
    stream << page.substr(0, mark);
    for (const std::string &launch : job.launches)
      stream << "<script type=\"application/json\" class=\"launch\">" << launch << "</script>\n";
    stream << page.substr(mark + launchesMark.size());
  });
}

} // namespace mscclc::driver
