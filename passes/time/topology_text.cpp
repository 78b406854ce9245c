#include "passes/time/topology_text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <regex>
#include <sstream>
#include <vector>

namespace mscclc::passes::time {

namespace {

/// The matrix that nvidia-smi prints.
struct TopologyMatrix {
  std::vector<std::string> columns;                     ///< names of GPUs and cards
  std::map<std::string, std::vector<std::string>> rows; ///< by name; one word for each column

  const std::string &at(const std::string &row, std::size_t column) const { return rows.at(row)[column]; }
};

bool isGpu(const std::string &name) {
  return name.starts_with("GPU");
}

/// Returns the rows of the text without its marks for terminals; nothing if there is no matrix of GPUs.
std::optional<TopologyMatrix> readMatrix(std::string_view text) {
  static const std::regex marks("\x1b\\[[0-9;]*m");
  std::istringstream lines(std::regex_replace(std::string(text), marks, ""));
  TopologyMatrix matrix;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name, word;
    if (matrix.columns.empty()) {
      while (words >> word && word != "CPU")
        matrix.columns.push_back(word);
      if (!matrix.columns.empty() && matrix.columns[0] != "GPU0")
        return std::nullopt;
      continue;
    }
    if (!(words >> name) || std::ranges::find(matrix.columns, name) == matrix.columns.end())
      continue;
    std::vector<std::string> &row = matrix.rows[name];
    while (row.size() < matrix.columns.size() && words >> word)
      row.push_back(word);
    if (row.size() < matrix.columns.size())
      throw MachineError{"row '" + name + "' of the topology has " + std::to_string(row.size()) + " columns of " +
                         std::to_string(matrix.columns.size())};
  }
  for (const std::string &name : matrix.columns)
    if (isGpu(name) && !matrix.rows.contains(name))
      throw MachineError{"the topology has no row '" + name + "'"};
  return matrix.columns.empty() ? std::nullopt : std::optional(std::move(matrix));
}

/// Returns the number of links of a word as NV12; 0 for another one.
unsigned nvlinks(const std::string &word) {
  unsigned links = 0;
  if (word.starts_with("NV"))
    std::from_chars(word.data() + 2, word.data() + word.size(), links);
  return links;
}

/// Returns how far a card is by a word of the matrix: PIX is nearest.
std::size_t distance(const std::string &word) {
  static constexpr std::array<std::string_view, 5> words{"PIX", "PXB", "PHB", "NODE", "SYS"};
  return std::ranges::find(words, word) - words.begin();
}

} // namespace

std::optional<std::string> linksOfTopology(std::string_view text, const Machine &base) {
  const std::optional<TopologyMatrix> matrix = readMatrix(text);
  if (!matrix)
    return std::nullopt;
  const auto numGpus = static_cast<std::size_t>(std::ranges::count_if(matrix->columns, isGpu));
  const auto gpu = [](std::size_t number) { return "gpu" + std::to_string(number); };
  const auto links = [&](std::size_t a, std::size_t b) { return nvlinks(matrix->at("GPU" + std::to_string(a), b)); };
  nlohmann::json file{{"gpus_per_node", numGpus}, {"topology", "links"}};
  unsigned least = ~0u, most = 0, mostOfGpu = 0; // links of a pair, and of a GPU
  for (std::size_t a = 0; a < numGpus; ++a) {
    unsigned sum = 0;
    for (std::size_t b = 0; b < numGpus; ++b)
      if (a != b) {
        least = std::min(least, links(a, b));
        most = std::max(most, links(a, b));
        sum += links(a, b);
      }
    mostOfGpu = std::max(mostOfGpu, sum);
  }
  file["links"] = nlohmann::json::array();
  const auto connect = [&](const std::string &a, const std::string &b, double rate) {
    file["links"].push_back({{"ends", {a, b}}, {"rate", rate}});
  };
  if (!base.mesh && least == most && most != 0) {
    file["switches"].push_back({{"name", "nvswitch"}});
    connect("gpus", "nvswitch", base.parameters.store);
  } else {
    for (std::size_t a = 0; a < numGpus; ++a)
      for (std::size_t b = a + 1; b < numGpus; ++b)
        if (links(a, b) != 0)
          connect(gpu(a), gpu(b), base.parameters.store * links(a, b) / mostOfGpu);
  }
  file["switches"].push_back({{"name", "network"}, {"between_nodes", true}});
  std::vector<std::vector<std::size_t>> nearest(numGpus); // columns of the cards of each GPU
  std::map<std::size_t, double> users;                    // of each card
  for (std::size_t a = 0; a < numGpus; ++a) {
    const std::vector<std::string> &row = matrix->rows.at("GPU" + std::to_string(a));
    std::size_t closest = ~std::size_t{0};
    for (std::size_t column = numGpus; column < row.size(); ++column)
      closest = std::min(closest, distance(row[column]));
    for (std::size_t column = numGpus; column < row.size(); ++column)
      if (distance(row[column]) == closest) {
        nearest[a].push_back(column);
        ++users[column];
      }
  }
  for (std::size_t a = 0; a < numGpus; ++a) {
    double rate = nearest[a].empty() ? base.parameters.nic : 0;
    for (const std::size_t card : nearest[a])
      rate += base.parameters.nic / users[card];
    connect(gpu(a), "network", rate);
  }
  return file.dump();
}

} // namespace mscclc::passes::time
