#include "manifest.h"

#include "call.h"
#include "digest.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <tuple>

namespace mscclc::nccl {
namespace {

using Json = nlohmann::json;

constexpr size_t mostBytes = size_t{4} << 20;
constexpr uint32_t mostRanks = 4096;
constexpr size_t mostTypes = 16; ///< the most types of an entry
/// The compiler writes this in place of an order, if the elements of an output are added in several orders.
constexpr const char *severalOrders = "in an order that depends on the chunk";

/// A fault in a manifest.
struct Wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Returns a member of an object; null if it is not there.
const Json *member(const Json &object, const std::string &where, const char *name) {
  if (!object.is_object())
    throw Wrong(where + " is not an object");
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

uint64_t number(const Json &object, const std::string &where, const char *name, uint64_t least, uint64_t most,
                const uint64_t *otherwise = nullptr) {
  const Json *value = member(object, where, name);
  const std::string what = where + ", \"" + name + "\"";
  if (value == nullptr && otherwise != nullptr)
    return *otherwise;
  if (value == nullptr)
    throw Wrong(what + " is missing");
  if (!value->is_number_unsigned())
    throw Wrong(what + " is not a whole number of at least 0");
  const auto number = value->get<uint64_t>();
  if (number < least || number > most)
    throw Wrong(what + " is " + std::to_string(number) + "; it must be in " + std::to_string(least) + " to " +
                std::to_string(most));
  return number;
}

std::string text(const Json &object, const std::string &where, const char *name, bool optional) {
  const Json *value = member(object, where, name);
  if (value == nullptr && optional)
    return "";
  if (value == nullptr || !value->is_string() || value->get_ref<const std::string &>().empty())
    throw Wrong(where + ", \"" + name + "\" is " + (value == nullptr ? "missing" : "not a string"));
  return value->get<std::string>();
}

/// Returns a member that is true or false; false if it is not there.
bool flag(const Json &object, const std::string &where, const char *name) {
  const Json *value = member(object, where, name);
  if (value != nullptr && !value->is_boolean())
    throw Wrong(where + ", \"" + name + "\" is not true or false");
  return value != nullptr && value->get<bool>();
}

/// Returns the path of a library, which must be within the folder. So a list cannot name files elsewhere.
std::string libraryPath(const std::string &folder, const std::string &where, const std::string &kernel) {
  if (kernel.front() == '/' || ("/" + kernel + "/").find("/../") != std::string::npos ||
      kernel.find('\0') != std::string::npos)
    throw Wrong(where + ", \"kernel\" is '" + kernel.c_str() + "'; it must be a file within the folder");
  return folder + "/" + kernel;
}

/// Reads the times of field `name`, by size, into `times`. Times that are already there stay.
void readTimes(const Json &json, const std::string &where, const char *name, std::map<uint64_t, double> &times) {
  const Json *const given = member(json, where, name);
  if (given == nullptr)
    return;
  if (!given->is_object())
    throw Wrong(where + ", \"" + name + "\" is not an object");
  for (const auto &[size, time] : given->items()) {
    if (size.empty() || size.find_first_not_of("0123456789") != std::string::npos || !time.is_number() ||
        !(time.get<double>() >= 0))
      throw Wrong(where + ", \"" + name + "\" has something other than a time by a size in bytes");
    times.emplace(std::strtoull(size.c_str(), nullptr, 10), time.get<double>());
  }
}

ManifestEntry readEntry(const Json &json, const std::string &where, const std::string &folder,
                        const ManifestEntry &ofAll) {
  const uint64_t root = 0;
  ManifestEntry entry = ofAll;
  entry.min = number(json, where, "min", 0, UINT64_MAX);
  entry.max = number(json, where, "max", 0, UINT64_MAX);
  if (entry.min > entry.max)
    throw Wrong(where + ": \"min\" is " + std::to_string(entry.min) + ", more than \"max\", which is " +
                std::to_string(entry.max));
  entry.root = static_cast<uint32_t>(number(json, where, "root", 0, entry.ranks - 1, &root));
  entry.inPlace = flag(json, where, "in_place");
  if (const Json *types = member(json, where, "types"); types != nullptr) {
    if (!types->is_array() || types->empty() || types->size() > mostTypes)
      throw Wrong(where + ", \"types\" is not a list of types");
    for (const Json &type : *types) {
      if (!type.is_string() || !isTypeName(type.get_ref<const std::string &>()))
        throw Wrong(where + ", \"types\" has " +
                    type.dump(-1, ' ', true, Json::error_handler_t::replace).substr(0, 40) + ", which is not a type");
      entry.types.push_back(type.get<std::string>());
    }
  }
  entry.isOfNccl = flag(json, where, "nccl");
  if (entry.isOfNccl && member(json, where, "kernel") != nullptr)
    throw Wrong(where + " has a kernel and is NCCL's");
  if (entry.isOfNccl)
    return entry;
  entry.kernel = libraryPath(folder, where, text(json, where, "kernel", false));
  entry.name = text(json, where, "name", true);
  entry.sha256 = text(json, where, "sha256", true);
  if (!entry.sha256.empty() &&
      (entry.sha256.size() != 64 || entry.sha256.find_first_not_of("0123456789abcdef") != std::string::npos))
    throw Wrong(where + ", \"sha256\" does not have 64 hexadecimal digits");
  entry.sums = text(json, where, "sums", true);
  if (entry.sums == severalOrders)
    entry.sums.clear();
  std::replace(entry.sums.begin(), entry.sums.end(), '*', '+'); // a kernel may do several operations
  readTimes(json, where, "measured_us", entry.times);
  readTimes(json, where, "predicted_us", entry.times);
  return entry;
}

void readCollective(const Json &json, const std::string &where, const std::string &folder, Manifest &manifest) {
  ManifestEntry ofAll;
  ofAll.collective = text(json, where, "collective", false);
  ofAll.ranks = static_cast<uint32_t>(number(json, where, "ranks", 1, mostRanks));
  const uint64_t all = ofAll.ranks;
  ofAll.ranksPerNode = static_cast<uint32_t>(number(json, where, "ranks_per_node", 1, all, &all));
  const Json *entries = member(json, where, "entries");
  if (entries == nullptr || !entries->is_array() || entries->empty())
    throw Wrong(where + ", \"entries\" is not a list of entries");
  for (size_t i = 0; i < entries->size(); ++i)
    manifest.entries.push_back(readEntry((*entries)[i], where + ", entry " + std::to_string(i + 1), folder, ofAll));
}

/// Checks that, for each type, the sizes with a kernel form one range without overlaps.
void checkRanges(const Manifest &manifest) {
  std::map<std::tuple<std::string, uint32_t, uint32_t, uint32_t, bool>, std::vector<const ManifestEntry *>> groups;
  for (const ManifestEntry &entry : manifest.entries)
    groups[{entry.collective, entry.ranks, entry.ranksPerNode, entry.root, entry.inPlace}].push_back(&entry);
  for (auto &[key, all] : groups) {
    std::map<std::string, std::vector<const ManifestEntry *>> byType;
    for (const ManifestEntry *entry : all)
      for (const std::string &type : entry->types)
        byType[type];
    byType[""]; // every other type
    for (auto &[type, taken] : byType) {
      for (const ManifestEntry *entry : all)
        if (entry->types.empty() || std::count(entry->types.begin(), entry->types.end(), type) != 0)
          taken.push_back(entry);
      std::sort(taken.begin(), taken.end(), [](const auto *a, const auto *b) { return a->min < b->min; });
      for (size_t i = 1; i < taken.size(); ++i) {
        const ManifestEntry &before = *taken[i - 1], &entry = *taken[i];
        const std::string what = entry.collective + ", " + std::to_string(entry.ranks) + " ranks" +
                                 (type.empty() ? "" : ", " + type) + ": sizes ";
        if (entry.min <= before.max)
          throw Wrong(what + std::to_string(entry.min) + " to " + std::to_string(std::min(before.max, entry.max)) +
                      " have two kernels");
        if (entry.min != before.max + 1)
          throw Wrong(what + std::to_string(before.max + 1) + " to " + std::to_string(entry.min - 1) +
                      " have no kernel, but smaller and larger ones have");
      }
    }
  }
}

void parse(const std::string &content, const std::string &folder, Manifest &manifest) {
  const Json json = Json::parse(content, nullptr, false);
  if (json.is_discarded())
    throw Wrong("it is not JSON");
  const std::string top = "the list";
  number(json, top, "version", 1, 1);
  if (const std::string size = text(json, top, "size", true); !size.empty() && size != "message")
    throw Wrong(top + ", \"size\" is '" + size + "'; only 'message' is known");
  if (const Json *collectives = member(json, top, "collectives"); collectives == nullptr) {
    readCollective(json, top, folder, manifest);
  } else {
    if (!collectives->is_array())
      throw Wrong(top + ", \"collectives\" is not a list");
    for (size_t i = 0; i < collectives->size(); ++i)
      readCollective((*collectives)[i], "collective " + std::to_string(i + 1), folder, manifest);
  }
  checkRanges(manifest);
  manifest.entries.erase(std::remove_if(manifest.entries.begin(), manifest.entries.end(),
                                        [](const ManifestEntry &entry) { return entry.isOfNccl; }),
                         manifest.entries.end());
  manifest.digest = digestOf(content);
}

} // namespace

std::string readManifest(const std::string &folder, Manifest &manifest) {
  const std::string path = folder + "/manifest.json";
  manifest = {};
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return path + " cannot be read";
  std::string content(mostBytes + 1, '\0');
  file.read(content.data(), static_cast<std::streamsize>(content.size()));
  content.resize(static_cast<size_t>(file.gcount()));
  try {
    if (content.size() > mostBytes)
      throw Wrong("it is longer than " + std::to_string(mostBytes) + " bytes");
    parse(content, folder, manifest);
    return "";
  } catch (const std::exception &error) {
    manifest = {};
    return path + ": " + error.what();
  }
}

double timeOf(const ManifestEntry &entry, uint64_t bytes) {
  if (entry.times.empty())
    return std::numeric_limits<double>::infinity();
  const auto found = entry.times.lower_bound(bytes);
  return found != entry.times.end() ? found->second : entry.times.rbegin()->second;
}

std::string orderOfCalls(const Manifest &manifest, const ManifestEntry &entry) {
  std::string order;
  for (const ManifestEntry &other : manifest.entries) {
    if (other.sums.empty() || other.collective != entry.collective || other.ranks != entry.ranks ||
        other.ranksPerNode != entry.ranksPerNode || other.root != entry.root)
      continue;
    if (!order.empty() && other.sums != order)
      return "";
    order = other.sums;
  }
  return order;
}

} // namespace mscclc::nccl
