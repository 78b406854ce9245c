#include "compiler/explain_error.h"
#include "compiler/findings.h"
#include "compiler/outputs/outputs.h"
#include "compiler/version.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>

namespace mscclc::driver {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// Returns the path as a URI. A relative path gives a relative URI. Bytes that a URI cannot contain become %XX.
std::string uriOf(std::string_view path) {
  constexpr std::string_view digits = "0123456789ABCDEF", plain = "-._~/";
  std::string uri = path.starts_with('/') ? "file://" : "";
  for (const char c : path == "-" ? "stdin" : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 && (std::isalnum(byte) || plain.find(c) != plain.npos))
      uri += c;
    else
      uri.append(1, '%').append(1, digits[byte >> 4]) += digits[byte & 15];
  }
  return uri;
}

/// Returns the number of the code point at a column in bytes; both count from 1.
std::uint32_t codePointColumn(const ir::ShownPlace &place) {
  const std::string_view before = std::string_view(place.excerpt).substr(0, place.column - 1);
  const auto continued = std::ranges::count_if(before, [](char c) { return (c & 0xc0) == 0x80; });
  return place.column - static_cast<std::uint32_t>(continued);
}

OrderedJson locationOf(const ir::ShownPlace &place, const std::string &input) {
  const bool inSource = place.line != 0;
  OrderedJson region = {{"startLine", std::max(place.line, 1U)}};
  if (place.column != 0)
    region["startColumn"] = codePointColumn(place);
  if (!place.excerpt.empty())
    region["snippet"] = {{"text", place.excerpt}};
  OrderedJson location = {
      {"physicalLocation",
       {{"artifactLocation", {{"uri", uriOf(inSource ? place.file : input)}}}, {"region", std::move(region)}}}};
  if (!inSource && !place.file.empty())
    location["logicalLocations"] = OrderedJson::array({{{"fullyQualifiedName", place.file}}});
  return location;
}

/// Returns the text of a diagnostic. If its place is in words, the text begins with the place.
std::string messageOf(const ir::Diagnostic &diagnostic) {
  const bool inWords = diagnostic.place.line == 0 && !diagnostic.place.file.empty();
  return (inWords ? diagnostic.place.file + ": " : "") + diagnostic.message;
}

OrderedJson ruleOf(const std::string &name) {
  OrderedJson rule = {{"id", name}};
  if (const std::string page = pageOf(name); !page.empty())
    rule["help"] = {{"text", page}, {"markdown", page}};
  return rule;
}

OrderedJson resultOf(const Finding &finding, const std::string &rule, std::size_t ruleIndex) {
  const ir::Diagnostic &diagnostic = finding.diagnostic;
  std::string text = messageOf(diagnostic);
  if (!finding.subject.empty())
    text += " (" + finding.subject + ")";
  if (diagnostic.similar != 0)
    text += "; and " + std::to_string(diagnostic.similar) + " more like it";
  OrderedJson result = {{"ruleId", rule},
                        {"ruleIndex", ruleIndex},
                        {"level", diagnostic.severity == ir::Severity::Error     ? "error"
                                  : diagnostic.severity == ir::Severity::Warning ? "warning"
                                                                                 : "note"},
                        {"message", {{"text", std::move(text)}}},
                        {"locations", OrderedJson::array()}};
  if (!finding.input.empty()) // an error of the command line has no place
    result["locations"].push_back(locationOf(diagnostic.place, finding.input));
  for (std::size_t i = 0; i < diagnostic.notes.size(); ++i) {
    OrderedJson related = locationOf(diagnostic.notes[i].place, finding.input);
    related["id"] = i + 1;
    related["message"] = {{"text", messageOf(diagnostic.notes[i])}};
    result["relatedLocations"].push_back(std::move(related));
  }
  return result;
}

} // namespace

std::string findingsAsSarif(const std::vector<Finding> &findings, int exitCode) {
  OrderedJson results = OrderedJson::array(), rules = OrderedJson::array();
  std::vector<std::string> names;
  for (const Finding &finding : findings) {
    const std::string name = ir::kebabCase(finding.diagnostic.id);
    const auto index = static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
    if (index == names.size()) {
      names.push_back(name);
      rules.push_back(ruleOf(name));
    }
    results.push_back(resultOf(finding, name, index));
  }
  const OrderedJson driver = {{"name", "mscclc"}, {"version", version()}, {"rules", std::move(rules)}};
  return textOf(
      {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
       {"version", "2.1.0"},
       {"runs",
        OrderedJson::array(
            {{{"tool", {{"driver", driver}}},
              {"columnKind", "unicodeCodePoints"},
              {"invocations", OrderedJson::array({{{"executionSuccessful", exitCode == 0}, {"exitCode", exitCode}}})},
              {"results", std::move(results)}}})}});
}

} // namespace mscclc::driver
