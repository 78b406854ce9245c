#include "compiler/synthesis.h"

#include "compiler/diagnostics.h"
#include "compiler/outputs/choice_sentences.h"
#include "compiler/outputs/estimates.h"
#include "ir/collectives.h"
#include "passes/synthesize/synthesize.h"

#include <algorithm>
#include <span>

namespace mscclc::driver {

namespace synthesize_room = passes::synthesize;

std::vector<std::string> synthesizedNames() {
  std::vector<std::string> names;
  for (const ir::CollectiveKind kind : synthesize_room::synthesizedKinds())
    names.emplace_back(ir::toString(kind));
  return names;
}

std::optional<ir::Program> synthesize(Job &job) {
  const Options &options = job.options;
  job.program.schedule = ir::Schedule::Auto; // so that passTarget() returns the target that programs are scheduled for
  const std::optional<TimedOn> on = namedMachine(job);
  if (!on)
    return std::nullopt;
  const std::string &collective = options.synthesize, &machine = on->machine.name;
  const ir::CollectiveKind kind = *std::ranges::find(synthesize_room::synthesizedKinds(), collective,
                                                     [](ir::CollectiveKind one) { return ir::toString(one); });
  if (options.root != 0 && !ir::info(kind).hasRoot)
    return job.diags.report(diag::no_root, {}, {collective});
  if (options.root >= on->machine.gpus())
    return job.diags.report(diag::root_out_of_range, {}, {options.root, machine, on->machine.gpus() - 1});
  if (on->machine.gpus() < 2)
    return job.diags.report(diag::not_synthesized, {}, {collective, machine, "it has one GPU"});
  constexpr std::uint64_t most = 1024;
  if (on->machine.gpus() > most)
    return job.diags.report(diag::not_synthesized, {}, {collective, machine, "it has more than 1024 GPUs"});
  const passes::schedule::ChooseOptions chooseOptions = chooseOptionsOf(job, *on, sizeToSchedule(job), /*keeps=*/true);
  std::string why;
  std::optional<synthesize_room::Synthesis> made = synthesize_room::synthesize(kind, options.root, chooseOptions, why);
  if (!made)
    return job.diags.report(diag::not_synthesized, {}, {collective, machine, why});
  ir::DiagBuilder remark = job.diags.report(diag::synthesized, {},
                                            {collective, machine, made->attempts.front().name,
                                             shownTime(made->nanoseconds), shownBytes(chooseOptions.messageBytes)});
  if (!made->links.empty())
    remark.note(diag::synthesis_links, {}, {made->links});
  const synthesize_room::Attempt &taken = made->attempts.front();
  std::string others;
  for (const synthesize_room::Attempt &one : std::span(made->attempts).subspan(1)) {
    others += (others.empty() ? "" : ", ") + one.name + " " +
              (one.nanoseconds == 0 ? "does not fit" : (one.isBound ? "over " : "") + shownTime(one.nanoseconds));
    if (const auto more = one.restsOn & ~taken.restsOn;
        one.nanoseconds != 0 && one.nanoseconds < taken.nanoseconds && more.any())
      others += " (but " + restsOnWords(more) + ")";
  }
  if (taken.restsOn.any())
    remark.note(diag::synthesis_rests, {}, {restsOnWords(taken.restsOn)});
  if (!others.empty())
    remark.note(diag::synthesis_others, {}, {others});
  job.scheduled = std::move(made->scheduled);
  job.times.lap("synthesize");
  return std::move(made->program);
}

} // namespace mscclc::driver
