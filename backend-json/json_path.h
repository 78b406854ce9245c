// A place in a JSON text, given by the fields and indices that lead to a value.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace mscclc::json {

class JsonPath {
public:
  struct Step {
    std::string_view field; ///< empty: the step is an index
    std::size_t index = 0;
  };

  JsonPath() = default;
  /// Field names must outlive the path.
  void push(std::string_view field) { steps_[size_++] = {field, 0}; }
  void push(std::size_t index) { steps_[size_++] = {{}, index}; }

  /// Returns the path with one more step.
  template <typename S> JsonPath operator/(S step) const {
    JsonPath longer = *this;
    longer.push(step);
    return longer;
  }

  std::size_t size() const { return size_; }
  const Step &operator[](std::size_t i) const { return steps_[i]; }
  /// "$.gpus[1].threadblocks[0]"
  std::string text() const;

private:
  static constexpr std::size_t maxSteps = 16; ///< the deepest value of a plan needs 12
  std::array<Step, maxSteps> steps_;
  std::size_t size_ = 0;
};

} // namespace mscclc::json
