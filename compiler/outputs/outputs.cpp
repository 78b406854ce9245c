#include "compiler/outputs/outputs.h"

#include "compiler/diagnostics.h"
#include "compiler/files.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace mscclc::driver {

const std::vector<Output> &allOutputs() {
  static const std::vector<Output> all = {
#define OUTPUT(name, ...) {.write = write##name, __VA_ARGS__},
#include "compiler/outputs/outputs.def"
#undef OUTPUT
  };
  return all;
}

bool takes(const Output &output, std::string_view name) {
  return std::ranges::find(output.options, name) != output.options.end();
}

bool isForScheduling(std::string_view name) {
  return std::ranges::find(schedulingOptions, name) != schedulingOptions.end();
}

bool heeds(const Output &output, std::string_view name, bool isProven) {
  const bool asksMachine = output.proof == Proof::OfKernel || (output.proof != Proof::None && isProven);
  return takes(output, name) || (name == "--machine" && asksMachine && output.subject == Subject::Program);
}

std::string flagsOf(const std::function<bool(const Output &)> &is, std::string_view conjunction) {
  std::vector<std::string> flags;
  for (const Output &output : allOutputs())
    if (is(output))
      flags.emplace_back(output.flag);
  return ir::enumerate(flags, conjunction);
}

std::string flagsOfCombinations() {
  std::vector<std::string> flags;
  for (const Output &output : allOutputs())
    switch (output.combinations) {
    case Combinations::Refused:
      break;
    case Combinations::Rows:
      flags.emplace_back(output.flag);
      break;
    case Combinations::RowsOfFolder:
      flags.push_back(std::string(output.flag) + " DIR/");
      break;
    }
  return ir::enumerate(flags);
}

passes::Target Job::passTarget() const {
  const bool isForAny = options.output->keepsCalls && !options.target && program.schedule == ir::Schedule::Manual;
  passes::Target wanted = isForAny ? passes::Target() : target;
  const bool isCompared = options.output->flag == "--diff";
  wanted.listedOrder |= options.output->isPlan || options.output->keepsCalls || isCompared;
  return wanted;
}

std::uint64_t Job::givenSize() const {
  return each ? each->bytes : options.messageSize;
}

int Job::optLevel() const {
  const bool forKernel = options.output->proof == Proof::OfKernel ||
                         (options.target == "none" && options.output->judgesPlan && input.kind != InputKind::Plan);
  const int byDefault = forKernel || program.schedule == ir::Schedule::Auto ? 2 : input.kind == InputKind::Plan ? 0 : 1;
  const bool isCompared = options.output->flag == "--diff"; // with a golden of the source's own level
  return options.optLevel.value_or(isCompared ? input.level.value_or(byDefault) : byDefault);
}

bool Job::say(const std::string &text) {
  return inTable || writeOut(text, diags);
}

std::string textOf(const nlohmann::ordered_json &document) {
  return document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

bool Job::say(const nlohmann::ordered_json &json) {
  if (!inTable)
    return say(textOf(json));
  document = std::make_shared<const nlohmann::ordered_json>(json);
  return true;
}

bool Job::writeFile(const std::string &path, const std::function<void(std::ostream &)> &print) {
  OutputFile output(path);
  if (output.error().empty()) {
    print(output.stream());
    times.lap("write");
    if (output.commit())
      return true;
  }
  return diags.report(diag::cannot_write, {}, {output.error()});
}

} // namespace mscclc::driver
