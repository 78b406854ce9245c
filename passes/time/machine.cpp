#include "passes/time/machine.h"

#include "ir/nearest_name.h"

#include "ir/diagnostics.h"
#include "ir/program.h"
#include "passes/time/json_words.h"
#include "passes/time/topology.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
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

/// Keys that a machine file may omit.
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

/// True if the value of parameter `key` was borrowed or assumed, not measured. Requires: readParameter() accepts it.
bool isUnmeasured(const json &parameters, const char *key) {
  const std::string certainty = readText(parameters[key], "certainty");
  return certainty == "borrowed" || certainty == "assumed";
}

/// Checks a number that is used as a divisor: a bandwidth in GB/s, or words in flight.
void requireDivisor(double value, const char *key) {
  if (value < 1e-3)
    fail(std::string("parameter '") + key + "' must be at least 0.001");
}

/// The longest time of a launch, in microseconds. A file with a longer time has it in another unit.
constexpr double longestLaunch = 100000;

/// The largest size of a machine file, in bytes. A larger file is something else.
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

/// Returns the rate of a link, in MB/s.
std::uint64_t readRate(const json &link) {
  constexpr double most = 100000;
  const auto rate = link.find("rate");
  if (rate == link.end() || !rate->is_number() || rate->get<double>() < 1e-3 || rate->get<double>() > most)
    fail("a link must have a 'rate' from 0.001 to 100000, in GB/s");
  return static_cast<std::uint64_t>(std::llround(rate->get<double>() * 1000));
}

/// Refuses an object with a field that is not in `known`. Without this, a misspelt field would be ignored.
void requireKnown(const json &object, const std::string &what, const std::vector<std::string> &known) {
  for (const auto &[key, value] : object.items())
    if (std::ranges::find(known, key) == known.end()) {
      const auto near = ir::nearestName(key, known);
      fail(what + " has no field '" + ir::printable(key) + "'" + (near ? "; did you mean '" + *near + "'?" : ""));
    }
}

/// Reads the switches and links of a file.
class FabricReader {
public:
  FabricReader(const json &file, std::uint32_t gpus) : file_(file) {
    fabric_.node.gpus = gpus;
    for (std::uint32_t gpu = 0; gpu < gpus; ++gpu)
      vertices_["gpu" + std::to_string(gpu)] = {gpu};
    for (std::uint32_t gpu = 0; gpu < gpus; ++gpu)
      vertices_["gpus"].push_back(gpu);
  }

  Fabric read() {
    for (const json &one : listOf("switches"))
      addSwitch(one);
    const json links = listOf("links");
    if (links.empty())
      fail(R"('topology' "links" needs 'links')");
    for (const json &one : links)
      addLink(one);
    for (const auto &[ends, rate] : rates_)
      fabric_.node.links.push_back({ends.first, ends.second, rate});
    return std::move(fabric_);
  }

private:
  json listOf(const char *key) const {
    const auto at = file_.find(key);
    if (at == file_.end())
      return json::array();
    if (!at->is_array() || at->size() > 65536)
      fail(std::string("'") + key + "' must be a list");
    return *at;
  }

  void addSwitch(const json &one) {
    const std::string name = one.is_object() ? readText(one, "name") : std::string();
    if (name.empty() || ir::printable(name) != name || vertices_.contains(name))
      fail("a switch must be an object with a 'name' of its own");
    requireKnown(one, "switch '" + name + "'", {"name", "between_nodes"});
    const auto shared = one.find("between_nodes");
    if (shared != one.end() && !shared->is_boolean())
      fail("'between_nodes' of switch '" + name + "' must be true or false");
    vertices_[name] = {fabric_.node.vertices()};
    fabric_.node.switches.push_back(name);
    fabric_.shared.push_back(shared != one.end() && shared->get<bool>());
  }

  /// A link is {"ends": [A, B], "rate": R} in both directions, or {"from": A, "to": B, "rate": R}.
  void addLink(const json &one) {
    if (!one.is_object())
      fail("a link must be an object");
    const std::uint64_t rate = readRate(one);
    const auto ends = one.find("ends");
    if (ends == one.end()) {
      requireKnown(one, "a link with 'from'", {"from", "to", "rate"});
      return connect(verticesOf(one.value("from", json())), verticesOf(one.value("to", json())), rate);
    }
    requireKnown(one, "a link with 'ends'", {"ends", "rate"});
    if (!ends->is_array() || ends->size() != 2)
      fail("'ends' of a link must be a list of two names");
    connect(verticesOf((*ends)[0]), verticesOf((*ends)[1]), rate);
    connect(verticesOf((*ends)[1]), verticesOf((*ends)[0]), rate);
  }

  void connect(const std::vector<std::uint32_t> &from, const std::vector<std::uint32_t> &to, std::uint64_t rate) {
    if (from == to && from.size() == 1)
      fail("a link must have two ends");
    for (const std::uint32_t a : from)
      for (const std::uint32_t b : to)
        if (a != b)
          rates_[{a, b}] += rate;
  }

  const std::vector<std::uint32_t> &verticesOf(const json &name) const {
    const auto at = name.is_string() ? vertices_.find(name.get<std::string>()) : vertices_.end();
    if (at == vertices_.end())
      fail("a link must name two of gpu0 to gpu" + std::to_string(fabric_.node.gpus - 1) +
           ", \"gpus\" for all of them, and the switches; " + ir::printable(name.dump()) + " is none");
    return at->second;
  }

  const json &file_;
  Fabric fabric_;
  std::map<std::string, std::vector<std::uint32_t>> vertices_;             ///< by name
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> rates_; ///< (from, to) → total rate of these links
};

} // namespace

std::vector<std::string> keysOf(const ParameterSet &parameters) {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (parameters[i])
      keys.emplace_back(parameterFields[i].key);
  return keys;
}

RankNodes::RankNodes(const ir::Program &program, const Machine &machine)
    : ranksPerNode_(program.movement.ranksPerNode != 0 ? program.movement.ranksPerNode : machine.gpusPerNode),
      nodes_(static_cast<std::uint32_t>((program.ranks.size() + ranksPerNode_ - 1) / ranksPerNode_)) {}

std::uint32_t namedNodes(const ir::Program &program) {
  const std::uint64_t ranksPerNode = program.movement.ranksPerNode;
  return ranksPerNode == 0 ? 1 : static_cast<std::uint32_t>((program.ranks.size() + ranksPerNode - 1) / ranksPerNode);
}

namespace {

/// Parses JSON. A field that an object has twice is an error.
json parseJson(std::string_view text) {
  std::vector<std::set<std::string>> fields; // of each object around the place that is read
  const auto checkOnce = [&](int, json::parse_event_t event, const json &value) {
    if (event == json::parse_event_t::object_start)
      fields.emplace_back();
    else if (event == json::parse_event_t::object_end)
      fields.pop_back();
    else if (event == json::parse_event_t::key && !fields.back().insert(value.get<std::string>()).second)
      fail("'" + ir::printable(value.get<std::string>()) + "' is given twice");
    return true;
  };
  try {
    return json::parse(text, checkOnce);
  } catch (const json::exception &error) {
    fail(wordsOf(error));
  }
}

/// Returns the text of the built-in machine `words`, or of the file with that path; nothing if there is neither.
std::optional<std::string> textOfMachine(const std::string &words) {
  const auto builtIn = std::ranges::find(builtIns, words, &BuiltIn::name);
  return builtIn != std::end(builtIns) ? std::optional(std::string(builtIn->text)) : readMachineFile(words);
}

/// Returns the machine `base` with the GPUs and links of the file `path`.
Machine withLinksOf(const std::string &base, const std::string &path) {
  const std::optional<std::string> text = textOfMachine(base), links = readMachineFile(path);
  if (!text || !links)
    fail("'" + (text ? path : base) + "' is neither a machine nor a file that can be read");
  json file = parseJson(*text);
  const std::optional<std::string> topology = linksOfTopology(*links, parseMachine(*text));
  const json over = parseJson(topology ? *topology : *links);
  if (!over.is_object())
    fail("the file of links must be an object, the text of nvidia-smi topo -m, or NCCL's topology in XML");
  file["name"] = file.value("name", base) + "@" + std::filesystem::path(path).stem().string();
  file["topology"] = "links";
  file.update(over);
  Machine machine = parseMachine(file.dump());
  if (!LinkPaths(machine.fabric).hasCommonSwitch())
    machine.parameters.multimem = machine.parameters.blockMultimem = 0;
  return machine;
}

} // namespace

Machine parseMachine(std::string_view text) {
  const json file = parseJson(text);
  if (!file.is_object() || !file.contains("parameters") || !file["parameters"].is_object())
    fail("it must be an object with 'parameters'");
  requireKnown(file, "a machine",
               {"name", "description", "gpus_per_node", "topology", "switches", "links", "multiprocessors", blocksKey,
                sharedKey, "parameters"});
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
  if (topology != "switch" && topology != "mesh" && topology != "links")
    fail(R"('topology' must be "switch", "mesh" or "links")");
  machine.mesh = topology == "mesh";
  if (topology == "links")
    machine.fabric = FabricReader(file, machine.gpusPerNode).read();
  else if (file.contains("links") || file.contains("switches"))
    fail(R"('links' and 'switches' need the 'topology' "links")");
  constexpr std::uint32_t mostLinked = 256;
  if (machine.hasLinks() && machine.gpusPerNode > mostLinked)
    fail("a node without one switch for all GPUs must have at most 256 of them");
  std::vector<std::string> known;
  for (std::size_t i = 0; i < std::size(parameterFields); ++i) {
    const ParameterField &field = parameterFields[i];
    machine.parameters.*field.member = readParameter(file["parameters"], field.key);
    machine.unmeasured[i] = isUnmeasured(file["parameters"], field.key);
    known.emplace_back(field.key);
  }
  requireKnown(file["parameters"], "'parameters'", known);
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
  file["topology"] = machine.mesh ? "mesh" : machine.isUneven() ? "links" : "switch";
  const LinkGraph &node = machine.fabric.node;
  const auto nameOf = [&](std::uint32_t vertex) {
    return vertex < node.gpus ? "gpu" + std::to_string(vertex) : node.switches[vertex - node.gpus];
  };
  for (std::size_t s = 0; s < node.switches.size(); ++s)
    file["switches"].push_back({{"name", node.switches[s]}, {"between_nodes", bool{machine.fabric.shared[s]}}});
  for (const Link &link : node.links)
    file["links"].push_back(
        {{"from", nameOf(link.from)}, {"to", nameOf(link.to)}, {"rate", static_cast<double>(link.rate) / 1000}});
  file["multiprocessors"] = machine.multiprocessors;
  file[blocksKey] = machine.blocksPerMultiprocessor;
  file[sharedKey] = machine.sharedBytes;
  for (std::size_t i = 0; i < std::size(parameterFields); ++i) {
    const ParameterField &field = parameterFields[i];
    file["parameters"][field.key] = {{"value", fourDigits(machine.parameters.*field.member)},
                                     {"source", origins[i].source},
                                     {"certainty", origins[i].certainty}};
  }
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
  const std::optional<std::string> text = textOfMachine(base);
  const std::size_t at = base.find('@');
  if (!text && at == std::string::npos) {
    std::string names;
    for (const std::string &name : builtInMachines())
      names += (names.empty() ? "" : ", ") + name;
    const auto near = ir::nearestName(base, builtInMachines());
    fail("'" + base + "' is neither a machine (" + names + ") nor a file that can be read" +
         (near ? "; did you mean '" + *near + "'?" : std::string()));
  }
  Machine machine = text ? parseMachine(*text) : withLinksOf(base.substr(0, at), base.substr(at + 1));
  machine.nodes = nodes;
  if (nodes != 1)
    machine.name += "*" + std::to_string(nodes);
  return machine;
}

} // namespace mscclc::passes::time
