// Reads the links of a node from what tools print about it.
#pragma once

#include "passes/time/machine.h"

#include <optional>
#include <string>
#include <string_view>

namespace mscclc::passes::time {

/// Returns the fields of a machine file about GPUs, switches and links for the text of `nvidia-smi topo -m`; nothing if
/// it is another text. `base`: the machine with the payload of a GPU's NVLinks together, and of a network card.
///
/// On a machine with a switch, equal links between all pairs are links to that switch. Otherwise they lead from GPU to
/// GPU, and the GPU with the most links has the whole payload. Each GPU has the cards that are nearest to it, and GPUs
/// with the same nearest card share it. Without cards in the text, each GPU has one. Links other than NVLink are left
/// out. Throws MachineError if a row is wrong.
std::optional<std::string> linksOfTopology(std::string_view text, const Machine &base);

} // namespace mscclc::passes::time
