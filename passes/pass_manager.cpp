#include "passes/pass_manager.h"

#include "ir/nearest_name.h"

#include "ir/internal_error.h"
#include "ir/structure.h"
#include "ir/text.h"

#include <algorithm>
#include <chrono>

namespace mscclc::passes {

#define PASS(name, factory, summary) Pass factory();
#include "passes/passes.def"

static Pass named(Pass pass, std::string_view name, std::string_view summary) {
  pass.name = name;
  pass.summary = summary;
  return pass;
}

const std::vector<Pass> &allPasses() {
  static const std::vector<Pass> all{
#define PASS(name, factory, summary) named(factory(), name, summary),
#include "passes/passes.def"
  };
  return all;
}

/// Returns "fuse, lower-data-sync, …".
static std::string knownNames() {
  std::string names;
  for (const Pass &pass : allPasses())
    names.append(names.empty() ? "" : ", ").append(pass.name);
  return names;
}

static const Pass *findPass(std::string_view name) {
  for (const Pass &pass : allPasses())
    if (pass.name == name)
      return &pass;
  return nullptr;
}

std::vector<std::string_view> splitNames(std::string_view list) {
  std::vector<std::string_view> names;
  for (std::size_t begin = 0; !list.empty() && begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    std::string_view name = list.substr(begin, end - begin);
    while (name.starts_with(' '))
      name.remove_prefix(1);
    while (name.ends_with(' '))
      name.remove_suffix(1);
    names.push_back(name);
    begin = end + 1;
  }
  return names;
}

/// Returns a suggestion of a pass with a similar name, as the beginning of a message; empty if there is none.
static std::string nearPass(std::string_view name) {
  std::vector<std::string> names;
  for (const Pass &pass : allPasses())
    names.emplace_back(pass.name);
  const auto near = ir::nearestName(name, names);
  return near ? "did you mean '" + *near + "'? " : std::string();
}

void PassManager::use(std::string_view name, Pass pass) {
  variants_.push_back(named(std::move(pass), name, findPass(name)->summary));
}

std::string PassManager::add(std::string_view list) {
  for (const std::string_view name : splitNames(list)) {
    const Pass *pass = findPass(name);
    if (!pass)
      return "unknown pass '" + std::string(name) + "'; " + nearPass(name) + "there are " + knownNames();
    const auto variant = std::ranges::find(variants_, name, &Pass::name);
    if (std::string problem = add(variant == variants_.end() ? *pass : *variant); !problem.empty())
      return problem;
  }
  return {};
}

std::string PassManager::add(Pass pass) {
  const Properties lacking = pass.needs & ~held_;
  for (const Property property : allProperties)
    if (lacking & property)
      return std::string(pass.name) + " needs " + std::string(describe(property)) + ", which " +
             std::string(providerOf(property)) + " gives: put that before it";
  held_ |= pass.provides;
  passes_.push_back(std::move(pass));
  return {};
}

std::size_t PassManager::numToRun() const {
  std::size_t end = passes_.size();
  if (!options_.stopAfter.empty())
    while (end != 0 && passes_[end - 1].name != options_.stopAfter)
      --end;
  return end;
}

Properties PassManager::heldAtEnd() const {
  Properties held = given_;
  for (std::size_t i = 0; i < numToRun(); ++i)
    held |= passes_[i].provides;
  return held;
}

std::string PassManager::checkOptions() const {
  auto runs = [this](std::string_view name) {
    return std::any_of(passes_.begin(), passes_.end(), [&](const Pass &pass) { return pass.name == name; });
  };
  std::vector<std::pair<std::string_view, std::string_view>> asked;
  for (const std::string &name : options_.printBefore.names)
    asked.emplace_back("--print-before", name);
  for (const std::string &name : options_.printAfter.names)
    asked.emplace_back("--print-after", name);
  if (!options_.stopAfter.empty())
    asked.emplace_back("--stop-after", options_.stopAfter);
  for (const auto &[option, name] : asked) {
    if (runs(name))
      continue;
    const std::string text = std::string(option) + " names '" + std::string(name) + "', ";
    return text +
           (findPass(name) ? "which is not among the passes to run" : "which is no pass; there are " + knownNames());
  }
  return {};
}

void PassManager::dump(std::string_view when, std::string_view pass, const ir::Program &program) {
  std::string text, title = "IR " + std::string(when) + " " + std::string(pass);
  ir::print(program, text);
  if (text == lastDump_) {
    options_.print(title + " (unchanged)", {});
    return;
  }
  options_.print(title, text);
  lastDump_ = std::move(text);
}

/// Throws if `pass` left a broken structure or a stale analysis, or did not provide what it promises.
void PassManager::verify(const Pass &pass, const ir::Program &program, const Analyses &analyses) const {
  ir::DiagnosticEngine structure;
  structure.setSources(&program.sources);
  if (!ir::checkStructure(program, structure))
    throw ir::InternalError("the structure is broken after " + std::string(pass.name) + ":\n" +
                            structure.render(false));
  if (!analyses.areOf(program))
    throw ir::InternalError("an analysis is stale after " + std::string(pass.name));
  if (pass.isProvided && !pass.isProvided(program))
    throw ir::InternalError(std::string(pass.name) + " does not provide what it promises");
}

bool PassManager::isLeftOut(const Pass &pass, std::uint32_t &optionalPasses) const {
  if (!options_.passLimit || !pass.isOptional)
    return false;
  const bool isOut = ++optionalPasses > *options_.passLimit;
  if (options_.print)
    options_.print(
        "pass " + std::to_string(optionalPasses) + ": " + std::string(pass.name) + (isOut ? ", left out" : ""), {});
  return isOut;
}

PassRun PassManager::run(ir::Program &program, ir::DiagnosticEngine &diags) {
  Analyses analyses;
  return run(program, false, diags, analyses);
}

PassRun PassManager::run(ir::Program &program, ir::DiagnosticEngine &diags, Analyses &analyses) {
  return run(program, false, diags, analyses);
}

PassRun PassManager::run(RepresentativeRank &one, ir::DiagnosticEngine &diags) {
  Analyses analyses;
  return run(one.launch_, true, diags, analyses);
}

PassRun PassManager::run(ir::Program &program, bool isOneRank, ir::DiagnosticEngine &diags, Analyses &analyses) {
  if (options_.verifyEach && (given_ & ~propertiesOf(program)) != 0)
    throw ir::InternalError("the program lacks a property that the pass manager was promised");
  if (options_.verifyEach && !analyses.areOf(program))
    throw ir::InternalError("an analysis is not of the program that the pass manager was given");
  diags.setSources(&program.sources);
  PassRun result;
  const std::uint64_t errorsBefore = diags.numErrors();
  const std::size_t end = numToRun();
  std::uint32_t optionalPasses = 0;
  for (std::size_t i = 0; i < end && result.ok; ++i) {
    const Pass &pass = passes_[i];
    if (isLeftOut(pass, optionalPasses))
      continue;
    if (options_.print && options_.printBefore.has(pass.name))
      dump("before", pass.name, program);

    PassRecord &record = result.records.emplace_back();
    record.pass = pass.name;
    PassContext context{.program = program,
                        .diags = diags,
                        .target = options_.target,
                        .stats = record.stats,
                        .analyses = analyses,
                        .isOneRank = isOneRank};
    const auto start = std::chrono::steady_clock::now();
    pass.run(context);
    analyses.endPass();
    record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

    if (options_.print && options_.printAfter.has(pass.name))
      dump("after", pass.name, program);
    result.ok = diags.numErrors() == errorsBefore;
    if (!result.ok)
      break;
    if (options_.verifyEach)
      verify(pass, program, analyses);
    if (options_.check)
      result.ok = options_.check(pass.name, program, diags);
  }
  return result;
}

Properties propertiesOf(const ir::Program &program) {
  Properties properties = 0;
  for (const Pass &pass : allPasses())
    if (pass.isProvided && pass.isProvided(program))
      properties |= pass.provides;
  return properties;
}

std::string_view providerOf(Property property) {
  const auto provider = std::ranges::find_if(allPasses(), [&](const Pass &p) { return (p.provides & property) != 0; });
  return provider->name;
}

std::string_view describe(Property property) {
  switch (property) {
  case DataSyncLowered:
    return "lowered data sync";
  case SingleInstance:
    return "replicated instances";
  case Scheduled:
    return "thread blocks";
  case Placed:
    return "placed statements";
  case Cut:
    return "statements dealt out to thread blocks";
  }
  return {};
}

void PassStats::count(std::string_view name, std::uint64_t n) {
  for (Counter &counter : counters_)
    if (counter.name == name) {
      counter.value += n;
      return;
    }
  counters_.push_back({name, n});
}

} // namespace mscclc::passes
