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
  std::vector<unsigned> toSwitch;                  ///< [gpu]: number of links to the switch, which has as many back
  std::vector<double> cards;                       ///< line rate of each card in GB/s; 0: not known
  std::vector<std::vector<std::size_t>> distances; ///< [gpu][card]: smaller is nearer, or `unreachable`

  explicit Topology(std::size_t gpus) : nvlinks(gpus, std::vector<unsigned>(gpus)), toSwitch(gpus), distances(gpus) {}
  std::size_t gpus() const { return toSwitch.size(); }
};

/// Returns what the text of `nvidia-smi topo -m` says; nothing if it is another text. It names no switches. If
/// `mayHaveSwitch`, equal links between all pairs are links to a switch. Throws MachineError if a row is wrong or
/// repeated.
std::optional<Topology> readTopologyMatrix(std::string_view text, bool mayHaveSwitch);

/// Returns what the file says that NCCL writes for NCCL_TOPO_DUMP_FILE; nothing if the text is no XML. GPUs are in the
/// order of their ranks. Links to NVSwitches are links to one switch. Throws MachineError, with the line, if it is not
/// such a file, or if something in it is wrong. Unknown elements are left out, as NCCL does.
std::optional<Topology> readTopologyXml(std::string_view text);

/// Returns the fields of a machine file about GPUs, switches and links for a text that one of these functions reads;
/// nothing if it is another text. `base`: the machine with the payload of a GPU's NVLinks together, and of a network
/// card.
///
/// The GPU with the most links has the whole payload. Each GPU has the cards that are nearest to it, and GPUs with the
/// same nearest card share it. A card has as much of its line rate as the card of `base`, or if the line rate is not
/// known, the payload of that card. Without cards in the text, each GPU has one. Links other than NVLink are left out.
std::optional<std::string> linksOfTopology(std::string_view text, const Machine &base);

} // namespace mscclc::passes::time
