// Hooks: the user's own functions, applied to data in place, such as the normalisation after an all-reduce.
#ifndef MSCCLC_HOOKS_HPP
#define MSCCLC_HOOKS_HPP

#include "moves.hpp"

namespace mscclc {

/// The part of the data that a hook's function processes at once. The result for one part does not depend on other
/// parts.
enum class Granularity : std::uint8_t {
  Element,
  Block, ///< HookOptions::block elements
  Row,   ///< a row; the launch says how many elements a row has
};

/// Options of a Hook. Arrays have names, and each rank passes its own arrays at launch. Row i of a written array
/// belongs to row i of the rank's output. The function may read any part of an array that it does not write.
struct HookOptions {
  Granularity granularity = Granularity::Element;
  /// The number of elements of a block.
  detail::Integer block = 0;
  /// Arrays that the function reads.
  List<detail::Text> reads = {};
  /// Arrays that the function writes. If there are any, each rank that needs the result applies the function itself.
  List<detail::Text> writes = {};
  /// Arrays that the function reads, with equal contents on all ranks. If the function uses no other arrays, one rank
  /// may apply it for all.
  List<detail::Text> equal = {};
  /// The C++ type whose function `apply` a kernel calls, such as "mscclc::hooks::AddRmsNorm". <mscclc/hooks.cuh> of the
  /// runtime describes `apply`. Its last parameters are the arrays: first those that it reads, then those that it only
  /// writes.
  detail::Text function = "";
  /// The header that declares `function`. Emitted kernels include it: "mscclc/hooks/add_rms_norm.cuh".
  detail::Text header = "";
};

/// A function that the compiler does not know. The proof and --run say whether it is applied once, to the finished
/// value. Kernels call HookOptions::function; plans with hooks are refused. No Python counterpart.
class Hook {
public:
  /// `name`: the name by which Collective::then refers to the hook.
  explicit Hook(detail::Text name, const HookOptions &options = {}, Place at = Place::here());

private:
  friend struct detail::Access;
  std::uint32_t handle_;
};

// The parameters are values, so that these functions match better than std::apply, if both namespaces are in use.

/// A movement statement: applies the hook to `chunk` of an output, once to each element, block or row. `options` can
/// only give `on`, and `by`, which must be the chunk's rank.
void apply(Hook hook, Chunk chunk, const MoveOptions &options = {}, Place at = Place::here());
/// An operation: the chunk's rank applies the hook, in the thread blocks `on`.
void apply(Hook hook, Chunk chunk, On on, Place at = Place::here());
void apply(Hook hook, Chunk chunk, ThreadBlock on, Place at = Place::here());
void apply(Hook hook, Chunk chunk, const ThreadBlockGroup &on, Place at = Place::here());

} // namespace mscclc

#endif // MSCCLC_HOOKS_HPP
