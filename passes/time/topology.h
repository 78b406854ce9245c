// Reads the links of a node from what tools print about it.
#pragma once

#include "passes/time/machine.h"

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mscclc::passes::time {

/// The GPUs of a node, their NVLinks and their network cards.
struct Topology {
  static constexpr std::size_t unreachable = std::numeric_limits<std::size_t>::max();
  static constexpr unsigned mostLinksOfPair = 576; ///< NCCL's limit

  std::vector<std::vector<unsigned>> nvlinks;      ///< [from][to]: number of links from GPU to GPU
  std::vector<unsigned> toSwitch;                  ///< [gpu]: number of links to the switch, and also of links back
  std::vector<double> cards;                       ///< [card]: its line rate in GB/s; 0 if not known
  std::vector<std::vector<std::size_t>> distances; ///< [gpu][card]: smaller is nearer; or `unreachable`

  explicit Topology(std::size_t gpus) : nvlinks(gpus, std::vector<unsigned>(gpus)), toSwitch(gpus), distances(gpus) {}
  std::size_t gpus() const { return toSwitch.size(); }
};

/// Reads the output of `nvidia-smi topo -m`. Returns nothing for another text. The output does not name switches: if
/// `mayHaveSwitch`, equal links between all pairs of GPUs are taken for links to a switch. Throws MachineError if a row
/// is wrong or repeated.
std::optional<Topology> readTopologyMatrix(std::string_view text, bool mayHaveSwitch);

/// Reads the file that NCCL writes for NCCL_TOPO_DUMP_FILE. Returns nothing if the text is no XML. GPUs are in the
/// order of their ranks. Links to NVSwitches become links to one switch. Unknown elements are ignored, as in NCCL.
/// Throws MachineError, with the line, if it is not such a file, or if something in it is wrong.
std::optional<Topology> readTopologyXml(std::string_view text);

/// Returns the fields of a machine file about GPUs, switches and links, for a text that one of these functions reads;
/// nothing for another text. The machine `base` gives the payload rate of a network card, and that of all NVLinks of a
/// GPU together.
///
/// The GPU with the most links has this whole payload rate. Each GPU uses the cards that are nearest to it. GPUs with
/// the same nearest card share that card. A card carries the same share of its line rate as the card of `base`. If the
/// line rate is not known, it carries the payload of the card of `base`. If the text has no cards, each GPU has one
/// card. Links other than NVLink are left out.
std::optional<std::string> linksOfTopology(std::string_view text, const Machine &base);

} // namespace mscclc::passes::time
