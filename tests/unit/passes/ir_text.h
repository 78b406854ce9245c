// Passes tested by text in, text out: the operations of one block go in, and come out as lines.
#pragma once

#include "catch.h"
#include "ir/text.h"
#include "passes/pass_manager.h"

#include <regex>
#include <sstream>

namespace mscclc::passes {

/// A program of two ranks whose rank 0 has one block with these operations, one a line. Rank 0 has memory channels
/// 0 to 19, port channels 0 to 9, semaphores 0 to 19 and switch channels 0 (output) and 1 (scratch) of both ranks, and
/// knows rank 1's input, output and scratch as remote0, remote1 and remote2. All buffers have 8 chunks.
inline std::string programText(const std::string &ops, const std::string &options = "") {
  auto repeat = [](std::size_t n, const std::string &item) {
    std::string list;
    for (std::size_t i = 0; i < n; ++i)
      list += (i ? ", " : "") + item;
    return "[" + list + "]\n";
  };
  auto table = [](const std::string &type, std::size_t n) {
    std::string list;
    for (std::size_t i = 0; i < n; ++i)
      list += (list.empty() ? "" : ", ") + type + " " + std::to_string(i);
    return list;
  };
  std::string text = "mscclc.ir 1\nprogram \"t\" {\n";
  text += options.find("collective") == options.npos ? "collective test\n" + options : options;
  auto rank = [&](const std::string &id, const std::string &peer) {
    text += "\nrank " + id + " {\nbuffers input 8 output 8 scratch 8\nmemory_channels " + repeat(20, peer);
    text += "port_channels " + repeat(10, peer) + "semaphores " + repeat(20, "0");
    text += "switch0 = output of [0, 1]\nswitch1 = scratch of [0, 1]\n";
  };
  rank("0", "1");
  text += "remote0 = 1.input via memory via port\nremote1 = 1.output via memory via port\n";
  text += "remote2 = 1.scratch via memory via port\nblock 0 {\n";
  text += "channels [" + table("memory", 20) + ", " + table("port", 10) + ", switch 0, switch 1]\n";
  text += "remotes [" + table("memory", 3) + ", " + table("port", 3) + "]\n" + ops + "\n}\n}\n";
  rank("1", "0");
  return text + "}\n}\n";
}

inline ir::Program parseProgram(const std::string &text) {
  ir::DiagnosticEngine diags;
  std::optional<ir::Program> program = ir::parse(text, "t.ir", diags);
  INFO(text << diags.render(false));
  REQUIRE(program);
  return std::move(*program);
}

/// Lines of `text` without indentation, versions and locations.
inline std::string plainLines(const std::string &text) {
  static const std::regex versions(R"(%\d+ = |%(\{[^}]*\}|\w+)| @\d+)");
  std::istringstream in(std::regex_replace(text, versions, ""));
  std::string out;
  for (std::string line; std::getline(in, line);)
    if (const std::size_t start = line.find_first_not_of(' '); start != line.npos)
      out += line.substr(start) + "\n";
  return out;
}

/// The operations of block `block` of rank 0, one a line.
inline std::string opsOf(const ir::Program &program, std::uint32_t block = 0) {
  std::string text;
  ir::print(program, text);
  std::istringstream in(text);
  std::string out;
  const std::string begin = "    block " + std::to_string(block) + " {";
  std::string line;
  while (std::getline(in, line) && line != begin)
    continue;
  while (std::getline(in, line) && line != "    }")
    if (!line.starts_with("      channels") && !line.starts_with("      remotes"))
      out += line + "\n";
  return plainLines(out);
}

struct Outcome {
  ir::Program program;
  std::string errors; ///< all diagnostics as they are shown
  bool ok = true;
  std::vector<PassRecord> records;
};

/// Runs the passes of `list` on a program.
inline Outcome runPasses(ir::Program program, const std::string &list, const std::string &target = "none") {
  PassManagerOptions options;
  options.target = *findTarget(target);
  options.verifyEach = true;
  PassManager manager(options, propertiesOf(program));
  REQUIRE(manager.add(list) == "");
  Outcome outcome{std::move(program), {}, true, {}};
  ir::DiagnosticEngine diags;
  PassRun run = manager.run(outcome.program, diags);
  outcome.ok = run.ok;
  outcome.errors = diags.render(false);
  outcome.records = std::move(run.records);
  return outcome;
}

/// What the passes of `list` make of these operations.
inline std::string opsAfter(const std::string &list, const std::string &ops, const std::string &options = "") {
  const Outcome outcome = runPasses(parseProgram(programText(ops, options)), list);
  INFO(outcome.errors);
  REQUIRE(outcome.ok);
  return opsOf(outcome.program);
}

inline const char *const o1 = "fuse,lower-data-sync,infer-sync,replicate-instances,fit-executor";

} // namespace mscclc::passes
