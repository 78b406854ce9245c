// Compiles where the runtime's declarations of NCCL's interface are those of NCCL's headers.
#include "library.h"

#include <cstddef>
#include <nccl.h>
#include <nccl_device.h>
#include <type_traits>

using namespace mscclc::rt;

namespace {

template <class R, class... A, class S, class... B> constexpr bool sameCall(R (*)(A...), S (*)(B...)) {
  if constexpr (sizeof...(A) == sizeof...(B))
    return sizeof(R) == sizeof(S) && ((sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B>) && ...);
  else
    return false;
}
template <class Function> constexpr Function *typeOf(Function *) {
  return nullptr;
}

constexpr NcclLibrary ours;
static_assert(sameCall(ours.getVersion, typeOf(ncclGetVersion)));
static_assert(sameCall(ours.getErrorString, typeOf(ncclGetErrorString)));
static_assert(sameCall(ours.commCount, typeOf(ncclCommCount)));
static_assert(sameCall(ours.commUserRank, typeOf(ncclCommUserRank)));
static_assert(sameCall(ours.commCuDevice, typeOf(ncclCommCuDevice)));
static_assert(sameCall(ours.commGetAsyncError, typeOf(ncclCommGetAsyncError)));
static_assert(sameCall(ours.groupStart, typeOf(ncclGroupStart)));
static_assert(sameCall(ours.groupEnd, typeOf(ncclGroupEnd)));
static_assert(sameCall(ours.allGather, typeOf(ncclAllGather)));
static_assert(sameCall(ours.memAlloc, typeOf(ncclMemAlloc)));
static_assert(sameCall(ours.memFree, typeOf(ncclMemFree)));
static_assert(sameCall(ours.commWindowRegister, typeOf(ncclCommWindowRegister)));
static_assert(sameCall(ours.commWindowDeregister, typeOf(ncclCommWindowDeregister)));
static_assert(sameCall(ours.devCommCreate, typeOf(ncclDevCommCreate)));
static_assert(sameCall(ours.devCommDestroy, typeOf(ncclDevCommDestroy)));
static_assert(sameCall(ours.teamLsa, typeOf(static_cast<ncclTeam_t (*)(ncclComm_t)>(ncclTeamLsa))));
#if NCCL_VERSION_CODE >= 22900
static_assert(sameCall(ours.getPeerDevicePointer, typeOf(ncclGetPeerDevicePointer)));
static_assert(sameCall(ours.getLsaMultimemDevicePointer, typeOf(ncclGetLsaMultimemDevicePointer)));
#endif

static_assert(offsetof(NcclTeam, ranks) == offsetof(ncclTeam, nRanks));
static_assert(offsetof(NcclTeam, rank) == offsetof(ncclTeam, rank));
static_assert(offsetof(NcclTeam, stride) == offsetof(ncclTeam, stride));
static_assert(offsetof(NcclWindowHead, teamBase) == offsetof(ncclWindow_vidmem, lsaFlatBase));
static_assert(offsetof(NcclWindowHead, teamRank) == offsetof(ncclWindow_vidmem, lsaRank));
static_assert(offsetof(NcclWindowHead, rank) == offsetof(ncclWindow_vidmem, worldRank));
static_assert(offsetof(NcclWindowHead, stride4G) == offsetof(ncclWindow_vidmem, stride4G));
static_assert(offsetof(NcclWindowHead, multicastOffset4K) == offsetof(ncclWindow_vidmem, mcOffset4K));

static_assert(ncclInProgressResult == ncclInProgress);
static_assert(ncclBytesType == ncclUint8);
static_assert(ncclSymmetricWindow == NCCL_WIN_COLL_SYMMETRIC);
static_assert(ncclWindowAlignment == NCCL_WIN_REQUIRED_ALIGNMENT);

} // namespace
