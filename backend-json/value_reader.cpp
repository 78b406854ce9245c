#include "backend-json/value_reader.h"

#include "backend-json/find_value.h"

#include <algorithm>
#include <charconv>

namespace mscclc::json {

namespace {

/// The names of the alternatives of Expected, in their order.
constexpr std::string_view expectedNames[] = {"anything", "a number", "true or false", "a string",
                                              "a string", "a list",   "an object"};
static_assert(std::size(expectedNames) == std::variant_size_v<Expected::variant>);

/// Returns the index of `name` in `fields`; fields.size() if it is absent. The search begins at `hint`, because fields
/// are mostly in order.
std::size_t indexOf(std::span<const std::string_view> fields, std::string_view name, std::size_t hint) {
  for (std::size_t i = hint; i < fields.size(); ++i)
    if (fields[i] == name)
      return i;
  return static_cast<std::size_t>(std::find(fields.begin(), fields.end(), name) - fields.begin());
}

/// Returns the parser's text for an error. Leaves out the place, and the text that the parser has read, which may be
/// long. All versions from 3.11 on have the same words, except for an empty text.
std::string_view wordsOf(const nlohmann::json::exception &fault) {
  std::string_view text = fault.what();
  if (const std::size_t begin = text.find(" - "); begin != std::string_view::npos)
    text.remove_prefix(begin + 3);
  return text.substr(0, text.find("; last read: "));
}

} // namespace

std::string shown(std::string_view text) {
  constexpr std::size_t longest = 60;
  std::string out;
  for (const char c : text.substr(0, longest))
    out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  while (text.size() > longest && !out.empty() && (out.back() & 0x80) != 0)
    out.pop_back(); // remove the incomplete character
  return text.size() > longest ? out + "…" : out;
}

void ValueReader::read(ObjectReader &root) {
  root_ = &root;
  if (!places_.parse(*this, true))
    return;
  // The parser stops at a NUL, as at the end of a C string.
  if (const std::size_t last = places_.taken() - 1; places_.text()[last] == '\0')
    error(diag::json_syntax, last, {"text after the plan"});
}

// ---- expected values ----

Expected ValueReader::expected() {
  if (frames_.empty())
    return root_;
  Frame &frame = frames_.back();
  if (frame.object == nullptr) {
    ++frame.step;
    return frame.list.element();
  }
  return frame.step == nothing ? Ignored{} : frame.object->field(frame.step);
}

/// Reads a value without parts. Calls `take` if a `Wanted` is expected. Otherwise refuses the value.
template <typename Wanted, typename Take> bool ValueReader::scalar(std::string_view found, Take take) {
  places_.next();
  if (ignoredDepth_ != 0)
    return true;
  const Expected expected = this->expected();
  if (const auto *wanted = std::get_if<Wanted>(&expected))
    take(*wanted);
  else
    refuse(expected, found);
  return valueEnds();
}

bool ValueReader::valueEnds() {
  if (frames_.empty())
    rootRead_ = true;
  else if (frames_.back().object != nullptr)
    frames_.back().step = nothing;
  return !full();
}

void ValueReader::refuse(const Expected &expected, std::string_view found) {
  if (!std::holds_alternative<Ignored>(expected))
    error(diag::wrong_type, {expectedNames[expected.index()], found});
}

void ValueReader::badNumber(const WholeNumber &wanted, std::string_view found) {
  error(diag::bad_number, {wanted.max, found});
}

// ---- events of values ----

bool ValueReader::null() {
  return scalar<Ignored>("null", [](const Ignored &) {});
}

bool ValueReader::boolean(bool value) {
  return scalar<Truth>("true or false", [&](const Truth &wanted) { wanted.take(value); });
}

bool ValueReader::number_unsigned(number_unsigned_t value) {
  return scalar<WholeNumber>("a number", [&](const WholeNumber &wanted) {
    if (value > wanted.max)
      badNumber(wanted, "a larger one");
    else if (value < wanted.min)
      error(diag::zero);
    else
      wanted.take(value);
  });
}

/// The parser calls this for integers with a sign.
bool ValueReader::number_integer(number_integer_t) {
  return scalar<WholeNumber>("a number", [&](const WholeNumber &wanted) { badNumber(wanted, "a negative number"); });
}

/// The parser calls this for fractions, and for integers that do not fit in 64 bits.
bool ValueReader::number_float(number_float_t, const string_t &text) {
  return scalar<WholeNumber>("a number", [&](const WholeNumber &wanted) {
    const bool integer = text.find_first_not_of("0123456789") == std::string::npos;
    badNumber(wanted, text.front() == '-' ? "a negative number" : integer ? "a larger one" : "a fraction");
  });
}

bool ValueReader::string(string_t &value) {
  places_.next();
  if (ignoredDepth_ != 0)
    return true;
  const Expected expected = this->expected();
  if (const auto *text = std::get_if<Text>(&expected)) {
    text->take(value);
  } else if (const auto *word = std::get_if<Word>(&expected)) {
    const auto &words = word->words;
    const auto it = std::find(words.begin(), words.end(), value);
    if (it != words.end()) {
      word->take(static_cast<std::size_t>(it - words.begin()));
      return valueEnds();
    }
    std::string choice;
    for (const std::string_view each : words)
      choice.append(choice.empty() ? "'" : each == words.back() ? " or '" : ", '").append(each) += '\'';
    error(diag::unknown_word, {choice, shown(value)});
  } else {
    refuse(expected, "a string");
  }
  return valueEnds();
}

/// The parser never calls this, because JSON text has no binary values.
bool ValueReader::binary(binary_t &) {
  return false;
}

// ---- events of objects and lists ----

bool ValueReader::open(std::string_view found, bool isObject) {
  places_.next();
  if (ignoredDepth_ != 0) {
    ++ignoredDepth_;
    return true;
  }
  Expected expected = this->expected();
  auto *const *object = std::get_if<ObjectReader *>(&expected);
  auto *list = std::get_if<List>(&expected);
  if (isObject && object != nullptr) {
    frames_.push_back({*object, {}, places_.here(), numErrors_});
    (*object)->begin(places_.here());
  } else if (!isObject && list != nullptr) {
    frames_.push_back({nullptr, std::move(*list), places_.here(), numErrors_});
  } else {
    refuse(expected, found);
    ignoredDepth_ = 1;
  }
  return !full();
}

bool ValueReader::start_object(std::size_t) {
  return open("an object", true);
}

bool ValueReader::start_array(std::size_t) {
  return open("a list", false);
}

bool ValueReader::key(string_t &name) {
  places_.next();
  if (ignoredDepth_ != 0)
    return true;
  Frame &frame = frames_.back();
  const auto fields = frame.object->schema.fields;
  const std::size_t field = indexOf(fields, name, frame.next);
  const bool known = field < fields.size();
  if (!known || (frame.fields >> field & 1) != 0) {
    error(known ? diag::duplicate_field : diag::unknown_field, {shown(name)});
    return !full();
  }
  frame.fields |= 1u << field;
  frame.next = field + 1;
  frame.step = field;
  return true;
}

void ValueReader::reportMissing(const Frame &frame) {
  const ObjectSchema &schema = frame.object->schema;
  for (std::size_t i = 0; i < schema.fields.size(); ++i)
    if (((frame.fields | schema.optional) >> i & 1) == 0)
      error(diag::missing_field, frame.begin, {schema.fields[i]});
}

bool ValueReader::end_object() {
  places_.next();
  if (ignoredDepth_ != 0)
    return --ignoredDepth_ != 0 || valueEnds();
  const Frame &frame = frames_.back();
  reportMissing(frame);
  frame.object->end({frame.fields, frame.begin, numErrors_ == frame.errorsBefore});
  frames_.pop_back();
  return valueEnds();
}

bool ValueReader::end_array() {
  places_.next();
  if (ignoredDepth_ != 0)
    return --ignoredDepth_ != 0 || valueEnds();
  frames_.pop_back();
  return valueEnds();
}

/// Reports an error of the parser. The parser stops after this, whatever is returned. `position`: the number of bytes
/// that the parser has taken. The end of the text counts as a byte.
bool ValueReader::parse_error(std::size_t position, const std::string &token, const nlohmann::json::exception &fault) {
  constexpr int numberOverflow = 406; // the number does not fit in a double
  if (fault.id == numberOverflow) {
    number_float(0, token);
    return false;
  }
  const std::string_view text = places_.text();
  std::string_view words = wordsOf(fault);
  std::size_t offset = std::min(position - 1, text.size());
  places_.next();
  if (words.starts_with("unexpected")) // by a token that is sound, and of which this is the end
    offset = std::min(offset, places_.here());
  if (rootRead_)
    words = "text after the plan";
  else if (text.empty())
    words = "it is empty";
  else if (offset < text.size() && text[offset] == '\0')
    words = "a NUL byte";
  error(diag::json_syntax, offset, {words});
  return false;
}

// ---- places and reports ----

JsonPath ValueReader::path() const {
  JsonPath path;
  for (const Frame &frame : frames_) {
    if (frame.step == nothing)
      continue;
    if (frame.object != nullptr)
      path.push(frame.object->schema.fields[frame.step]);
    else
      path.push(frame.step);
  }
  return path;
}

std::optional<std::size_t> ValueReader::find(const Anchor &near, const JsonPath &path) const {
  return findValue(places_.text(), path, near.path.size(), near.begin);
}

std::optional<std::uint64_t> ValueReader::numberAt(std::size_t offset) const {
  std::uint64_t value = 0;
  const std::string_view text = places_.text().substr(offset);
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  return fault == std::errc() ? std::optional(value) : std::nullopt;
}

ir::ShownPlace ValueReader::shownPlace(const Anchor &near, const JsonPath &path) {
  ir::ShownPlace shown;
  shown.file = placeText(path, find(near, path));
  return shown;
}

/// Returns "plan.json:12:7: $.gpus[0]". Without `offset`, leaves out line and column.
std::string ValueReader::placeText(const JsonPath &path, std::optional<std::size_t> offset) {
  std::string place = filename_ + ":";
  if (offset) {
    if (*offset < knownOffset_) {
      knownOffset_ = knownLineStart_ = 0;
      knownLine_ = 1;
    }
    const std::string_view before = places_.text().substr(0, *offset);
    for (std::size_t at = knownOffset_; (at = before.find('\n', at)) != std::string_view::npos;) {
      knownLineStart_ = ++at;
      ++knownLine_;
    }
    knownOffset_ = *offset;
    place += std::to_string(knownLine_) + ":" + std::to_string(*offset - knownLineStart_ + 1) + ":";
  }
  return place + " " + path.text();
}

void ValueReader::report(const ir::DiagInfo &info, const JsonPath &path, std::optional<std::size_t> offset,
                         const std::vector<ir::DiagArg> &args) {
  engine_.report(info, placeText(path, offset), args);
  if (engine_.severityOf(info) == ir::Severity::Error)
    ++numErrors_;
}

} // namespace mscclc::json
