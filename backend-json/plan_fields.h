// The names of a plan's fields, level by level, in the order of writing. Reader and writer use them. plan_schema.h has
// the fields of operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mscclc::json {

#define LEVEL(Field, names) enum class Field : std::uint8_t {
#define FIELD(field, name) field,
#define END }
#include "backend-json/plan_fields.def"

#define LEVEL(Field, names) inline constexpr std::string_view names[] = {
#define FIELD(field, name) name,
#define END }
#include "backend-json/plan_fields.def"

#define LEVEL(Field, names)                                                                                            \
  constexpr std::string_view nameOf(Field field) {                                                                     \
    return names[static_cast<std::size_t>(field)];
#define FIELD(field, name)
#define END }
#include "backend-json/plan_fields.def"

/// Returns the field's bit in a set of fields of its level.
template <typename Field> constexpr std::uint32_t bitOf(Field field) {
  return 1u << static_cast<unsigned>(field);
}

} // namespace mscclc::json
