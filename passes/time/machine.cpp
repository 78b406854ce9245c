#include "passes/time/machine.h"

#include "ir/nearest_name.h"

#include "ir/diagnostics.h"
#include "ir/program.h"
#include "passes/time/json_words.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <set>

namespace mscclc::passes::time {

namespace {

using nlohmann::json;

/// Machine files that the build embeds (machines/*.json).
struct BuiltIn {
  std::string_view name, text;
};
const BuiltIn builtIns[] = {
#include "time/built_in_machines.inc"
};

/// Keys that a file may omit.
constexpr const char *blocksKey = "blocks_per_multiprocessor", *sharedKey = "shared_memory_per_multiprocessor";

[[noreturn]] void fail(const std::string &message) {
  throw MachineError{message};
}

std::uint32_t readCount(const json &file, const char *key, std::uint32_t most = 65536) {
  const auto at = file.find(key);
  if (at == file.end() || !at->is_number_unsigned() || at->get<std::uint64_t>() == 0 || at->get<std::uint64_t>() > most)
    fail(std::string("'") + key + "' must be a whole number from 1 to " + std::to_string(most));
  return at->get<std::uint32_t>();
}

std::string readText(const json &file, const char *key) {
  const auto at = file.find(key);
  if (at == file.end() || !at->is_string())
    fail(std::string("'") + key + "' must be a string");
  return at->get<std::string>();
}

double readParameter(const json &parameters, const char *key) {
  const auto at = parameters.find(key);
  if (at == parameters.end() || !at->is_object())
    fail(std::string("parameter '") + key + R"(' is missing: {"value": NUMBER, "source": TEXT, "certainty": TEXT})");
  const auto value = at->find("value");
  if (value == at->end() || !value->is_number() || value->get<double>() < 0 || value->get<double>() > 1e9)
    fail(std::string("parameter '") + key + "' must have a 'value' from 0 to 1e9");
  readText(*at, "source");
  static const std::set<std::string> certainties = {"specified", "measured", "derived",
                                                    "fitted",    "borrowed", "assumed"};
  if (!certainties.count(readText(*at, "certainty")))
    fail(std::string("parameter '") + key +
         "' must have a 'certainty': specified, measured, derived, fitted, borrowed or assumed");
  return value->get<double>();
}

/// Checks a number that is used as a divisor: a bandwidth in GB/s, or words in flight.
void requireDivisor(double value, const char *key) {
  if (value < 1e-3)
    fail(std::string("parameter '") + key + "' must be at least 0.001");
}

/// In microseconds. A file with a longer time of a launch has it in another unit.
constexpr double longestLaunch = 100000;

/// Larger files are not machine files.
constexpr std::size_t maxMachineBytes = 1 << 20;

/// Returns the text of a machine file; nothing if it cannot be read.
std::optional<std::string> readMachineFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(maxMachineBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad())
    return std::nullopt;
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > maxMachineBytes)
    fail("it has more than 1 MiB: it is no machine file");
  return text;
}

/// Rounds to four significant digits.
double fourDigits(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.4g", value);
  return std::strtod(text, nullptr);
}

} // namespace

RankNodes::RankNodes(const ir::Program &program, const Machine &machine)
    : ranksPerNode_(program.movement.ranksPerNode != 0 ? program.movement.ranksPerNode : machine.gpusPerNode),
      nodes_(static_cast<std::uint32_t>((program.ranks.size() + ranksPerNode_ - 1) / ranksPerNode_)) {}

std::uint32_t namedNodes(const ir::Program &program) {
  const std::uint64_t ranksPerNode = program.movement.ranksPerNode;
  return ranksPerNode == 0 ? 1 : static_cast<std::uint32_t>((program.ranks.size() + ranksPerNode - 1) / ranksPerNode);
}

Machine parseMachine(std::string_view text) {
  json file;
  try {
    file = json::parse(text);
  } catch (const json::exception &error) {
    fail(wordsOf(error));
  }
  if (!file.is_object() || !file.contains("parameters") || !file["parameters"].is_object())
    fail("it must be an object with 'parameters'");
  Machine machine;
  machine.name = readText(file, "name");
  if (ir::printable(machine.name) != machine.name)
    fail("'name' must not have control characters");
  machine.description = readText(file, "description");
  machine.gpusPerNode = readCount(file, "gpus_per_node");
  machine.multiprocessors = readCount(file, "multiprocessors");
  if (file.contains(blocksKey))
    machine.blocksPerMultiprocessor = readCount(file, blocksKey);
  if (file.contains(sharedKey))
    machine.sharedBytes = readCount(file, sharedKey, 1 << 30);
  const std::string topology = readText(file, "topology");
  if (topology != "switch" && topology != "mesh")
    fail("'topology' must be \"switch\" or \"mesh\"");
  machine.mesh = topology == "mesh";
  std::set<std::string> known;
#define PARAMETER(field, key, unit, summary)                                                                           \
  machine.parameters.field = readParameter(file["parameters"], key);                                                   \
  known.insert(key);
#include "passes/time/machine_parameters.def"
  for (const auto &[key, value] : file["parameters"].items())
    if (!known.count(key))
      fail("there is no parameter '" + key + "'");
  const MachineParameters &p = machine.parameters;
  for (const auto &[value, key] : {std::pair{p.link, "link"},
                                   {p.store, "store"},
                                   {p.load, "load"},
                                   {p.packet, "packet"},
                                   {p.copyEngine, "copy_engine"},
                                   {p.nic, "nic"},
                                   {p.memory, "memory"},
                                   {p.blockCopy, "block_copy"},
                                   {p.blockReduce, "block_reduce"},
                                   {p.copyDepth, "copy_depth"}})
    requireDivisor(value, key);
  if (p.multimem > 0) {
    requireDivisor(p.multimem, "multimem");
    requireDivisor(p.blockMultimem, "block_multimem");
    if (machine.mesh)
      fail("a mesh has no switch that reduces, so 'multimem' must be 0");
  }
  for (const auto &[value, key] : {std::pair{p.store, "store"},
                                   {p.load, "load"},
                                   {p.packet, "packet"},
                                   {p.multimem, "multimem"},
                                   {p.copyEngine, "copy_engine"}})
    if (value > p.link)
      fail(std::string("parameter '") + key + "' must be at most 'link', the line rate");
  if (p.launch > longestLaunch)
    fail("parameter 'launch' must be at most 100000, in microseconds");
  return machine;
}

std::string writeMachine(const Machine &machine, std::span<const Provenance> origins) {
  nlohmann::ordered_json file;
  file["name"] = machine.name;
  file["description"] = machine.description;
  file["gpus_per_node"] = machine.gpusPerNode;
  file["topology"] = machine.mesh ? "mesh" : "switch";
  file["multiprocessors"] = machine.multiprocessors;
  file[blocksKey] = machine.blocksPerMultiprocessor;
  file[sharedKey] = machine.sharedBytes;
  auto origin = origins.begin();
#define PARAMETER(field, key, unit, summary)                                                                           \
  file["parameters"][key] = {                                                                                          \
      {"value", fourDigits(machine.parameters.field)}, {"source", origin->source}, {"certainty", origin->certainty}};  \
  ++origin;
#include "passes/time/machine_parameters.def"
  return file.dump(2) + "\n";
}

std::vector<std::string> builtInMachines() {
  std::vector<std::string> names;
  for (const BuiltIn &machine : builtIns)
    names.emplace_back(machine.name);
  return names;
}

Machine findMachine(const std::string &words, std::uint32_t nodes) {
  std::string base = words;
  if (const std::size_t star = words.rfind('*'); star != std::string::npos) {
    const char *first = words.data() + star + 1, *end = words.data() + words.size();
    const auto [last, error] = std::from_chars(first, end, nodes);
    if (error != std::errc() || last != end || nodes == 0 || nodes > 65536)
      fail("'" + words.substr(star) + "' must be '*' and a number of nodes from 1 to 65536");
    base.resize(star);
  }
  std::string text;
  const auto builtIn = std::find_if(std::begin(builtIns), std::end(builtIns),
                                    [&](const BuiltIn &machine) { return machine.name == base; });
  if (builtIn != std::end(builtIns)) {
    text = builtIn->text;
  } else {
    const std::optional<std::string> read = readMachineFile(base);
    if (!read) {
      std::string names;
      for (const std::string &name : builtInMachines())
        names += (names.empty() ? "" : ", ") + name;
      const auto near = ir::nearestName(base, builtInMachines());
      fail("'" + base + "' is neither a machine (" + names + ") nor a file that can be read" +
           (near ? "; did you mean '" + *near + "'?" : std::string()));
    }
    text = *read;
  }
  Machine machine = parseMachine(text);
  machine.nodes = nodes;
  if (nodes != 1)
    machine.name += "*" + std::to_string(nodes);
  return machine;
}

} // namespace mscclc::passes::time
