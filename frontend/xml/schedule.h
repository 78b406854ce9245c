// A schedule in the form of its XML: gpus, thread blocks, steps.
#pragma once

#include "ir/program.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mscclc::xml {

enum class StepKind : std::uint8_t {
#define STEP(kind, ...) kind,
#include "frontend/xml/steps.def"
};

/// The properties of a kind of step; see steps.def.
struct StepInfo {
  std::string_view word;
  bool receives, reads, reduces, writes, sends;
};
inline constexpr std::array stepInfos{
#define STEP(kind, word, receives, reads, reduces, writes, sends)                                                      \
  StepInfo{word, receives, reads, reduces, writes, sends},
#include "frontend/xml/steps.def"
};
constexpr const StepInfo &info(StepKind kind) {
  return stepInfos[static_cast<std::size_t>(kind)];
}

/// A place of a step's chunks: a buffer of the step's gpu, and the first chunk. Step::count is their number.
struct BufferPlace {
  ir::BufferKind buffer{};
  std::uint32_t index = 0;
  friend bool operator==(const BufferPlace &, const BufferPlace &) = default;
};

/// A step that another step waits for, in the form of the XML.
struct Dependence {
  std::uint32_t block = 0; ///< number of a block of the same gpu (`depid`)
  std::uint32_t step = 0;  ///< number of a step of that block (`deps`)
};

struct Step {
  StepKind kind = StepKind::Nop;
  BufferPlace src, dst;    ///< used if the kind of step reads or writes
  std::uint32_t count = 0; ///< chunks
  std::optional<Dependence> dependence;
  bool hasWaiters = false; ///< `hasdep`: other steps may wait for it
  ir::LocId loc = ir::noLoc;
};

struct Block {
  std::optional<std::uint32_t> send, recv; ///< peers
  std::int64_t channel = 0;
  std::vector<Step> steps;
  ir::LocId loc = ir::noLoc;
};

/// A copy of a chunk of the gpu's input to a chunk of its output, before the first step (`<copy>`).
struct Copy {
  std::uint32_t input = 0, output = 0;
  ir::LocId loc = ir::noLoc;
};

struct Gpu {
  std::uint32_t inputChunks = 0, outputChunks = 0, scratchChunks = 0; ///< as stated
  std::vector<Copy> copies;
  std::vector<Block> blocks; ///< by id
  ir::LocId loc = ir::noLoc;

  std::uint32_t chunksOf(ir::BufferKind buffer) const {
    return buffer == ir::BufferKind::Input    ? inputChunks
           : buffer == ir::BufferKind::Output ? outputChunks
                                              : scratchChunks;
  }
};

struct Schedule {
  std::string name, collective;
  bool inplace = false;
  bool simple = true;           ///< `proto` is Simple
  std::uint32_t loopChunks = 1; ///< `nchunksperloop`: chunks of the longer buffer
  std::uint64_t minBytes = 0;   ///< `minBytes`
  std::uint64_t maxBytes = 0;   ///< `maxBytes`; without it, or with 0, there is no limit
  std::vector<Gpu> gpus;        ///< by id
  ir::LocId collectiveLoc = ir::noLoc, chunksLoc = ir::noLoc;
};

} // namespace mscclc::xml
