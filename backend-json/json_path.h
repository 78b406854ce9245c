// A place in a JSON text: the fields and indices that lead to a value.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mscclc::json {

class JsonPath {
public:
  JsonPath() = default;
  /// Field names must outlive the path.
  void push(std::string_view field) { steps_[size_++] = {field, 0}; }
  void push(std::size_t index) { steps_[size_++] = {{}, index}; }
  void pop() { --size_; }
  void setIndex(std::size_t index) { steps_[size_ - 1].index = index; }

  /// The path one step further.
  template <typename Step> JsonPath operator/(Step step) const {
    JsonPath longer = *this;
    longer.push(step);
    return longer;
  }

  /// "$.gpus[1].threadblocks[0]"
  std::string text() const;
  /// The byte at which the value of this path begins in `json`, if it is there.
  std::optional<std::size_t> find(std::string_view json) const;

private:
  struct Step {
    std::string_view field; ///< empty: an index
    std::size_t index = 0;
  };

  static constexpr std::size_t maxSteps = 16; ///< a plan's deepest value needs 12
  std::array<Step, maxSteps> steps_;
  std::size_t size_ = 0;
};

} // namespace mscclc::json
