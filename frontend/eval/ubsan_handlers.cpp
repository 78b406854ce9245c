// Handlers for code that is compiled with -fsanitize=undefined. Clang emits calls of these functions before undefined
// behaviour, with the names and layouts of compiler-rt's ubsan_handlers.h and ubsan_value.h.
#include "frontend/diagnostics.h"
#include "frontend/eval/runtime_checks.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

namespace mscclc::frontend {
namespace {

struct SourcePoint {
  const char *file;
  std::uint32_t line, column;
  operator FailurePlace() const { return {file, line, column}; }
};

struct TypeDescriptor {
  std::uint16_t kind; ///< 0: integer, 1: floating-point number, 0xffff: anything else
  std::uint16_t info; ///< integer: bit 0 is 1 if signed, the rest is log2 of the width; float: the width, in bits
  char name[1];       ///< in quotes

  bool isInteger() const { return kind == 0; }
  bool isSigned() const { return isInteger() && (info & 1) != 0; }
  unsigned bits() const { return isInteger() ? 1u << (info >> 1) : info; }
  /// Returns the name without its quotes.
  std::string_view plainName() const {
    std::string_view s = name;
    if (s.size() >= 2 && s.front() == '\'')
      s = s.substr(1, s.find('\'', 1) - 1);
    return s;
  }
};

using Handle = std::uintptr_t; ///< a value, or its address if it is wider than a word

std::string decimal(unsigned __int128 value) {
  char digits[48];
  char *p = digits + sizeof digits;
  do {
    *--p = static_cast<char>('0' + static_cast<int>(value % 10));
    value /= 10;
  } while (value != 0);
  return {p, digits + sizeof digits};
}

__int128 integerOf(const TypeDescriptor &type, Handle handle) {
  const unsigned bits = type.bits();
  if (bits > 8 * sizeof handle) {
    __int128 wide = 0;
    std::memcpy(&wide, reinterpret_cast<const void *>(handle), std::min<std::size_t>(bits / 8, sizeof wide));
    return wide;
  }
  if (!type.isSigned() || bits == 0)
    return static_cast<__int128>(handle);
  const unsigned unused = 64 - bits;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(handle) << unused) >> unused;
}

std::string text(const TypeDescriptor &type, Handle handle) {
  if (type.isInteger()) {
    const __int128 value = integerOf(type, handle);
    if (type.isSigned() && value < 0)
      return "-" + decimal(-static_cast<unsigned __int128>(value));
    return decimal(static_cast<unsigned __int128>(value));
  }
  long double value = 0;
  if (type.bits() == 32) {
    float f;
    std::memcpy(&f, &handle, sizeof f);
    value = f;
  } else if (type.bits() == 64) {
    double d;
    std::memcpy(&d, &handle, sizeof d);
    value = d;
  } else if (type.kind == 1 && handle != 0) {
    std::memcpy(&value, reinterpret_cast<const void *>(handle), sizeof value);
  } else {
    return "a value";
  }
  char digits[64];
  std::snprintf(digits, sizeof digits, "%Lg", value);
  return digits;
}

struct TypedData {
  SourcePoint at;
  const TypeDescriptor &type;
};

[[noreturn]] void overflow(const TypedData *data, const std::string &expression) {
  failRun(diag::integer_overflow, {expression, data->type.plainName()}, data->at);
}
template <char sign> [[noreturn]] void binaryOverflow(const TypedData *data, Handle a, Handle b) {
  overflow(data, text(data->type, a) + ' ' + sign + ' ' + text(data->type, b));
}
[[noreturn]] void negateOverflow(const TypedData *data, Handle a) {
  overflow(data, "-(" + text(data->type, a) + ")");
}
[[noreturn]] void divremOverflow(const TypedData *data, Handle a, Handle b) {
  if (data->type.isInteger() && integerOf(data->type, b) == 0)
    failRun(diag::division_by_zero, {text(data->type, a)}, data->at);
  binaryOverflow<'/'>(data, a, b);
}

struct ShiftData {
  SourcePoint at;
  const TypeDescriptor &left, &right;
};
[[noreturn]] void shiftOutOfBounds(const ShiftData *data, Handle left, Handle right) {
  const __int128 by = integerOf(data->right, right);
  if (by < 0 || by >= static_cast<__int128>(data->left.bits()))
    failRun(diag::shift_out_of_range, {text(data->right, right), data->left.plainName()}, data->at);
  overflow(reinterpret_cast<const TypedData *>(data), text(data->left, left) + " << " + text(data->right, right));
}

struct BoundsData {
  SourcePoint at;
  const TypeDescriptor &array, &index;
};
[[noreturn]] void outOfBounds(const BoundsData *data, Handle index) {
  failRun(diag::array_index_out_of_range, {text(data->index, index), data->array.plainName()}, data->at);
}

struct PlaceData {
  SourcePoint at;
};
template <const ir::DiagInfo &info> [[noreturn]] void reached(const PlaceData *data) {
  failRun(info, {}, data->at);
}
[[noreturn]] void arraySize(const TypedData *data, Handle size) {
  failRun(diag::bad_array_size, {text(data->type, size)}, data->at);
}

struct FloatCastData {
  SourcePoint at;
  const TypeDescriptor &from, &to;
};
[[noreturn]] void floatCast(const FloatCastData *data, Handle from) {
  failRun(diag::float_out_of_range, {text(data->from, from), data->to.plainName()}, data->at);
}
[[noreturn]] void invalidValue(const TypedData *data, Handle value) {
  failRun(diag::invalid_value, {text(data->type, value), data->type.plainName()}, data->at);
}

struct BuiltinData {
  SourcePoint at;
  unsigned char kind; ///< 0: count trailing zeros, 1: count leading zeros, 2: assumption
};
[[noreturn]] void invalidBuiltin(const BuiltinData *data) {
  failRun(data->kind == 2 ? diag::false_assumption : diag::invalid_builtin, {}, data->at);
}
struct TypeMismatchData {
  SourcePoint at;
  const TypeDescriptor &type;
  unsigned char logAlignment;
  unsigned char check;
};
/// Reports a null pointer. The other checks with this handler are off.
[[noreturn]] void typeMismatch(const TypeMismatchData *data, Handle) {
  static constexpr std::array<std::string_view, 12> checks = {"load of",
                                                              "store to",
                                                              "reference to",
                                                              "member access within",
                                                              "member call on",
                                                              "construction at",
                                                              "downcast of",
                                                              "downcast of",
                                                              "upcast of",
                                                              "cast to virtual base of",
                                                              "binding to nonnull",
                                                              "dynamic operation on"};
  const std::string_view what = data->check < checks.size() ? checks[data->check] : std::string_view("use of");
  failRun(diag::null_access, {what, data->type.plainName()}, data->at);
}

template <typename F> HostSymbol symbol(const char *name, F *f) {
  return {name, reinterpret_cast<void *>(f)};
}

} // namespace

std::span<const HostSymbol> sanitizerSymbols() {
  static const HostSymbol symbols[] = {
      symbol("__ubsan_handle_add_overflow_abort", &binaryOverflow<'+'>),
      symbol("__ubsan_handle_sub_overflow_abort", &binaryOverflow<'-'>),
      symbol("__ubsan_handle_mul_overflow_abort", &binaryOverflow<'*'>),
      symbol("__ubsan_handle_negate_overflow_abort", &negateOverflow),
      symbol("__ubsan_handle_divrem_overflow_abort", &divremOverflow),
      symbol("__ubsan_handle_shift_out_of_bounds_abort", &shiftOutOfBounds),
      symbol("__ubsan_handle_out_of_bounds_abort", &outOfBounds),
      symbol("__ubsan_handle_builtin_unreachable", &reached<diag::reached_unreachable>),
      symbol("__ubsan_handle_missing_return", &reached<diag::missing_return>),
      symbol("__ubsan_handle_vla_bound_not_positive_abort", &arraySize),
      symbol("__ubsan_handle_float_cast_overflow_abort", &floatCast),
      symbol("__ubsan_handle_load_invalid_value_abort", &invalidValue),
      symbol("__ubsan_handle_invalid_builtin_abort", &invalidBuiltin),
      symbol("__ubsan_handle_type_mismatch_v1_abort", &typeMismatch),
  };
  return symbols;
}

} // namespace mscclc::frontend
