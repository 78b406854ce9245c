// Hooks: functions of one's own that are applied to data where it lies, such as the normalisation after an all-reduce.
#ifndef MSCCLC_HOOKS_HPP
#define MSCCLC_HOOKS_HPP

#include "moves.hpp"

namespace mscclc {

/// The part of the data that a hook's function takes at once. Its result for one part depends on nothing of the others.
enum class Granularity : std::uint8_t {
  Element,
  Block, ///< HookOptions::block elements
  Row,   ///< a row; the launch says how many elements it has
};

/// Options of a Hook. Arrays are named; each rank passes its own at launch. Row i of a written array belongs to row i
/// of the rank's output. The function may read any part of an array that it does not write.
struct HookOptions {
  Granularity granularity = Granularity::Element;
  /// The elements of a block.
  detail::Integer block = 0;
  /// Arrays that the function reads.
  List<detail::Text> reads = {};
  /// Arrays that it writes. So it is applied by each rank that is to have the result.
  List<detail::Text> writes = {};
  /// Arrays that the function reads, with equal contents on all ranks. If it reads only such arrays, and writes none,
  /// one rank may apply it for all.
  List<detail::Text> equal = {};
  /// The C++ type whose function `apply` a kernel calls, such as "mscclc::hooks::AddRmsNorm". <mscclc/hooks.cuh> of the
  /// runtime says what it looks like. Its last parameters are the arrays: those of `reads`, then the others of
  /// `writes`.
  detail::Text function = "";
  /// The header that declares it, which an emitted kernel includes: "mscclc/hooks/add_rms_norm.cuh".
  detail::Text header = "";
};

/// A function that the compiler does not know. The proof and --run say whether it is applied once, to the finished
/// value. Kernels call HookOptions::function; plans with hooks are refused. No Python counterpart.
class Hook {
public:
  /// `name` is its name in Collective::then.
  explicit Hook(detail::Text name, const HookOptions &options = {}, Place at = Place::here());

private:
  friend struct detail::Access;
  std::uint32_t handle_;
};

// The parameters are values, so that these functions match better than std::apply, if both namespaces are in use.

/// A movement statement: applies the hook to `chunk` of some output, once to each element, block or row. Of `options`
/// only `by`, which is the chunk's rank, and `on` can be given.
void apply(Hook hook, Chunk chunk, const MoveOptions &options = {}, Place at = Place::here());
/// An operation of the chunk's rank in thread blocks.
void apply(Hook hook, Chunk chunk, On on, Place at = Place::here());
void apply(Hook hook, Chunk chunk, ThreadBlock on, Place at = Place::here());
void apply(Hook hook, Chunk chunk, const ThreadBlockGroup &on, Place at = Place::here());

} // namespace mscclc

#endif // MSCCLC_HOOKS_HPP
