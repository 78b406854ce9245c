// Reads values from a JSON text as they come, by nlohmann's SAX interface, and reports what is not as expected, with
// its path, line and column. No tree of the text is made.
#pragma once

#include "backend-json/diagnostics.h"
#include "backend-json/expected.h"
#include "backend-json/json_path.h"
#include "backend-json/token_places.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace mscclc::json {

class ValueReader final : public nlohmann::json_sax<nlohmann::json> {
public:
  /// `filename` is shown as it is. `text` must outlive the reader.
  ValueReader(std::string_view text, std::string_view filename, ir::DiagnosticEngine &engine)
      : places_(text), filename_(filename), engine_(engine) {}

  /// Reads the text as one object. Reports unknown, repeated and missing fields, and what is no JSON.
  void read(ObjectReader &root);

  /// Reports at the value that is being read.
  void error(const ir::DiagInfo &info, const std::vector<ir::DiagArg> &args = {}) { error(info, places_.here(), args); }
  /// Reports at the byte `offset`, under the current path.
  void error(const ir::DiagInfo &info, std::size_t offset, const std::vector<ir::DiagArg> &args = {}) {
    report(info, path(), offset, args);
  }
  void error(const ir::DiagInfo &info, const JsonPath &path, std::size_t offset, const std::vector<ir::DiagArg> &args) {
    report(info, path, offset, args);
  }
  /// A value whose place is known, and others are looked for from there.
  struct Anchor {
    JsonPath path;
    std::size_t begin;
  };
  /// Reports at the value that `path` leads to, which lies in that of `near`.
  void errorAt(const Anchor &near, const JsonPath &path, const ir::DiagInfo &info,
               const std::vector<ir::DiagArg> &args = {}) {
    if (!full())
      report(info, path, find(near, path), args);
  }
  /// The byte at which the value begins that `path` leads to, if it is there.
  std::optional<std::size_t> find(const Anchor &near, const JsonPath &path) const;
  /// The number at that byte; nothing if there is no whole number.
  std::optional<std::uint64_t> numberAt(std::size_t offset) const;
  /// That value, for a report of another's.
  ir::ShownPlace shownPlace(const Anchor &near, const JsonPath &path);

  /// Where the value stands that is being read; in ObjectReader::begin() and end() the object.
  JsonPath path() const;
  /// Reports nothing more, and stops reading.
  void stop() { numErrors_ = std::max(numErrors_, maxErrors); }
  /// True after so many errors that nothing more is reported.
  bool full() const { return numErrors_ >= maxErrors; }
  std::size_t numErrors() const { return numErrors_; }
  ir::DiagnosticEngine &engine() { return engine_; }
  std::string_view filename() const { return filename_; }

  // The events of nlohmann's parser; false stops it.
  bool null() override;
  bool boolean(bool value) override;
  bool number_integer(number_integer_t value) override;
  bool number_unsigned(number_unsigned_t value) override;
  bool number_float(number_float_t value, const string_t &text) override;
  bool string(string_t &value) override;
  bool binary(binary_t &value) override;
  bool start_object(std::size_t) override;
  bool key(string_t &name) override;
  bool end_object() override;
  bool start_array(std::size_t) override;
  bool end_array() override;
  bool parse_error(std::size_t position, const std::string &token, const nlohmann::json::exception &fault) override;

private:
  /// Errors after which reading stops.
  static constexpr std::size_t maxErrors = 20;
  static constexpr std::size_t nothing = ~std::size_t{0};

  /// An object or a list that is open.
  struct Frame {
    ObjectReader *object; ///< null: a list
    List list;
    std::size_t begin;
    std::size_t errorsBefore;
    std::uint32_t fields = 0;   ///< bit set: those met
    std::size_t next = 0;       ///< the field that most likely comes next
    std::size_t step = nothing; ///< field or element that is being read
  };

  Expected expected();
  template <typename Wanted, typename Take> bool scalar(std::string_view found, Take take);
  bool open(std::string_view found, bool isObject);
  bool valueEnds();
  void refuse(const Expected &expected, std::string_view found);
  void badNumber(const WholeNumber &wanted, std::string_view found);
  void reportMissing(const Frame &frame);
  void report(const ir::DiagInfo &info, const JsonPath &path, std::optional<std::size_t> offset,
              const std::vector<ir::DiagArg> &args);
  std::string placeText(const JsonPath &path, std::optional<std::size_t> offset);

  TokenPlaces places_;
  std::string filename_;
  ir::DiagnosticEngine &engine_;
  ObjectReader *root_ = nullptr;
  std::vector<Frame> frames_;
  std::size_t ignoredDepth_ = 0; ///< within a value that is read over
  bool rootRead_ = false;
  std::size_t numErrors_ = 0;
  std::size_t knownOffset_ = 0, knownLine_ = 1, knownLineStart_ = 0; ///< where the last line count ended
};

/// `text` for a message: control characters replaced, cut when long.
std::string shown(std::string_view text);

} // namespace mscclc::json
