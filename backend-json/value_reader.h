// Reads the values of a JSON text one after another, by nlohmann's SAX interface. Reports unexpected values with their
// path, line and column. No tree of the text is made.
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
  /// `filename` is shown unchanged. `text` must outlive the reader.
  ValueReader(std::string_view text, std::string_view filename, ir::DiagnosticEngine &engine)
      : places_(text), filename_(filename), engine_(engine) {}

  /// Reads the text as one object. Reports unknown, repeated and missing fields, and text that is not JSON.
  void read(ObjectReader &root);

  /// Reports an error at the value that is being read.
  void error(const ir::DiagInfo &info, const std::vector<ir::DiagArg> &args = {}) { error(info, places_.here(), args); }
  /// Reports an error at byte `offset`, with the current path.
  void error(const ir::DiagInfo &info, std::size_t offset, const std::vector<ir::DiagArg> &args = {}) {
    report(info, path(), offset, args);
  }
  void error(const ir::DiagInfo &info, const JsonPath &path, std::size_t offset, const std::vector<ir::DiagArg> &args) {
    report(info, path, offset, args);
  }
  /// A value with a known place, at which the search for the place of another value begins.
  struct Anchor {
    JsonPath path;
    std::size_t begin;
  };
  /// Reports an error at the value of `path`, which is inside the value of `near`.
  void errorAt(const Anchor &near, const JsonPath &path, const ir::DiagInfo &info,
               const std::vector<ir::DiagArg> &args = {}) {
    if (!full())
      report(info, path, find(near, path), args);
  }
  /// Returns the byte at which the value of `path` begins; nothing if there is no such value.
  std::optional<std::size_t> find(const Anchor &near, const JsonPath &path) const;
  /// Returns the number at byte `offset`; nothing if there is no whole number.
  std::optional<std::uint64_t> numberAt(std::size_t offset) const;
  /// Returns the place of the value of `path`, for a report about another value.
  ir::ShownPlace shownPlace(const Anchor &near, const JsonPath &path);

  /// Returns the path of the value that is being read. In ObjectReader::begin() and end(), this value is the object.
  JsonPath path() const;
  /// Stops reading and reporting.
  void stop() { numErrors_ = std::max(numErrors_, maxErrors); }
  /// True if there were so many errors that reporting has stopped.
  bool full() const { return numErrors_ >= maxErrors; }
  std::size_t numErrors() const { return numErrors_; }
  ir::DiagnosticEngine &engine() { return engine_; }
  std::string_view filename() const { return filename_; }

  // The events of nlohmann's parser. If an event returns false, the parser stops.
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
  /// The number of errors after which reading stops.
  static constexpr std::size_t maxErrors = 20;
  static constexpr std::size_t nothing = ~std::size_t{0};

  /// An open object or list.
  struct Frame {
    ObjectReader *object; ///< null if the frame is a list
    List list;
    std::size_t begin;
    std::size_t errorsBefore;
    std::uint32_t fields = 0;   ///< bit set of the fields that were read
    std::size_t next = 0;       ///< the field after the last one, which comes next if fields are in order
    std::size_t step = nothing; ///< the field or element that is being read
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
  std::size_t ignoredDepth_ = 0; ///< depth within a skipped value
  bool rootRead_ = false;
  std::size_t numErrors_ = 0;
  std::size_t knownOffset_ = 0, knownLine_ = 1, knownLineStart_ = 0; ///< the place up to which lines were counted
};

/// Returns `text` for a message: control characters are replaced, and long text is cut.
std::string shown(std::string_view text);

} // namespace mscclc::json
