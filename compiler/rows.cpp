#include "compiler/rows.h"

#include "compiler/diagnostics.h"
#include "compiler/files.h"
#include "compiler/option_values.h"
#include "compiler/outputs/estimates.h"
#include "ir/collectives.h"
#include "ir/rows.h"

namespace mscclc::driver {
namespace {

/// Makes the program an all-to-all in which each rank sends whole slots, whatever the number of rows.
void pad(ir::Program &program) {
  ir::Collective &collective = program.collective;
  collective.kind = ir::CollectiveKind::AllToAll;
  collective.name = toString(collective.kind);
  collective.rows = {};
}

/// Makes the program an all-to-all of the counts: each rank sends one count to each rank.
void padCounts(ir::Program &program) {
  constexpr std::uint32_t bytes = 16; // bytes of a count, because executors move words of 16 bytes
  pad(program);
  program.bufferAlignment = bytes;
  program.minMessageSize = program.maxMessageSize = bytes * program.ranks.size();
}

bool readRows(Job &job) {
  const std::string &words = job.options.rows;
  const std::size_t colon = words.find(':');
  if (words.empty())
    return true;
  const auto bytes = parseByteSize(words.substr(0, colon));
  const auto choices = colon == words.npos ? job.choices : parseByteSize(words.substr(colon + 1)).value_or(0);
  if (!bytes || *bytes == 0 || choices == 0 || choices > ir::maxExperts)
    return job.diags.report(diag::bad_rows, {}, {words, ir::maxExperts});
  job.rowBytes = *bytes;
  job.choices = static_cast<std::uint32_t>(choices);
  return true;
}

bool readCounts(Job &job) {
  const std::string &words = job.options.counts;
  if (words.empty() || (job.counts = passes::RowCounts::parse(words)))
    return true;
  std::string text, fault;
  if (!readWhole(words, text, fault))
    return job.diags.report(diag::bad_counts, {},
                            {words, fault + "; a table of counts is a file, or write zero, full, over, random:SEED, "
                                            "uniform:N or zipf:S"});
  job.counts = passes::RowCounts::ofTable(text, static_cast<std::uint32_t>(job.program.ranks.size()), fault,
                                          ir::expertCellsOf(job.program).count());
  return fault.empty() || job.diags.report(diag::bad_counts, {}, {words, fault});
}

} // namespace

bool settleRows(Job &job) {
  const Options &options = job.options;
  ir::Program &program = job.program;
  const bool hasRows = ir::info(program.collective.kind).hasRows;
  if (!hasRows && options.pad != Pad::None)
    return job.diags.report(diag::no_rows, {}, {"--pad", toString(program.collective.kind)});
  if (!hasRows && !options.counts.empty())
    return job.diags.report(diag::no_rows, {}, {"--counts", toString(program.collective.kind)});
  if (!hasRows && !options.rows.empty())
    return job.diags.report(diag::no_rows, {}, {"--rows", toString(program.collective.kind)});
  if (ir::info(program.collective.kind).hasExperts &&
      (options.pad != Pad::None || options.output->isPlan || (options.target && job.target.executor)))
    return job.diags.report(diag::plan_with_experts, program.collective.loc, {toString(program.collective.kind)});
  switch (options.pad) {
  case Pad::Slots:
    pad(program);
    return true;
  case Pad::Counts:
    padCounts(program);
    return true;
  case Pad::None:
    break;
  }
  if (!hasRows)
    return true;
  if (options.output->isPlan || (options.target && job.target.executor))
    return job.diags.report(diag::plan_with_rows, program.collective.loc);
  job.target = {};
  const auto isNarrowFloat = [](const std::string &type) {
    return (type.starts_with("f") && type != "f64") || type.starts_with("bf");
  };
  if (program.collective.kind == ir::CollectiveKind::Combine)
    for (const std::string &type : options.types)
      if (!isNarrowFloat(type))
        return job.diags.report(diag::combine_type, program.collective.loc, {type});
  return readRows(job) && readCounts(job);
}

bool chooseOncePerRank(Job &job) {
  ir::OncePerRank &choice = job.program.oncePerRank;
  if (choice != ir::OncePerRank::Automatic)
    return true;
  choice = ir::OncePerRank::Off;
  const std::optional<TimedOn> on = namedMachine(job);
  if (!on)
    return false;
  if (passes::time::cannotRun(job.program, on->machine))
    return true;
  const std::uint64_t bytes = nearestSize(job.program, sizeToSchedule(job));
  const auto without = timeOf(job, *on, bytes);
  choice = ir::OncePerRank::On;
  const auto with = timeOf(job, *on, bytes);
  if (!without || !with)
    return false;
  job.oncePerRank = {without->total, with->total};
  if (without->total <= with->total)
    choice = ir::OncePerRank::Off;
  return true;
}

} // namespace mscclc::driver
