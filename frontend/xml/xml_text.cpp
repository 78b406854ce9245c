#include "frontend/xml/xml_text.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace mscclc::xml {

namespace {

/// The most bytes of a text. The parser takes about ten times as much memory.
constexpr std::size_t mostBytes = std::size_t{1} << 28;

struct AttributeInfo {
  Element element;
  std::string_view name;
  bool required;
};
constexpr AttributeInfo attributeInfos[] = {
#define ATTRIBUTE(element, enumerator, name, required) {Element::element, name, required},
#include "frontend/xml/attributes.def"
};
static_assert(std::ranges::is_sorted(attributeInfos, {}, &AttributeInfo::element));

} // namespace

XmlText::XmlText(std::string_view text, std::string_view name, ir::SourceMap &sources)
    : text_(text), sources_(sources), file_(sources.addFile(name)), lines_{0} {
  for (std::size_t at = text.find('\n'); at != text.npos; at = text.find('\n', at + 1))
    lines_.push_back(at + 1);
}

pugi::xml_node XmlText::parse(Findings &findings) {
  if (text_.size() > mostBytes) {
    findings.report(diag::xml_too_large, locAt(0), {ir::plural(text_.size(), "byte"), mostBytes});
    return {};
  }
  parsed_ = text_;
  // The text is read as UTF-8 whatever encoding it declares, so that offsets are those of the input. It is parsed as a
  // fragment. A fragment may have text beside the element, which is reported here.
  const unsigned options = (pugi::parse_default | pugi::parse_trim_pcdata | pugi::parse_fragment) & ~pugi::parse_eol;
  const pugi::xml_parse_result result =
      document_.load_buffer_inplace(parsed_.data(), parsed_.size(), options, pugi::encoding_utf8);
  if (!result) {
    std::string what = result.description();
    what[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(what[0])));
    findings.report(diag::xml_syntax, locAt(static_cast<std::size_t>(std::max<std::ptrdiff_t>(result.offset, 0))),
                    {what});
    return {};
  }
  if (!document_.document_element()) {
    findings.report(diag::xml_syntax, locAt(0), {"no document element found"});
    return {};
  }
  return document_.document_element();
}

ir::LocId XmlText::locAt(std::size_t offset) {
  offset = std::min(offset, text_.size());
  const auto next = std::ranges::upper_bound(lines_, offset);
  return sources_.addPlace(file_, static_cast<std::uint32_t>(next - lines_.begin()),
                           static_cast<std::uint32_t>(offset - *(next - 1)) + 1);
}

ir::LocId XmlText::locOf(const pugi::xml_node &node) {
  const std::ptrdiff_t offset = node.offset_debug(); // the offset of the element's name, which follows `<`
  const bool isElement = node.type() == pugi::node_element;
  return locAt(static_cast<std::size_t>(std::max<std::ptrdiff_t>(offset - (isElement ? 1 : 0), 0)));
}

ir::LocId XmlText::locOf(const pugi::xml_attribute &attribute, bool value) {
  return locAt(static_cast<std::size_t>((value ? attribute.value() : attribute.name()) - parsed_.data()));
}

Attributes::Attributes(XmlText &text, Findings &findings, UnknownAttributes &unknown, const pugi::xml_node &node,
                       Element element)
    : text_(text), findings_(findings), loc_(text.locOf(node)) {
  const auto known = std::ranges::equal_range(attributeInfos, element, {}, &AttributeInfo::element);
  first_ = static_cast<std::size_t>(known.begin() - attributeInfos);
  found_.resize(known.size());
  for (const pugi::xml_attribute &attribute : node.attributes()) {
    const auto which = std::ranges::find(known, std::string_view(attribute.name()), &AttributeInfo::name);
    if (which == known.end()) {
      if (unknown.isNew(node.name(), attribute.name()))
        findings.report(diag::attribute_unknown, text.locOf(attribute, false), {attribute.name(), node.name()});
      continue;
    }
    pugi::xml_attribute &found = found_[static_cast<std::size_t>(which - known.begin())];
    if (found)
      findings.report(diag::attribute_repeated, text.locOf(attribute, false), {attribute.name()});
    found = attribute;
  }
  for (std::size_t i = 0; i < known.size(); ++i)
    if (known[i].required && !found_[i])
      findings.report(diag::attribute_missing, loc_, {node.name(), known[i].name});
}

std::string_view Attributes::nameOf(Attribute which) {
  return attributeInfos[static_cast<std::size_t>(which)].name;
}

std::optional<std::string_view> Attributes::text(Attribute which) const {
  return has(which) ? std::optional<std::string_view>(found_[at(which)].value()) : std::nullopt;
}

std::optional<std::int64_t> Attributes::number(Attribute which, std::int64_t least, std::int64_t most) const {
  const std::optional<std::string_view> value = text(which);
  if (!value)
    return std::nullopt;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(value->data(), value->data() + value->size(), number);
  if (error == std::errc() && end == value->data() + value->size() && number >= least && number <= most)
    return number;
  return findings_.report(diag::attribute_number, locOf(which), {nameOf(which), least, most, value->substr(0, 40)});
}

ir::LocId Attributes::locOf(Attribute which) const {
  return has(which) ? text_.locOf(found_[at(which)], true) : loc_;
}

} // namespace mscclc::xml
