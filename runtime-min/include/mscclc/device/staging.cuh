// Copies that a kernel makes between the caller's memory and the buffers of its launch (MscclcStaging). All threads of
// a rank share a copy. The blocks of a rank wait for each other after the copy of the input, and before the copy of the
// output.
#pragma once

namespace mscclc::device::detail {

/// Leaves a word unchanged.
struct Unchanged {
  template <class Word> MSCCLC_DEVICE Word operator()(const Word &word) const { return word; }
};
/// Applies F to each element of type T in a word. F takes and returns a Number<T>::Sum.
template <class T, class F> struct EachElement {
  F change;

  template <class Word> MSCCLC_DEVICE Word operator()(const Word &word) const {
    constexpr unsigned count = sizeof(Word) / sizeof(T);
    struct Elements {
      T e[count];
    };
    Elements elements = bitCast<Elements>(word);
    typename Number<T>::Sum wide[count];
    Number<T>::widen(elements.e, wide);
    MSCCLC_UNROLL
    for (unsigned i = 0; i < count; ++i)
      wide[i] = change(wide[i]);
    Number<T>::narrow(wide, elements.e);
    return bitCast<Word>(elements);
  }
};

/// Multiplies by `factor`. Integers wrap around.
template <class V> struct Times {
  V factor;
  MSCCLC_DEVICE V operator()(V v) const {
    if constexpr (std::is_integral_v<V>)
      return static_cast<V>(static_cast<uint64_t>(v) * static_cast<uint64_t>(factor));
    else
      return v * factor;
  }
};
/// Divides by `divisor`, and rounds towards zero.
template <class V> struct DividedBy {
  uint32_t divisor;
  MSCCLC_DEVICE V operator()(V v) const {
    using Small = std::conditional_t<std::is_signed_v<V>, int32_t, uint32_t>;
    using Wide = std::conditional_t<sizeof(V) == 8, V, Small>;
    return static_cast<V>(static_cast<Wide>(v) / static_cast<Wide>(divisor));
  }
};

/// Copies the words `first`, `first` + `lanes`, … below `count`. Several loads are in flight at once.
template <unsigned InFlight, class Word, class Index, class Change>
MSCCLC_DEVICE void stageWords(char *to, const char *from, Index first, Index count, Index lanes, const Change &change) {
  Index at = first;
  MSCCLC_NO_UNROLL
  for (; at + (InFlight - 1) * lanes < count; at += InFlight * lanes) {
    Word in[InFlight];
    MSCCLC_UNROLL
    for (unsigned u = 0; u < InFlight; ++u)
      in[u] = loadWord<Word>(from, at + u * lanes);
    MSCCLC_UNROLL
    for (unsigned u = 0; u < InFlight; ++u)
      storeWord<Word>(to, at + u * lanes, change(in[u]));
  }
  MSCCLC_NO_UNROLL
  for (; at < count; at += lanes)
    storeWord<Word>(to, at, change(loadWord<Word>(from, at)));
}

/// Copies this thread's share of `bytes` bytes of elements of type T. The addresses are multiples of the element size.
/// Words are as wide as both addresses allow.
template <unsigned InFlight, class T, class Change>
MSCCLC_DEVICE void stage(char *to, const char *from, uint64_t bytes, const Change &change) {
  const uint64_t lanes = uint64_t{blockCount()} * threadCount(),
                 lane = uint64_t{blockId()} * threadCount() + threadId();
  const uint64_t lowBits = reinterpret_cast<uint64_t>(to) | reinterpret_cast<uint64_t>(from);
  uint64_t done = 0;
  if (lowBits % 16 == 0) {
    stageWords<InFlight, Vec16>(to, from, lane, bytes / 16, lanes, change);
    done = bytes / 16 * 16;
  } else if constexpr (sizeof(T) < 4) {
    if (lowBits % 4 == 0) {
      stageWords<InFlight, uint32_t>(to, from, lane, bytes / 4, lanes, change);
      done = bytes / 4 * 4;
    }
  }
  stageWords<InFlight, T>(to, from, done / sizeof(T) + lane, bytes / sizeof(T), lanes, change);
}

template <class T, class Op>
constexpr bool scales =
    std::is_same_v<Op, Sum> && !std::is_same_v<T, Byte>; ///< true if MscclcScaling has a meaning for these elements

/// Returns the factor by which each element of the input is multiplied. For an average of floats, the factor is 1 /
/// `ranks`. It is applied before the elements are added, so the sum overflows only if the average does. As in NCCL, the
/// factor is rounded to the element type.
template <class T> MSCCLC_DEVICE auto factorOf(const MscclcStaging &staging, unsigned ranks) {
  using V = typename Number<T>::Sum;
  T factor[1];
  V wide[1] = {};
  if (!std::is_integral_v<V> && staging.scaling == MSCCLC_AVERAGE) {
    wide[0] = static_cast<V>(1.0 / ranks);
    Number<T>::narrow(wide, factor);
  } else if (staging.factor_at != nullptr)
    factor[0] = loadAs<T>(staging.factor_at);
  else
    memcpy(factor, &staging.factor, sizeof(T));
  Number<T>::widen(factor, wide);
  return wide[0];
}

/// Waits until all blocks of the rank have arrived here. `operation` is 0 at the beginning of a launch and 1 at its
/// end. `weight`: how many times a block counts, so that every launch counts the same number (begin.cuh).
MSCCLC_DEVICE void meetForStaging(const MscclcRankArgs &args, uint32_t operation, unsigned weight) {
  syncBlock();
  if (threadId() == 0)
    arriveAndWait(args, {MSCCLC_WAIT_STAGING, operation, MSCCLC_UNPAIRED, 0, 0}, args.staging_state,
                  blockCount() * weight, weight);
}

/// Copies the input to `to`, and then begins the rank's launch. All blocks of the rank see the whole input. A peer that
/// receives any signal of this rank sees the input, too. This holds even for relaxed signals, because every thread
/// orders the copy before its later accesses.
template <class Plan, class T, class Op>
MSCCLC_OUTLINE void stageInput(const MscclcRankArgs &args, char *to, uint64_t launch, unsigned weight) {
  const MscclcStaging &staging = args.staging;
  const char *from = static_cast<const char *>(staging.input);
  bool isScaled = false;
  if constexpr (scales<T, Op>) {
    using V = typename Number<T>::Sum;
    isScaled = staging.scaling == MSCCLC_SCALE_INPUT || (staging.scaling == MSCCLC_AVERAGE && !std::is_integral_v<V>);
    if (isScaled)
      stage<loadsInFlight<Plan>, T>(to, from, staging.input_bytes,
                                    EachElement<T, Times<V>>{{factorOf<T>(staging, Plan::ranks)}});
  }
  if (!isScaled)
    stage<loadsInFlight<Plan>, T>(to, from, staging.input_bytes, Unchanged{});
  meetForStaging(args, 0, weight);
  if (threadId() == 0) {
    if constexpr ((Plan::flags & MSCCLC_USES_MULTICAST) != 0 && Plan::packets)
      fenceAliases(); // there may be no wait between the copy and a peer's access by multicast
    launchBegins(args.rank, launch);
  }
  syncBlock();
  fenceSystem();
}

/// Copies the output from `from` when all work of the rank is done. If a wait gave up, the caller's memory stays
/// unchanged, because it may also be the input, which the caller may need to compute the result in another way. If an
/// abort comes while the blocks meet here, some blocks may already have begun to copy.
template <class Plan, class T, class Op>
MSCCLC_OUTLINE void stageOutput(const MscclcRankArgs &args, const char *from, unsigned weight) {
  const MscclcStaging &staging = args.staging;
  char *to = static_cast<char *>(staging.output);
  meetForStaging(args, 1, weight);
  syncBlock();
  if (loadRelaxed(&args.staging_state[1]) != 0)
    return;
  if constexpr (scales<T, Op> && std::is_integral_v<typename Number<T>::Sum>) {
    if (staging.scaling == MSCCLC_AVERAGE) {
      stage<loadsInFlight<Plan>, T>(to, from, staging.output_bytes, EachElement<T, DividedBy<T>>{{Plan::ranks}});
      return;
    }
  }
  stage<loadsInFlight<Plan>, T>(to, from, staging.output_bytes, Unchanged{});
}

} // namespace mscclc::device::detail
