#include "compiler/kernel_folder.h"

#include "compiler/diagnostics.h"
#include "compiler/files.h"
#include "compiler/outputs/outputs.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <map>
#include <tuple>

namespace mscclc::driver {
namespace {

using Json = nlohmann::json;

std::string manifestOf(const std::string &folder) {
  return (std::filesystem::path(folder) / "manifest.json").string();
}

/// A kind of call that kernels serve: the collective, the number of ranks, the number of ranks on a node, and the root.
using Call = std::tuple<std::string, std::uint64_t, std::uint64_t, std::uint64_t>;

std::string wordsOf(const Call &call) {
  const auto &[collective, ranks, perNode, root] = call;
  return collective + " of " + ir::plural(ranks, "rank") +
         (perNode != ranks ? ", " + std::to_string(perNode) + " of a node" : "") +
         (root != 0 ? ", root " + std::to_string(root) : "");
}

struct Entry {
  std::string kernel, sums;
};

/// Reads a list of kernels. Throws exceptions of the JSON library if the file is not such a list.
std::map<Call, std::vector<Entry>> readEntries(std::istream &file) {
  const Json list = Json::parse(file);
  const Json collectives = list.contains("collectives") ? list.at("collectives") : Json::array({list});
  std::map<Call, std::vector<Entry>> entries;
  for (const Json &one : collectives)
    for (const Json &entry : one.at("entries")) {
      if (entry.value("nccl", false))
        continue;
      const auto ranks = one.at("ranks").get<std::uint64_t>();
      const Call call{one.at("collective").get<std::string>(), ranks, one.value("ranks_per_node", ranks),
                      entry.value("root", std::uint64_t{0})};
      entries[call].push_back({entry.at("kernel").get<std::string>(), entry.value("sums", "")});
    }
  return entries;
}

/// Returns true if all `entries` sum in the same order, for every chunk. Otherwise reports the first difference.
bool isInvariant(const Call &call, const std::vector<Entry> &entries, ir::DiagnosticEngine &diags) {
  const ir::Where where(wordsOf(call));
  for (const Entry &entry : entries) {
    if (entry.sums == sumsDiffer) {
      diags.report(diag::kernel_not_invariant, where, {wordsOf(call), entry.kernel});
      return false;
    }
    if (entry.sums != entries[0].sums) {
      diags.report(diag::kernels_sum_apart, where,
                   {wordsOf(call), entries[0].kernel, entries[0].sums.empty() ? "nothing" : entries[0].sums,
                    entry.kernel, entry.sums.empty() ? "nothing" : entry.sums});
      return false;
    }
  }
  return true;
}

} // namespace

bool isKernelFolder(const std::string &path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error) && std::filesystem::is_regular_file(manifestOf(path), error);
}

bool compareKernels(const Options &options, ir::DiagnosticEngine &diags) {
  if (options.output->proof != Proof::IsOutput || options.outputValue != "invariant") {
    diags.report(diag::folder_not_compared, {}, {options.input});
    return false;
  }
  std::map<Call, std::vector<Entry>> entries;
  try {
    std::ifstream file(manifestOf(options.input));
    entries = readEntries(file);
  } catch (const Json::exception &error) {
    diags.report(diag::bad_manifest, {}, {manifestOf(options.input), error.what()});
    return false;
  }
  std::string text;
  for (const auto &[call, list] : entries)
    if (isInvariant(call, list, diags))
      text += wordsOf(call) + ": " + ir::plural(list.size(), "kernel") +
              (list[0].sums.empty() ? ", no sums" : ", sums: " + list[0].sums + " everywhere") + "\n";
  return writeOut(ir::printable(text, "\n"), diags) && !diags.hasErrors();
}

} // namespace mscclc::driver
