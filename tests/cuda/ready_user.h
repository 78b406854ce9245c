// What a user's kernel does with rows that are handed over by blocks (.readyRows): for experts_client, and for the
// library of the kernel, which ready_user.cuh is compiled with.
#pragma once

#include "mscclc/runtime_abi.h"

namespace mscclc::test {

/// The work of the user of a rank, in a launch. It copies the rows of the rank's experts, in blocks: those of a
/// dispatch when their words say that they are there, and those of a combine to where that reads them. All is memory of
/// the rank.
struct ReadyUser {
  uint32_t *words;
  MscclcPayload payloads[MSCCLC_MAX_PAYLOADS]; ///< arrays of rows of experts, on both sides
  const uint64_t *begins, *live;               ///< [groups]: the first row, and the number of live rows
  uint32_t groups, rows;                       ///< rows of a block
  uint64_t blocks;                             ///< of a group
  uint32_t isDispatch;
  uint32_t count;          ///< of `numbers`
  const uint32_t *numbers; ///< of a dispatch: what it writes beside rows
  uint32_t *seenNumbers;   ///< what these were when the first block was there
  uint32_t *seenLive;      ///< [groups][blocks]: what words say
};

/// Starts a kernel of a user on a stream of rank `rank` that is its own. Null: waits until those of the rank have
/// ended.
using StartUser = void(const ReadyUser *work, uint32_t rank);

} // namespace mscclc::test
