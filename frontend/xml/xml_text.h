// An XML text with the place of each part.
#pragma once

#include "frontend/xml/findings.h"
#include "ir/source_map.h"

#include <pugixml.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mscclc::xml {

class XmlText {
public:
  /// `text` must outlive this object. Places are in the file `name` of `sources`.
  XmlText(std::string_view text, std::string_view name, ir::SourceMap &sources);
  XmlText(const XmlText &) = delete;
  XmlText &operator=(const XmlText &) = delete;

  /// Returns the only element at the top of the text; nothing after an error.
  pugi::xml_node parse(Findings &findings);
  /// Returns the place of an element's `<`.
  ir::LocId locOf(const pugi::xml_node &node);
  /// Returns the place of the name or the value of an attribute.
  ir::LocId locOf(const pugi::xml_attribute &attribute, bool value);
  ir::LocId locAt(std::size_t offset);

private:
  std::string_view text_;
  std::string parsed_; ///< a copy of the text, which the parser changes
  pugi::xml_document document_;
  ir::SourceMap &sources_;
  std::uint32_t file_;
  std::vector<std::size_t> lines_; ///< the beginning of each line
};

/// The elements `<algo>`, `<gpu>`, `<copy>`, `<tb>` and `<step>`.
enum class Element : std::uint8_t { Algo, Gpu, Copy, Block, Step };

enum class Attribute : std::uint8_t {
#define ATTRIBUTE(element, enumerator, ...) enumerator,
#include "frontend/xml/attributes.def"
};

/// Reports unknown attributes, each name once.
class UnknownAttributes {
public:
  bool isNew(std::string_view element, std::string_view name) {
    return seen_.size() < most && seen_.emplace(element, name).second;
  }

private:
  static constexpr std::size_t most = 20;
  std::set<std::pair<std::string, std::string>> seen_;
};

/// The attributes of an element. Reports attributes that are missing, unknown or repeated.
class Attributes {
public:
  Attributes(XmlText &text, Findings &findings, UnknownAttributes &unknown, const pugi::xml_node &node,
             Element element);

  bool has(Attribute which) const { return static_cast<bool>(found_[at(which)]); }
  /// Returns the attribute's value; nothing if the attribute is missing.
  std::optional<std::string_view> text(Attribute which) const;
  /// Returns a decimal number in [least, most]. Returns nothing if the attribute is missing. Reports any other value,
  /// and returns nothing.
  std::optional<std::int64_t> number(Attribute which, std::int64_t least, std::int64_t most) const;
  /// Returns the meaning of one of the words in the table. Returns nothing if the attribute is missing. Reports any
  /// other word, and returns nothing.
  template <typename T, std::size_t N>
  std::optional<T> word(Attribute which, const std::array<std::pair<std::string_view, T>, N> &words) const {
    const std::optional<std::string_view> value = text(which);
    std::string known;
    for (const auto &[word, meaning] : words) {
      if (value == word)
        return meaning;
      known.append(known.empty() ? "" : ", ").append(word);
    }
    if (value)
      findings_.report(diag::attribute_word, locOf(which), {nameOf(which), known, value->substr(0, 40)});
    return std::nullopt;
  }
  static std::string_view nameOf(Attribute which);
  /// Returns the place of the attribute's value. If the attribute is missing, returns the place of the element.
  ir::LocId locOf(Attribute which) const;
  ir::LocId loc() const { return loc_; }

private:
  std::size_t at(Attribute which) const { return static_cast<std::size_t>(which) - first_; }

  XmlText &text_;
  Findings &findings_;
  std::size_t first_ = 0; ///< number of the element's first attribute
  ir::LocId loc_;
  std::vector<pugi::xml_attribute> found_;
};

} // namespace mscclc::xml
