// The mscclc algorithm language: C++ that describes a collective.
//
// An algorithm is a function marked MSCCLC_ALGORITHM. The compiler runs it once; every call of the classes below adds
// an operation to the program. Classes, arguments and defaults are those of the MSCCL++ Python DSL; each doc comment
// names its counterpart there. Indices and sizes are in chunks; message sizes and loop units are in bytes.
//
//   MSCCLC_ALGORITHM void swap(int chunks = 1) {
//     CollectiveProgram program("swap", SendRecv(2, chunks, /*inplace=*/false));
//     for (int rank = 0; rank < 2; ++rank) {
//       MemoryChannel channel(1 - rank, rank);
//       channel.signal(tb(0), {.relaxed = true});
//       channel.wait(tb(0), {.sync = Sync::After, .relaxed = true}); // the other rank has started this launch
//       channel.put(Rank(1 - rank).output().slice(0), Rank(rank).input().slice(0), tb(0));
//       channel.signal(tb(0), {.sync = Sync::Before});
//       channel.wait(tb(0), {.sync = Sync::After});
//     }
//   }
//
// The headers have include guards. `#pragma once` would not recognise a precompiled header and its copy as one header.
#ifndef MSCCLC_DSL_HPP
#define MSCCLC_DSL_HPP

#include "list.hpp"

// Checks of undefined behaviour are off in these headers, because their code is correct for any arguments.
#ifdef __clang__
#pragma clang attribute push(__attribute__((always_inline)), apply_to = function)
#pragma clang attribute push(__attribute__((no_sanitize("undefined"))), apply_to = function) // Clang 14 takes one each
#endif
#include "channels.hpp"
#include "hooks.hpp"
#include "moves.hpp"
#include "note.hpp"
#include "program.hpp"
#include "rank.hpp"
#include "types.hpp"
#ifdef __clang__
#pragma clang attribute pop
#pragma clang attribute pop
#endif

namespace mscclc {

namespace detail {
/// True if values of these types can be copied and moved. Checked here, so that the precompiled headers contain the
/// result.
template <typename... T>
inline constexpr bool areValues = ((__is_constructible(T, const T &) && __is_constructible(T, T &&)) && ...);
static_assert(areValues<AllGather, AllReduce, Buffer, Chunk, ChunkList, Hook, HookOptions, Integer, MemoryChannel,
                        MoveOptions, On, Place, PlacedIndex, PortChannel, ProgramOptions, Rank, ReadReduceOptions,
                        ReduceOptions, Semaphore, SignalOptions, Text, ThreadBlock>);
} // namespace detail

// The functions of these lists are compiled into mscclc, like the functions of the classes. Those of other lists are
// compiled with the algorithm.
extern template class List<int>;
extern template class List<Buffer>;
extern template class List<Chunk>;
extern template class List<MemoryChannel>;
extern template class List<PortChannel>;
extern template class List<Rank>;
extern template class List<Semaphore>;
extern template class List<SwitchChannel>;
extern template class List<SwitchChannelView>;
extern template class List<ThreadBlock>;
extern template class List<ThreadBlockGroup>;
} // namespace mscclc

/// Marks a function as an algorithm that mscclc compiles. Its parameters (integers, bool, enums, double,
/// std::string_view) must have default values; `-P name=value` sets them.
#ifdef __clang__
#define MSCCLC_ALGORITHM __attribute__((annotate("mscclc::algorithm"), used))
#else
#define MSCCLC_ALGORITHM
#endif

#endif // MSCCLC_DSL_HPP
