// The facts of the format are from NCCL's src/graph/xml.cc and src/graph/topo.cc.
#include "passes/time/topology.h"

#include <pugixml.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

namespace mscclc::passes::time {

namespace {

constexpr std::int64_t mostGpus = 256, mostCards = 1024;
constexpr std::int64_t mostSpeed = 8'000'000; ///< the highest speed of a card, in Mb/s
constexpr std::size_t mostDepth = 64;         ///< the deepest nesting of elements

/// A PCI device: its host, and its bus address there.
using Device = std::pair<std::string, std::uint64_t>;

/// A GPU or a card.
struct Part {
  std::string host;
  std::vector<std::size_t> path; ///< numbers of the elements on the way to the part: the CPU, then PCI devices
};

struct NvLinks {
  pugi::xml_node element;
  std::optional<Device> target; ///< nothing if the target is a device that the host cannot see
  bool isGpu = false;           ///< true if the file says that the target is a GPU
  unsigned count = 0;
};

struct Gpu {
  Part part;
  Device device;
  std::optional<std::int64_t> rank, dev;
  std::vector<NvLinks> links;
};

/// Returns a bus address such as "0000:1b:00.0" as a number. Hosts write these addresses with different numbers of
/// zeros.
std::optional<std::uint64_t> busAddress(std::string_view text) {
  std::string digits(text);
  std::erase_if(digits, [](char c) { return c == ':' || c == '.'; });
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
  return error == std::errc() && end == digits.data() + digits.size() ? std::optional(number) : std::nullopt;
}

/// Returns the distance of two parts. Below one root of PCI devices, it is the number of devices between them. It is
/// larger if they only have the CPU in common, and larger still if they only have the host in common.
std::size_t distanceOf(const Part &a, const Part &b) {
  if (a.host != b.host)
    return Topology::unreachable;
  const auto shared = static_cast<std::size_t>(std::ranges::mismatch(a.path, b.path).in1 - a.path.begin());
  return shared > 1 ? a.path.size() + b.path.size() - 2 * shared : 2 * mostDepth + (shared == 0);
}

class XmlReader {
public:
  explicit XmlReader(std::string_view text) : text_(text) {}

  Topology read() {
    pugi::xml_document document;
    const pugi::xml_parse_result result =
        document.load_buffer(text_.data(), text_.size(), pugi::parse_minimal, pugi::encoding_utf8);
    if (!result) {
      std::string what = result.description();
      what[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(what[0])));
      failAt(result.offset, what);
    }
    const pugi::xml_node system = document.document_element();
    if (std::string_view(system.name()) != "system")
      fail(system, "an XML file of links must be NCCL's, with <system> around all");
    if (number(system, "version", 0, 1 << 30) != 1)
      fail(system, "<system> must have version \"1\"");
    visit(system, {});
    return topology();
  }

private:
  [[noreturn]] void failAt(std::ptrdiff_t offset, const std::string &what) const {
    const std::string_view before = text_.substr(0, static_cast<std::size_t>(std::max<std::ptrdiff_t>(offset, 0)));
    throw MachineError{"line " + std::to_string(1 + std::ranges::count(before, '\n')) + ": " + what};
  }
  [[noreturn]] void fail(const pugi::xml_node &at, const std::string &what) const { failAt(at.offset_debug(), what); }

  /// Returns the value of an attribute as a number; nothing if the element does not have the attribute.
  std::optional<std::int64_t> number(const pugi::xml_node &at, const char *name, std::int64_t least,
                                     std::int64_t most) const {
    const pugi::xml_attribute attribute = at.attribute(name);
    if (!attribute)
      return std::nullopt;
    const std::string_view text = attribute.value();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < least || value > most)
      fail(at, "'" + std::string(name) + "' of <" + at.name() + "> must be a whole number from " +
                   std::to_string(least) + " to " + std::to_string(most));
    return value;
  }

  void visit(const pugi::xml_node &parent, const Part &inside) {
    if (inside.path.size() > mostDepth)
      fail(parent, "elements are nested too deep");
    for (const pugi::xml_node &child : parent.children()) {
      const std::string_view name = child.name();
      Part part = inside;
      if (name == "cpu")
        part.host = child.attribute("host_hash").value();
      if (name == "cpu" || name == "pci" || name == "nic") {
        part.path.push_back(numElements_++);
        visit(child, part);
      } else if (name == "gpu") {
        addGpu(child, inside);
      } else if (name == "net") {
        addCard(child, inside);
      }
    }
  }

  void addGpu(const pugi::xml_node &element, const Part &part) {
    const std::optional<std::uint64_t> address = busAddress(element.parent().attribute("busid").value());
    if (!address)
      fail(element, "a <gpu> must be in a <pci> with its 'busid'");
    Gpu gpu{.part = part,
            .device = {part.host, *address},
            .rank = number(element, "rank", -1, 1 << 30),
            .dev = number(element, "dev", -1, 1 << 30),
            .links = {}};
    if (!devices_.emplace(gpu.device, 0).second)
      fail(element, "another <gpu> is at the same 'busid'");
    for (const pugi::xml_node &child : element.children("nvlink")) {
      const std::optional<std::uint64_t> target = busAddress(child.attribute("target").value());
      const std::optional<std::int64_t> count = number(child, "count", 1, Topology::mostLinksOfPair);
      if (!count)
        fail(child, "an <nvlink> must have a 'count'");
      const std::string_view type = child.attribute("tclass").value();
      if (type != "0x068001") // links to a CPU
        gpu.links.push_back({child, target ? std::optional(Device(part.host, *target)) : std::nullopt,
                             type.starts_with("0x03"), static_cast<unsigned>(*count)});
    }
    gpus_.push_back(std::move(gpu));
    if (gpus_.size() > mostGpus)
      fail(element, "a node must have at most " + std::to_string(mostGpus) + " GPUs");
  }

  /// Adds a network card. Leaves out a card without a number, or one that is not for messages, as NCCL does.
  void addCard(const pugi::xml_node &element, const Part &part) {
    if (!element.attribute("dev") || number(element, "net", 0, 1) == 0)
      return;
    constexpr double megabits = 8000; // megabits a second in 1 GB/s
    const std::int64_t speed = number(element, "speed", -1, mostSpeed).value_or(0);
    cards_.push_back(part);
    speeds_.push_back(speed > 0 ? static_cast<double>(speed) / megabits : 0);
    if (cards_.size() > mostCards)
      fail(element, "a node must have at most " + std::to_string(mostCards) + " network cards");
  }

  /// Orders GPUs by rank. The file of a running job may also contain GPUs without a rank, which NCCL leaves out. If no
  /// GPU has a rank, GPUs are in the order of their numbers on the host.
  void order() {
    if (std::ranges::any_of(gpus_, [](const Gpu &gpu) { return gpu.rank.value_or(-1) >= 0; }))
      std::erase_if(gpus_, [](const Gpu &gpu) { return gpu.rank.value_or(-1) < 0; });
    else
      for (Gpu &gpu : gpus_)
        gpu.rank.reset();
    std::ranges::stable_sort(gpus_, {}, [](const Gpu &gpu) { return std::tie(gpu.rank, gpu.part.host, gpu.dev); });
    for (auto &[device, number] : devices_)
      number = leftOut;
    for (std::size_t at = 0; at < gpus_.size(); ++at) {
      devices_[gpus_[at].device] = at;
      if (at > 0 && gpus_[at].rank && gpus_[at].rank == gpus_[at - 1].rank)
        throw MachineError{"two GPUs have the rank " + std::to_string(*gpus_[at].rank)};
    }
  }

  Topology topology() {
    order();
    if (gpus_.empty())
      throw MachineError{"the topology has no <gpu>: NCCL_TOPO_DUMP_FILE makes NCCL write a file with all of them"};
    Topology topology(gpus_.size());
    topology.cards = std::move(speeds_);
    for (std::size_t at = 0; at < gpus_.size(); ++at) {
      for (const NvLinks &links : gpus_[at].links) {
        const auto other = links.target ? devices_.find(*links.target) : devices_.end();
        const bool isGpu = other != devices_.end();
        if (!isGpu && !links.isGpu)
          topology.toSwitch[at] += links.count;
        else if (isGpu && other->second == at)
          fail(links.element, "an <nvlink> must lead to another device");
        else if (isGpu && other->second != leftOut)
          topology.nvlinks[at][other->second] += links.count;
      }
      for (const Part &card : cards_)
        topology.distances[at].push_back(distanceOf(gpus_[at].part, card));
    }
    return topology;
  }

  std::string_view text_;
  std::size_t numElements_ = 0;
  std::vector<Gpu> gpus_;
  static constexpr std::size_t leftOut = std::numeric_limits<std::size_t>::max();
  std::map<Device, std::size_t> devices_; ///< number of each GPU; `leftOut` for a GPU without a rank
  std::vector<Part> cards_;
  std::vector<double> speeds_; ///< [card]: its speed in GB/s; 0 if not known
};

} // namespace

std::optional<Topology> readTopologyXml(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || text[first] != '<')
    return std::nullopt;
  return XmlReader(text).read();
}

} // namespace mscclc::passes::time
