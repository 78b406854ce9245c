#include "ir/diagnostics.h"
#include "passes/time/topology.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <sstream>
#include <vector>

namespace mscclc::passes::time {

namespace {

/// The matrix that nvidia-smi prints.
struct TopologyMatrix {
  std::vector<std::string> columns;                     ///< names of GPUs and cards
  std::map<std::string, std::vector<std::string>> rows; ///< the row of each name, with one word for each column
};

bool isGpu(const std::string &name) {
  return name.starts_with("GPU");
}

/// Returns the text without escape sequences for terminals, such as "\x1b[4m".
std::string withoutMarks(std::string_view text) {
  std::string kept;
  while (!text.empty()) {
    const std::size_t end = text.starts_with("\x1b[") ? text.find_first_not_of("0123456789;", 2) : text.npos;
    const bool isMark = end != text.npos && text[end] == 'm';
    if (!isMark)
      kept += text[0];
    text.remove_prefix(isMark ? end + 1 : 1);
  }
  return kept;
}

/// Returns the rows of the text; nothing if there is no matrix of GPUs.
std::optional<TopologyMatrix> readMatrix(std::string_view text) {
  std::istringstream lines(withoutMarks(text));
  TopologyMatrix matrix;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name, word;
    if (matrix.columns.empty()) {
      while (words >> word && word != "CPU")
        matrix.columns.push_back(word);
      if (!matrix.columns.empty() && matrix.columns[0] != "GPU0")
        return std::nullopt;
      for (std::size_t gpu = 0; gpu < static_cast<std::size_t>(std::ranges::count_if(matrix.columns, isGpu)); ++gpu)
        if (matrix.columns[gpu] != "GPU" + std::to_string(gpu))
          throw MachineError{"the columns of the topology must begin with all GPUs, from GPU0 on"};
      continue;
    }
    if (!(words >> name) || std::ranges::find(matrix.columns, name) == matrix.columns.end())
      continue;
    if (matrix.rows.contains(name))
      throw MachineError{"the topology has two rows '" + name + "'"};
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

/// Returns the number of links that a word like NV12 gives; 0 if the word does not begin with NV.
unsigned nvlinks(const std::string &word) {
  unsigned links = 0;
  if (!word.starts_with("NV"))
    return links;
  const char *const end = word.data() + word.size();
  if (std::from_chars(word.data() + 2, end, links).ptr != end || links < 1 || links > Topology::mostLinksOfPair)
    throw MachineError{"'" + ir::printable(word.substr(0, 40)) +
                       "' of the topology must have a number of links from 1 to " +
                       std::to_string(Topology::mostLinksOfPair)};
  return links;
}

/// Returns the distance of a card that a word of the matrix gives. PIX is the nearest.
std::size_t distance(const std::string &word) {
  static constexpr std::array<std::string_view, 5> words{"PIX", "PXB", "PHB", "NODE", "SYS"};
  return std::ranges::find(words, word) - words.begin();
}

} // namespace

std::optional<Topology> readTopologyMatrix(std::string_view text, bool mayHaveSwitch) {
  const std::optional<TopologyMatrix> matrix = readMatrix(text);
  if (!matrix)
    return std::nullopt;
  const auto gpus = static_cast<std::size_t>(std::ranges::count_if(matrix->columns, isGpu));
  Topology topology(gpus);
  unsigned least = ~0u, most = 0; // fewest and most links of a pair of GPUs
  for (std::size_t a = 0; a < gpus; ++a) {
    const std::vector<std::string> &row = matrix->rows.at("GPU" + std::to_string(a));
    for (std::size_t b = 0; b < gpus; ++b)
      if (a != b) {
        topology.nvlinks[a][b] = nvlinks(row[b]);
        least = std::min(least, topology.nvlinks[a][b]);
        most = std::max(most, topology.nvlinks[a][b]);
      }
    for (std::size_t column = gpus; column < row.size(); ++column)
      topology.distances[a].push_back(distance(row[column]));
  }
  topology.cards.resize(matrix->columns.size() - gpus);
  if (mayHaveSwitch && least == most && most != 0) {
    topology.toSwitch.assign(gpus, most);
    topology.nvlinks.assign(gpus, std::vector<unsigned>(gpus));
  }
  return topology;
}

} // namespace mscclc::passes::time
