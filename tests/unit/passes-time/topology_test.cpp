// Machines with the links of another file: a machine file, the text of nvidia-smi, NCCL's topology.
#include "catch.h"
#include "passes/time/machine.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

using namespace mscclc::passes::time;

namespace {

/// Writes a file of links, and returns the machine of `base` with them.
Machine machineWith(const std::string &base, const std::string &text) {
  const std::filesystem::path path = std::filesystem::temp_directory_path() / "mscclc-machine-test.txt";
  std::ofstream(path) << text;
  return findMachine(base + "@" + path.string());
}

/// Returns what is wrong with the file; "nothing" if it is read.
std::string faultOf(const std::string &base, const std::string &text) {
  try {
    machineWith(base, text);
  } catch (const MachineError &error) {
    return error.message;
  }
  return "nothing";
}

TEST_CASE("a machine may take its links from another file") {
  const Machine machine =
      machineWith("h100x8", R"({"gpus_per_node": 2, "links": [{"ends": ["gpu0", "gpu1"], "rate": 7}]})");
  CHECK(machine.name == "h100x8@mscclc-machine-test");
  CHECK(machine.gpusPerNode == 2);
  CHECK(machine.parameters.multimem == 0);
  CHECK(linksOf(machine).links == std::vector<Link>{{0, 1, 7000}, {1, 0, 7000}});
  CHECK(machineWith("h100x8", R"({"name": "mine", "gpus_per_node": 2, "switches": [{"name": "hub"}],
                              "links": [{"ends": ["gpus", "hub"], "rate": 7}]})")
            .parameters.multimem == 310);
  CHECK(faultOf("h100x8", "3") ==
        "the file of links must be an object, the text of nvidia-smi topo -m, or NCCL's topology in XML");
  CHECK(faultOf("h100x8", "{}") == R"('topology' "links" needs 'links')");
  CHECK(faultOf("h1", "{}") == "'h1' is neither a machine nor a file that can be read");
  CHECK_THROWS_AS(findMachine("h100x8@no-such-file"), MachineError);
}

TEST_CASE("links are read from what nvidia-smi prints") {
  // A cube of four, in which GPU 3 has fewest links; GPUs 0 and 1 share a card, and GPU 2 has two.
  const Machine cube = machineWith("h100x8", "\t\x1b[4mGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tNIC1\tNIC2\tCPU Affinity\x1b[0m\n"
                                             "GPU0\t X \tNV2\tNV1\tSYS\tPIX\tNODE\tSYS\t0-9\n"
                                             "GPU1\tNV2\t X \tNV1\tNV1\tPIX\tNODE\tSYS\t0-9\n"
                                             "GPU2\tNV1\tNV1\t X \tNV1\tSYS\tPXB\tPXB\t0-9\n"
                                             "GPU3\tSYS\tNV1\tNV1\t X \tSYS\tSYS\tSYS\t0-9\n"
                                             "NIC0\tPIX\tPIX\tSYS\tSYS\t X \tSYS\tSYS\n\nLegend:\n\n  X    = Self\n");
  CHECK(cube.gpusPerNode == 4);
  CHECK(cube.parameters.multimem == 0);
  const LinkGraph links = linksOf(cube);
  CHECK(links.links.size() == 10);
  CHECK(std::ranges::count(links.links, Link{0, 1, 185500}) == 1); // half of 371, as GPU 1 has four links
  CHECK(std::ranges::count(links.links, Link{3, 2, 92750}) == 1);
  CHECK(std::abs(networkRate(cube, 0) - 48.35 / 3) < 1e-3); // GPU 3 is as near to that card as to the others
  CHECK(std::abs(networkRate(cube, 2) - 48.35) < 1e-3);
  const Machine all = machineWith("h100x8", "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV18\t0\nGPU1\tNV18\t X \t0\n");
  CHECK(linksOf(all).switches == std::vector<std::string>{"nvswitch0"});
  CHECK(std::ranges::count(linksOf(all).links, Link{1, 2, 371000}) == 1);
  CHECK(networkRate(all, 1) == 48.35);
  CHECK_THROWS_AS(machineWith("h100x8", "\tGPU0\tGPU1\nGPU0\tX\n"), MachineError);
  CHECK_THROWS_AS(machineWith("h100x8", "\tGPU0\tGPU1\nGPU0\tX\tNV1\n"), MachineError);
  CHECK(faultOf("h100x8", "\tGPU0\tGPU2\nGPU0\tX\tNV1\nGPU2\tNV1\tX\n") ==
        "the columns of the topology must begin with all GPUs, from GPU0 on");
  CHECK(faultOf("h100x8", "\tGPU0\tGPU1\nGPU0\tX\tNV1\nGPU1\tNV1\tX\nGPU1\tNV2\tX\n") ==
        "the topology has two rows 'GPU1'");
  for (const std::string word : {"NV", "NV0", "NV-3", "NV3x", "NV577", "NV4294967295", "NV99999999999"})
    CHECK(faultOf("h100x8", "\tGPU0\tGPU1\nGPU0\tX\t" + word + "\nGPU1\tNV1\tX\n") ==
          "'" + word + "' of the topology must have a number of links from 1 to 576");
  // A mark for terminals that does not end is no mark.
  CHECK(faultOf("h100x8", "\tGPU0\tGPU1\n\x1b[" + std::string(1'000'000, '1')) == "the topology has no row 'GPU0'");
}

/// Returns a <pci> with its bus number and what is in it.
std::string pci(const std::string &bus, const std::string &inside) {
  return "<pci busid=\"0000:" + bus + ":00.0\" class=\"0x060400\" link_speed=\"32.0 GT/s PCIe\" link_width=\"16\">\n" +
         inside + "</pci>\n";
}

std::string gpu(const std::string &bus, int rank, const std::string &links) {
  return pci(bus, "<gpu dev=\"" + std::to_string(rank) + "\" sm=\"90\" rank=\"" + std::to_string(rank) +
                      "\" gdr=\"1\">\n" + links + "</gpu>\n");
}

std::string nvlink(const std::string &bus, int count, const std::string &type = "0x030200") {
  return "<nvlink target=\"0000:" + bus + ":00.0\" count=\"" + std::to_string(count) + "\" tclass=\"" + type + "\"/>\n";
}

std::string card(const std::string &bus, int speed, const std::string &more = "dev=\"0\"") {
  return pci(bus, "<nic>\n<net name=\"mlx5\" speed=\"" + std::to_string(speed) + "\" " + more + "/>\n</nic>\n");
}

std::string systemOf(const std::string &inside) {
  return "<system version=\"1\">\n<cpu host_hash=\"0x1\" numaid=\"0\" arch=\"x86_64\">\n" + inside +
         "</cpu>\n</system>\n";
}

TEST_CASE("links are read from the file that NCCL writes") {
  // Two GPUs with a PCI switch of their own and a card of 200G, two with one of 400G. Two NVSwitches, one of which the
  // host cannot see.
  const std::string links = nvlink("06", 4, "0x068000") + "<nvlink target=\"fffffff:ffff:ff\" count=\"14\"/>\n";
  const std::string text =
      "<?xml version=\"1.0\"?>\n<!-- of a job -->\n" +
      systemOf(pci("10", gpu("1b", 5, links) + card("1c", 200000) + gpu("1d", 4, links)) +
               pci("20", gpu("2b", 7, links) + gpu("2d", 6, links) + card("2c", 400000) +
                             card("2e", 400000, "dev=\"1\" net=\"0\" gin=\"1\"") + card("2f", 400000, "coll=\"1\"")) +
               "<surprise><gpu/></surprise>\n");
  const Machine machine = machineWith("h100x8", text);
  CHECK(machine.gpusPerNode == 4);
  CHECK(machine.parameters.multimem == 310);
  const LinkGraph graph = linksOf(machine);
  CHECK(graph.switches == std::vector<std::string>{"nvswitch0"});
  CHECK(graph.links.size() == 8);
  CHECK(std::ranges::count(graph.links, Link{3, 4, 371000}) == 1);
  CHECK(std::abs(networkRate(machine, 0) - 48.35 / 4) < 1e-3); // rank 4 is the first GPU
  CHECK(std::abs(networkRate(machine, 2) - 48.35 / 2) < 1e-3);

  // Direct links, in an order of ranks that is not that of the bus. Bus addresses have zeros as NVML writes them. A GPU
  // without a rank is not in the job; a target that is no GPU of the file is not, either.
  const std::string far = "<nvlink target=\"00000000:3B:00.0\" count=\"2\" tclass=\"0x030200\"/>\n";
  const Machine direct = machineWith(
      "h100x8",
      systemOf(gpu("1b", 1, nvlink("2b", 4) + far) + gpu("2b", 0, nvlink("1b", 4) + nvlink("9b", 3)) +
               gpu("3b", 2, nvlink("1b", 2) + nvlink("00", 1, "0x068001")) + pci("4b", "<gpu dev=\"3\"/>\n")));
  CHECK(direct.gpusPerNode == 3);
  CHECK(direct.parameters.multimem == 0);
  const LinkGraph mesh = linksOf(direct);
  CHECK(mesh.switches.empty());
  CHECK(mesh.links.size() == 4);
  CHECK(std::ranges::count(mesh.links, Link{0, 1, 247333}) == 1); // four of the six links of a GPU
  CHECK(std::ranges::count(mesh.links, Link{2, 1, 123667}) == 1);
  CHECK(networkRate(direct, 2) == 48.35); // no card is named, so each GPU has one

  // Links do not say what they lead to. GPUs without a rank are no switch.
  const std::string all = nvlink("1b", 4, "") + nvlink("2b", 4, "") + nvlink("3b", 4, "");
  const auto others = [&](const std::string &bus) {
    return std::string(all).replace(all.find(nvlink(bus, 4, "")), nvlink(bus, 4, "").size(), "");
  };
  const Machine pair = machineWith("h100x8", systemOf(gpu("1b", 0, others("1b")) + gpu("2b", 1, others("2b")) +
                                                      pci("3b", "<gpu>\n" + others("3b") + "</gpu>\n")));
  CHECK(linksOf(pair).switches.empty());
  CHECK(linksOf(pair).links == std::vector<Link>{{0, 1, 371000}, {1, 0, 371000}});

  // A switch without links to all GPUs cannot reduce for them.
  const Machine half = machineWith(
      "h100x8", systemOf(gpu("1b", 0, nvlink("06", 4, "0x068000") + nvlink("2b", 1)) + gpu("2b", 1, nvlink("1b", 1))));
  CHECK(linksOf(half).switches == std::vector<std::string>{"nvswitch0"});
  CHECK(half.parameters.multimem == 0);
  CHECK(half.parameters.blockMultimem == 0);

  // Ranks repeat on two hosts without numbers of ranks; a card is used on its own host, and its speed is not known.
  const auto host = [](const std::string &hash, const std::string &inside) {
    return "<cpu host_hash=\"" + hash + "\" numaid=\"0\">\n" + inside + "</cpu>\n";
  };
  const std::string one = pci("1b", "<gpu dev=\"0\">\n" + nvlink("00", 18, "0x068000") + "</gpu>\n");
  const Machine two = machineWith("gb200x72", "<system version=\"1\">\n" + host("0xa", one + card("1c", -1)) +
                                                  host("0xb", one) + "</system>\n");
  CHECK(two.gpusPerNode == 2);
  CHECK(networkRate(two, 0) == 48.35);
  CHECK(networkRate(two, 1) == 0);
}

TEST_CASE("a broken topology of NCCL is refused with its line", "[slow]") {
  const auto fault = [](const std::string &text) { return faultOf("h100x8", text); };
  const std::string good = systemOf(gpu("1b", 0, nvlink("2b", 4)) + gpu("2b", 1, nvlink("1b", 4)));
  CHECK(fault(good) == "nothing");
  CHECK(fault("<system version=\"1\">\n<cpu>\n") == "line 2: start-end tags mismatch");
  CHECK(fault("<topology/>") == "line 1: an XML file of links must be NCCL's, with <system> around all");
  CHECK(fault("\n<system/>") == "line 2: <system> must have version \"1\"");
  CHECK(fault("<system version=\"2\"/>") == "line 1: <system> must have version \"1\"");
  CHECK(fault(systemOf(pci("1b", ""))) ==
        "the topology has no <gpu>: NCCL_TOPO_DUMP_FILE makes NCCL write a file with all of them");
  CHECK(fault(systemOf("<gpu dev=\"0\"/>\n")) == "line 3: a <gpu> must be in a <pci> with its 'busid'");
  CHECK(fault(systemOf(gpu("1x", 0, ""))) == "line 4: a <gpu> must be in a <pci> with its 'busid'");
  CHECK(fault(systemOf(gpu("1b", 0, "") + gpu("1b", 1, ""))) == "line 8: another <gpu> is at the same 'busid'");
  CHECK(fault(systemOf(gpu("1b", 0, "") + gpu("2b", 0, ""))) == "two GPUs have the rank 0");
  CHECK(fault(systemOf(gpu("1b", 0, nvlink("1b", 4)))) == "line 5: an <nvlink> must lead to another device");
  CHECK(fault(systemOf(gpu("1b", 0, "<nvlink target=\"0000:2b:00.0\"/>\n"))) ==
        "line 5: an <nvlink> must have a 'count'");
  for (const char *count : {"0", "-1", "577", "4.5", "4x", "", "99999999999999999999"})
    CHECK(fault(systemOf(gpu("1b", 0, std::string("<nvlink target=\"0000:2b:00.0\" count=\"") + count + "\"/>\n"))) ==
          "line 5: 'count' of <nvlink> must be a whole number from 1 to 576");
  CHECK(fault(systemOf(card("1c", 8000001))) == "line 5: 'speed' of <net> must be a whole number from -1 to 8000000");
  std::string deep, many, cards;
  for (int i = 0; i < 10000; ++i)
    deep += "<pci>";
  CHECK(fault("<system version=\"1\">" + deep + std::string("</pci>")) == "line 1: start-end tags mismatch");
  for (int i = 0; i < 10000; ++i)
    deep += "</pci>";
  CHECK(fault("<system version=\"1\">" + deep + "</system>") == "line 1: elements are nested too deep");
  for (int i = 0; i < 257; ++i)
    many += "<pci busid=\"" + std::to_string(i) + "\"><gpu/></pci>";
  CHECK(fault(systemOf(many)) == "line 3: a node must have at most 256 GPUs");
  for (int i = 0; i < 1025; ++i)
    cards += "<net dev=\"0\"/>";
  CHECK(fault(systemOf("<nic>" + cards + "</nic>")) == "line 3: a node must have at most 1024 network cards");
  // Each beginning of a file is refused, or is no topology at all.
  for (std::size_t length = 1; length + 1 < good.size(); ++length)
    CHECK(fault(good.substr(0, length)) != "nothing");
}

} // namespace
