#include "backend-json/find_value.h"

#include "backend-json/token_places.h"

namespace mscclc::json {

namespace {

/// Follows the path through the values that the parser meets, and skips all other values.
class Finder final : public nlohmann::json_sax<nlohmann::json> {
public:
  Finder(std::string_view text, const JsonPath &path, std::size_t known, std::size_t begin)
      : places_(text, begin), path_(path), matched_(known) {}

  std::optional<std::size_t> find() {
    places_.parse(*this, false);
    return found_;
  }

  bool null() override { return value(Opens::Nothing); }
  bool boolean(bool) override { return value(Opens::Nothing); }
  bool number_integer(number_integer_t) override { return value(Opens::Nothing); }
  bool number_unsigned(number_unsigned_t) override { return value(Opens::Nothing); }
  bool number_float(number_float_t, const string_t &) override { return value(Opens::Nothing); }
  bool string(string_t &) override { return value(Opens::Nothing); }
  bool binary(binary_t &) override { return value(Opens::Nothing); }
  bool start_object(std::size_t) override { return value(Opens::Object); }
  bool start_array(std::size_t) override { return value(Opens::List); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t, const std::string &, const nlohmann::json::exception &) override { return false; }

  bool key(string_t &name) override {
    places_.next();
    if (passedBy_ == 0 && name == path_[matched_].field) {
      ++matched_;
      onPath_ = true;
    }
    return true;
  }

private:
  enum class Opens { Nothing, Object, List };

  bool value(Opens opens) {
    places_.next();
    if (passedBy_ == 0 && inList_ && path_[matched_].index == index_++) {
      ++matched_;
      onPath_ = true;
    }
    if (passedBy_ != 0 || !onPath_) {
      passedBy_ += opens != Opens::Nothing;
      return true;
    }
    if (matched_ == path_.size()) {
      found_ = places_.here();
      return false;
    }
    onPath_ = false;
    inList_ = opens == Opens::List;
    index_ = 0;
    return opens == (path_[matched_].field.empty() ? Opens::List : Opens::Object);
  }

  /// Closes an object or a list. If it is on the path, the search ends.
  bool close() {
    places_.next();
    return passedBy_-- != 0;
  }

  TokenPlaces places_;
  const JsonPath &path_;
  std::size_t matched_;      ///< number of steps of the path to the current value, or to the list or object around it
  bool onPath_ = true;       ///< the next value is the one to which these steps lead
  bool inList_ = false;      ///< the next value is an element of a list on the path
  std::size_t index_ = 0;    ///< index of the next value in that list
  std::size_t passedBy_ = 0; ///< depth within a skipped value
  std::optional<std::size_t> found_;
};

} // namespace

std::optional<std::size_t> findValue(std::string_view text, const JsonPath &path, std::size_t known,
                                     std::size_t begin) {
  return Finder(text, path, known, begin).find();
}

} // namespace mscclc::json
