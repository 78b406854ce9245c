// Machine files: those that are built in, and what is said of broken ones.
#include "catch.h"
#include "ir/diagnostics.h"
#include "ir/program.h"
#include "passes/time/machine.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace mscclc::passes::time;
using nlohmann::json;

namespace {

const std::filesystem::path machines = std::filesystem::path(MSCCLC_SOURCE_DIR) / "passes/time/machines";

std::string textOf(const std::string &name) {
  std::ifstream in(machines / (name + ".json"));
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// Returns what is wrong with the text of a machine file.
std::string faultIn(const std::string &text) {
  try {
    parseMachine(text);
  } catch (const MachineError &error) {
    return error.message;
  }
  return "nothing";
}

/// What is wrong with the file of h100x8 after `change`.
template <class Change> std::string faultAfter(Change &&change) {
  json file = json::parse(textOf("h100x8"));
  change(file);
  return faultIn(file.dump());
}

std::string faultOf(const std::string &words) {
  try {
    findMachine(words);
  } catch (const MachineError &error) {
    return error.message;
  }
  return "nothing";
}

TEST_CASE("a machine has the parameters that are borrowed or assumed") {
  CHECK(mscclc::ir::enumerate(keysOf(findMachine("h100x8").unmeasured)) ==
        "copy_depth, fence_peer, block_sync, port_push and proxy_work");
  CHECK(keysOf(ParameterSet()).empty());
  json file = json::parse(textOf("h100x8"));
  for (auto &parameter : file["parameters"])
    parameter["certainty"] = "fitted";
  CHECK(parseMachine(file.dump()).unmeasured.none());
  file["parameters"]["multimem"]["certainty"] = "borrowed";
  CHECK(mscclc::ir::enumerate(keysOf(parseMachine(file.dump()).unmeasured)) == "multimem");
}

TEST_CASE("every machine of the folder is built in, and says of each number where it is from") {
  std::vector<std::string> files;
  for (const auto &entry : std::filesystem::directory_iterator(machines))
    files.push_back(entry.path().stem());
  std::sort(files.begin(), files.end());
  CHECK(builtInMachines() == files);
  REQUIRE(files.size() >= 6);
  for (const std::string &name : files) {
    INFO(name);
    const Machine machine = findMachine(name);
    CHECK(machine.name == name);
    CHECK(machine.nodes == 1);
    CHECK(name == machine.name.substr(0, machine.name.rfind('x')) + "x" + std::to_string(machine.gpusPerNode));
    const json file = json::parse(textOf(name));
    for (const auto &[key, parameter] : file["parameters"].items()) {
      INFO(key);
      CHECK(parameter["source"].get<std::string>().size() >= 8);
      CHECK(parameter.size() == 3);
    }
    // Effective rates are below the line's, latencies those of hardware.
    const MachineParameters &p = machine.parameters;
    CHECK(std::max({p.store, p.load, p.packet, p.copyEngine, p.multimem}) <= p.link);
    CHECK(p.blockCopy < p.link);
    CHECK(std::min({p.launch, p.storeVisible, p.loadRemote}) > 0.1);
    CHECK(std::max({p.launch, p.storeVisible, p.loadRemote}) < 20);
  }
}

TEST_CASE("a machine is a name or a file, and a number of nodes") {
  const Machine two = findMachine("h100x8*2");
  CHECK(two.name == "h100x8*2");
  CHECK(two.nodes == 2);
  CHECK(two.gpus() == 16);
  CHECK(findMachine("h100x8", 3).name == "h100x8*3");
  CHECK(findMachine("h100x8*2", 3).nodes == 2);
  CHECK(findMachine((machines / "a100x8.json").string() + "*3").name == "a100x8*3");
  CHECK(findMachine("mi300x8").mesh);
  for (const std::string star : {"*", "*0", "*x", "*2x", "*-1", "*65537", "*99999999999999999999"})
    CHECK(faultOf("h100x8" + star) == "'" + star + "' must be '*' and a number of nodes from 1 to 65536");
  CHECK(faultOf("h1") ==
        "'h1' is neither a machine (a100x8, b200x8, gb200x72, h100x8, h200x8, mi300x8) nor a file that "
        "can be read");
}

TEST_CASE("ranks fill node after node, but each node that a program names is one of the machine") {
  mscclc::ir::Program program;
  program.ranks.resize(12);
  const Machine machine = findMachine("h100x8*4");
  const RankNodes filled(program, machine);
  CHECK(filled.nodes() == 2);
  CHECK(namedNodes(program) == 1);
  CHECK(filled.areTogether(0, 7));
  CHECK_FALSE(filled.areTogether(7, 8));
  program.movement.ranksPerNode = 4;
  const RankNodes named(program, machine);
  CHECK(named.nodes() == 3);
  CHECK(namedNodes(program) == 3);
  CHECK(named.areTogether(0, 3));
  CHECK_FALSE(named.areTogether(3, 4));
  CHECK(named.indexInNode(6) == 2);
}

TEST_CASE("what is wrong with a machine file is told by its key") {
  CHECK(faultAfter([](json &) {}) == "nothing");
  CHECK_THROWS_AS(parseMachine("{"), MachineError);
  for (const char *text : {"[]", "{}", "{\"parameters\": 1}", "3", "null"})
    CHECK(faultIn(text) == "it must be an object with 'parameters'");
  for (const char *key : {"name", "description", "topology"}) {
    const std::string fault = "'" + std::string(key) + "' must be a string";
    CHECK(faultAfter([&](json &file) { file.erase(key); }) == fault);
    CHECK(faultAfter([&](json &file) { file[key] = 1; }) == fault);
  }
  for (const char *name : {"\x1b[31m",
                           "\xc2\x9b"
                           "31m",
                           "a\x7f"})
    CHECK(faultAfter([&](json &file) { file["name"] = name; }) == "'name' must not have control characters");
  CHECK(faultAfter([](json &file) { file["topology"] = "ring"; }) ==
        R"('topology' must be "switch", "mesh" or "links")");
  for (const char *key : {"gpus_per_node", "multiprocessors"})
    for (const json &value : {json(0), json(-1), json(1.5), json(65537), json("8"), json(1e300), json(nullptr)})
      CHECK(faultAfter([&](json &file) { file[key] = value; }) ==
            "'" + std::string(key) + "' must be a whole number from 1 to 65536");
  for (const auto &[key, most] :
       {std::pair{"blocks_per_multiprocessor", "65536"}, std::pair{"shared_memory_per_multiprocessor", "1073741824"}}) {
    for (const json &value : {json(0), json(-1), json(1073741825), json("8")})
      CHECK(faultAfter([&](json &file) { file[key] = value; }) ==
            "'" + std::string(key) + "' must be a whole number from 1 to " + most);
    CHECK(faultAfter([&](json &file) { file.erase(key); }) == "nothing"); // as on an H100
  }
  CHECK(faultAfter([](json &file) { file["blocks_per_multiprocesor"] = 1; }) ==
        "a machine has no field 'blocks_per_multiprocesor'; did you mean 'blocks_per_multiprocessor'?");
  CHECK(faultAfter([](json &file) { file["color"] = "green"; }) == "a machine has no field 'color'");
  for (const std::string field : {"name", "nic"}) { // a field of the machine, and one of its parameters
    std::string text = textOf("h100x8");
    text.insert(text.find("\"" + field + "\""), "\"" + field + "\": 1, ");
    CHECK(faultIn(text) == "'" + field + "' is given twice");
  }
}

/// The file of h100x8 with links of its own.
json withLinks(json links, json switches = json::array()) {
  json file = json::parse(textOf("h100x8"));
  file["topology"] = "links";
  file["gpus_per_node"] = 4;
  file["switches"] = std::move(switches);
  file["links"] = std::move(links);
  return file;
}

TEST_CASE("a machine file states links and switches, and topologies make the same graph") {
  // Two pairs of GPUs, one switch for all, and a rail between nodes for GPU 0.
  const json file = withLinks({{{"ends", {"gpu0", "gpu1"}}, {"rate", 50}},
                               {{"ends", {"gpu0", "gpu1"}}, {"rate", 12.5}},
                               {{"from", "gpu2"}, {"to", "gpu3"}, {"rate", 1}},
                               {{"ends", {"gpus", "hub"}}, {"rate", 20}},
                               {{"ends", {"gpu0", "rail"}}, {"rate", 48.35}}},
                              {{{"name", "hub"}}, {{"name", "rail"}, {"between_nodes", true}}});
  Machine machine = parseMachine(file.dump());
  CHECK(machine.isUneven());
  CHECK_FALSE(machine.mesh);
  const LinkGraph one = linksOf(machine);
  CHECK(one.gpus == 4);
  CHECK(one.switches == std::vector<std::string>{"hub0"});
  CHECK(one.links == std::vector<Link>{{0, 1, 62500},
                                       {0, 4, 20000},
                                       {1, 0, 62500},
                                       {1, 4, 20000},
                                       {2, 3, 1000},
                                       {2, 4, 20000},
                                       {3, 4, 20000},
                                       {4, 0, 20000},
                                       {4, 1, 20000},
                                       {4, 2, 20000},
                                       {4, 3, 20000}});
  CHECK(networkRate(machine, 0) == 48.35);
  CHECK(networkRate(machine, 1) == 0);
  machine.nodes = 2;
  const LinkGraph two = linksOf(machine);
  CHECK(two.switches == std::vector<std::string>{"hub0", "hub1", "rail"});
  CHECK(std::ranges::count(two.links, Link{4, 10, 48350}) == 1);
  CHECK(std::ranges::count(two.links, Link{10, 0, 48350}) == 1);
  CHECK(two.links.size() == 2 * 13);
  CHECK(parseMachine(writeMachine(machine, std::vector<Provenance>(64, {"a test", "assumed"}))).fabric.node.links ==
        machine.fabric.node.links);

  const LinkGraph mesh = linksOf(findMachine("mi300x8"));
  CHECK(mesh.links.size() == 8 * 7);
  CHECK(mesh.switches.empty());
  const Machine h100 = findMachine("h100x8*2");
  const LinkGraph nodes = linksOf(h100);
  CHECK(nodes.switches == std::vector<std::string>{"switch0", "switch1", "network"});
  CHECK(std::ranges::count(nodes.links, Link{9, 17, 371000}) == 1);
  CHECK(std::ranges::count(nodes.links, Link{18, 9, 48350}) == 1);
  CHECK(nodes.links.size() == 4 * 16);
}

TEST_CASE("ways lead through switches and not through other GPUs") {
  const Machine machine = parseMachine(withLinks({{{"ends", {"gpu0", "gpu1"}}, {"rate", 50}},
                                                  {{"ends", {"gpu1", "gpu2"}}, {"rate", 50}},
                                                  {{"ends", {"gpu2", "hub"}}, {"rate", 20}},
                                                  {{"ends", {"gpu3", "hub"}}, {"rate", 20}}},
                                                 {{{"name", "hub"}}})
                                           .dump());
  const LinkPaths paths(machine.fabric);
  CHECK(paths.between(0, 1).size() == 1);
  CHECK(paths.between(0, 2).empty());
  REQUIRE(paths.between(2, 3).size() == 2);
  CHECK(paths.links()[paths.between(2, 3)[0]] == Link{2, 4, 20000});
  CHECK(paths.links()[paths.between(2, 3)[1]] == Link{4, 3, 20000});
  CHECK(paths.between(0, 3).empty());
  CHECK(paths.between(0, 99).empty());
  CHECK_FALSE(paths.hasCommonSwitch());
  CHECK_FALSE(paths.toSwitch(2));
  // The first of two switches has no link back to GPU 1.
  const LinkPaths hubs(parseMachine(withLinks({{{"ends", {"gpus", "other"}}, {"rate", 50}},
                                               {{"from", "gpus"}, {"to", "hub"}, {"rate", 20}},
                                               {{"from", "hub"}, {"to", "gpu0"}, {"rate", 20}}},
                                              {{{"name", "hub"}}, {{"name", "other"}}})
                                        .dump())
                           .fabric);
  REQUIRE(hubs.hasCommonSwitch());
  CHECK(hubs.links()[hubs.toSwitch(3).value()] == Link{3, 5, 50000});
  CHECK(hubs.links()[hubs.fromSwitch(3).value()] == Link{5, 3, 50000});
}

TEST_CASE("what is wrong with a link is told") {
  const auto fault = [](json links, json switches = json::array()) {
    return faultAfter([&](json &file) { file = withLinks(std::move(links), std::move(switches)); });
  };
  const json good = {{{"ends", {"gpu0", "gpu1"}}, {"rate", 50}}};
  CHECK(fault(good) == "nothing");
  CHECK(fault(json::array()) == R"('topology' "links" needs 'links')");
  CHECK(fault(3) == "'links' must be a list");
  CHECK(fault({3}) == "a link must be an object");
  for (const json &rate : {json(0), json(-1), json("1"), json(1e6), json(nullptr)})
    CHECK(fault({{{"ends", {"gpu0", "gpu1"}}, {"rate", rate}}}) ==
          "a link must have a 'rate' from 0.001 to 100000, in GB/s");
  CHECK(fault({{{"ends", {"gpu0"}}, {"rate", 1}}}) == "'ends' of a link must be a list of two names");
  CHECK(fault({{{"ends", {"gpu0", "gpu0"}}, {"rate", 1}}}) == "a link must have two ends");
  CHECK(fault({{{"ends", {"gpu0", "gpu1"}}, {"from", "gpu2"}, {"rate", 1}}}) ==
        "a link with 'ends' has no field 'from'");
  CHECK(fault({{{"from", "gpu0"}, {"to", "gpu1"}, {"rate", 1}, {"both", true}}}) ==
        "a link with 'from' has no field 'both'");
  CHECK(fault({{{"from", "gpu0"}, {"to", "gpu4"}, {"rate", 1}}}) ==
        "a link must name two of gpu0 to gpu3, \"gpus\" for all of them, and the switches; \"gpu4\" is none");
  for (const json &one : {json(1), json({{"name", ""}}), json({{"name", "gpu1"}}), json({{"name", "a\x1b"}})})
    CHECK(fault(good, {one}) == "a switch must be an object with a 'name' of its own");
  CHECK(fault(good, {json::object()}) == "'name' must be a string");
  CHECK(fault(good, {{{"name", "rail"}, {"between_nodes", 1}}}) ==
        "'between_nodes' of switch 'rail' must be true or false");
  CHECK(fault(good, {{{"name", "rail"}, {"between_node", true}}}) ==
        "switch 'rail' has no field 'between_node'; did you mean 'between_nodes'?");
  CHECK(faultAfter([&](json &file) { file["links"] = good; }) ==
        R"('links' and 'switches' need the 'topology' "links")");
  CHECK(faultAfter([&](json &file) {
          file = withLinks(good);
          file["gpus_per_node"] = 257;
        }) == "a node without one switch for all GPUs must have at most 256 of them");
}

TEST_CASE("what is wrong with a parameter is told by its key") {
  const auto change = [](auto &&edit) { return faultAfter([&](json &file) { edit(file["parameters"]); }); };
  const std::string missing = R"(parameter 'fence' is missing: {"value": NUMBER, "source": TEXT, "certainty": TEXT})";
  CHECK(change([](json &p) { p.erase("fence"); }) == missing);
  CHECK(change([](json &p) { p["fence"] = 0.5; }) == missing);
  for (const json &value : {json(-1), json(2e9), json("1"), json(nullptr), json::array()})
    CHECK(change([&](json &p) { p["fence"]["value"] = value; }) ==
          "parameter 'fence' must have a 'value' from 0 to 1e9");
  CHECK(change([](json &p) { p["fence"].erase("value"); }) == "parameter 'fence' must have a 'value' from 0 to 1e9");
  CHECK(change([](json &p) { p["fence"].erase("source"); }) == "'source' must be a string");
  CHECK(change([](json &p) { p["fence"]["certainty"] = 1; }) == "'certainty' must be a string");
  CHECK(change([](json &p) { p["fence"]["certainty"] = "sure"; }) ==
        "parameter 'fence' must have a 'certainty': specified, measured, derived, fitted, borrowed or assumed");
  CHECK(change([](json &p) { p["fense"] = p["fence"]; }) == "'parameters' has no field 'fense'; did you mean 'fence'?");
  for (const std::string key : {"link", "store", "load", "packet", "copy_engine", "nic", "memory", "block_copy",
                                "block_reduce", "copy_depth", "block_multimem"})
    CHECK(change([&](json &p) { p[key]["value"] = 0; }) == "parameter '" + key + "' must be at least 0.001");
  for (const std::string key : {"store", "load", "packet", "multimem", "copy_engine"})
    CHECK(change([&](json &p) { p[key]["value"] = 451; }) ==
          "parameter '" + key + "' must be at most 'link', the line rate");
  CHECK(change([](json &p) { p["launch"]["value"] = 1e6; }) ==
        "parameter 'launch' must be at most 100000, in microseconds");
  CHECK(faultAfter([](json &file) { file["topology"] = "mesh"; }) ==
        "a mesh has no switch that reduces, so 'multimem' must be 0");
  // A machine whose switch does not reduce needs no rate for it.
  CHECK(change([](json &p) { p["multimem"]["value"] = p["block_multimem"]["value"] = 0; }) == "nothing");
}

} // namespace
