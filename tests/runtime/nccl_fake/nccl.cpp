// A fake of NCCL's host interface in host memory, with those functions that the runtime's engine calls. Communicators
// meet at a board, which processes have from before they forked. There is memory that processes map from each other,
// symmetric windows, and load/store teams of NCCL_FAKE_TEAM ranks (default: all). A network between the teams has
// NCCL_FAKE_GIN contexts (default: 2; 0: no network). With NCCL_FAKE_CUDA streams are CUDA's; otherwise it uses no
// stream. If NCCL_FAKE_STUCK is set, groups never end. It reports the version NCCL_FAKE_VERSION. It is built in two
// versions: with and without the host functions for addresses. It contains nothing of NCCL except names, codes and
// layouts that its headers publish.
#include "board.h"
#include "network.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <functional>
#include <memory>
#include <set>
#include <sys/mman.h>
#include <unistd.h>

using namespace nccl_fake;

namespace {

enum Result { Success = 0, SystemError = 2, InvalidArgument = 4, InvalidUsage = 5, InProgress = 7 };

struct Team {
  int ranks, rank, stride;
};

/// ncclUniqueId.
struct UniqueId {
  char bytes[128];
};

/// Memory that other processes find by the number of this process and a file of it.
struct Allocation {
  uint64_t bytes = 0;
  int file = -1;
};
std::mutex mutex;
std::map<char *, Allocation> allocations;

/// What a rank tells the others about the memory of a window.
struct Offer {
  int process;
  int file; ///< -1: it is not of ncclMemAlloc
  uint64_t offset;
  uint64_t bytes;
};

/// Communicators do not block, and their groups never end.
bool isStuck() {
  return std::getenv("NCCL_FAKE_STUCK") != nullptr;
}

Offer offerOf(void *memory, uint64_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex);
  const auto after = allocations.upper_bound(static_cast<char *>(memory));
  if (after == allocations.begin())
    return {0, -1, 0, 0};
  const auto &[base, allocation] = *std::prev(after);
  const auto offset = static_cast<uint64_t>(static_cast<char *>(memory) - base);
  const bool inside = offset + bytes <= allocation.bytes && offset % 4096 == 0;
  return inside ? Offer{::getpid(), allocation.file, offset, bytes} : Offer{0, -1, 0, 0};
}

constexpr uint64_t stride = uint64_t{1} << 32;

} // namespace

/// The head is what kernels for NCCL 2.28 read.
struct ncclWindow_vidmem {
  void *host;
  char *teamBase;
  int teamRank;
  int rank;
  uint32_t stride4G;
  uint32_t multicastOffset4K;
  uint64_t reserved;       ///< addresses after this world's end
  std::vector<Part> parts; ///< by rank, as the network reaches them
};

struct ncclComm {
  Board *board;
  int rank;
  int ranks;
  uint64_t round = 0; ///< of the board

  int teamRanks() const {
    const char *set = std::getenv("NCCL_FAKE_TEAM");
    return set == nullptr ? ranks : std::atoi(set);
  }
  int teamFirst() const { return rank / teamRanks() * teamRanks(); }
};

namespace {

std::set<const ncclComm *> communicators; ///< that have not ended

std::atomic<bool> anyAborted{false};
std::atomic<int> gathers{0};

/// A call of a communicator that has ended is a mistake of the caller's.
void needs(const ncclComm *comm) {
  const std::lock_guard<std::mutex> lock(mutex);
  if (communicators.count(comm) != 0)
    return;
  std::fprintf(stderr, "nccl fake: a call of a communicator that has ended\n");
  std::abort();
}

/// A collective call has two halves. All ranks of a group post before any of them waits for the others.
struct Call {
  std::function<void()> post;
  std::function<int()> finish;
};
thread_local int depth = 0;
thread_local std::vector<Call> calls;

int run() {
  int result = Success;
  for (Call &call : calls)
    call.post();
  for (Call &call : calls)
    if (const int one = call.finish(); one != Success)
      result = one;
  calls.clear();
  return result;
}
/// Returns the result of a call that ends later. If NCCL_FAKE_NONBLOCKING is set, no communicator blocks.
int started() {
  return std::getenv("NCCL_FAKE_NONBLOCKING") == nullptr ? Success : InProgress;
}
int make(Call call) {
  calls.push_back(std::move(call));
  return depth == 0 ? run() : started();
}

/// Maps memory that a rank has offered; at any address if `at` is null.
void *map(const Offer &offer, void *at) {
  const std::string path = "/proc/" + std::to_string(offer.process) + "/fd/" + std::to_string(offer.file);
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  void *mapped = ::mmap(at, offer.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | (at == nullptr ? 0 : MAP_FIXED), file,
                        static_cast<off_t>(offer.offset));
  ::close(file);
  return mapped;
}

int mapAll(const std::vector<Offer> &offers, std::vector<Part> &parts) {
  for (const Offer &offer : offers) {
    void *mapped = map(offer, nullptr);
    if (mapped == MAP_FAILED)
      return SystemError;
    parts.push_back({static_cast<char *>(mapped), offer.bytes});
  }
  return Success;
}

/// Maps the parts of the team's ranks one after another, `stride` apart.
int mapWindow(const ncclComm &comm, const std::vector<Offer> &offers, ncclWindow_vidmem *&window) {
  for (const Offer &offer : offers)
    if (offer.file < 0)
      return Success; // NCCL makes no window, and says so by its handle alone
  const auto bytes = stride * static_cast<uint64_t>(comm.teamRanks());
  void *base = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED)
    return SystemError;
  for (int i = 0; i < comm.teamRanks(); ++i) {
    const Offer &offer = offers[static_cast<size_t>(comm.teamFirst() + i)];
    if (map(offer, static_cast<char *>(base) + stride * static_cast<uint64_t>(i)) == MAP_FAILED)
      return SystemError;
  }
  window = new ncclWindow_vidmem{nullptr,
                                 static_cast<char *>(base),
                                 comm.rank - comm.teamFirst(),
                                 comm.rank,
                                 static_cast<uint32_t>(stride >> 32),
                                 0,
                                 bytes,
                                 {}};
  return mapAll(offers, window->parts);
}

/// Contexts of the network.
uint32_t contexts() {
  const char *set = std::getenv("NCCL_FAKE_GIN");
  return set == nullptr ? 2 : static_cast<uint32_t>(std::atoi(set));
}

} // namespace

extern "C" {

/// The fake's own: makes the board of this name; processes that fork afterwards share it.
void ncclFakeBoard(const char *name) {
  boardOf(name);
}
/// The fake's own: rank `rank` of the communicator at a board. Waits for nobody.
ncclComm *ncclFakeInit(const char *board, int ranks, int rank) {
  auto *const made = new ncclComm{boardOf(board), rank, ranks};
  const std::lock_guard<std::mutex> lock(mutex);
  communicators.insert(made);
  return made;
}

/// NCCL_COMM_ID, as NCCL's own where that is set. Processes that are to meet there fork after ncclFakeBoard.
int ncclGetUniqueId(UniqueId *id) {
  const char *set = std::getenv("NCCL_COMM_ID");
  if (set == nullptr)
    return InvalidUsage;
  *id = {};
  std::strncpy(id->bytes, set, sizeof id->bytes - 1);
  return Success;
}
int ncclCommInitRank(ncclComm **comm, int ranks, UniqueId id, int rank) {
  *comm = ncclFakeInit(id.bytes, ranks, rank);
  return Success;
}

/// The fake's own: what ncclCommGetAsyncError says from now on.
void ncclFakeFail(ncclComm *comm, int result) {
  comm->board->error = result;
}

/// The fake's own: calls of ncclAllGather in this process so far.
int ncclFakeGathers() {
  return gathers;
}
/// The fake's own, for a stream of CUDA's: a call that ends when a communicator of this process is aborted.
void ncclFakeStuck(void *) {
  while (!anyAborted)
    ::usleep(100);
}

int ncclGetVersion(int *version) {
  const char *set = std::getenv("NCCL_FAKE_VERSION");
  *version = set == nullptr ? NCCL_FAKE_VERSION : std::atoi(set);
  return Success;
}
const char *ncclGetErrorString(int result) {
  return result == SystemError ? "unhandled system error" : result == InvalidArgument ? "invalid argument" : "failed";
}
int ncclCommCount(ncclComm *comm, int *count) {
  *count = comm->ranks;
  return Success;
}
int ncclCommUserRank(ncclComm *comm, int *rank) {
  *rank = comm->rank;
  return Success;
}
int ncclCommCuDevice(ncclComm *, int *device) {
  *device = 0; // that of all ranks, as on the local engine
  return Success;
}
int ncclCommGetAsyncError(ncclComm *comm, int *result) {
  if (comm == nullptr)
    return InvalidArgument;
  needs(comm);
  *result = isStuck() ? static_cast<int>(InProgress) : depth != 0 ? started() : comm->board->error.load();
  return Success;
}
int ncclCommDestroy(ncclComm *comm) {
  {
    const std::lock_guard<std::mutex> lock(mutex);
    communicators.erase(comm);
  }
  delete comm;
  return Success;
}
int ncclCommAbort(ncclComm *comm) {
  anyAborted = true;
  return ncclCommDestroy(comm);
}
Team ncclTeamLsa(ncclComm *comm) {
  return {comm->teamRanks(), comm->rank - comm->teamFirst(), 1};
}

int ncclGroupStart() {
  ++depth;
  return Success;
}
int ncclGroupEnd() {
  const int result = --depth == 0 ? run() : static_cast<int>(Success);
  return isStuck() ? static_cast<int>(InProgress) : result == Success ? started() : result;
}

int ncclMemAlloc(void **memory, size_t bytes) {
  const int file = ::memfd_create("nccl fake", MFD_CLOEXEC);
  void *made = MAP_FAILED;
  if (file >= 0 && ::ftruncate(file, static_cast<off_t>(bytes)) == 0)
    made = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (made == MAP_FAILED) {
    ::close(file);
    return SystemError;
  }
  const std::lock_guard<std::mutex> lock(mutex);
  allocations[static_cast<char *>(made)] = {bytes, file};
  *memory = made;
  return Success;
}
int ncclMemFree(void *memory) {
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = allocations.find(static_cast<char *>(memory));
  if (found == allocations.end())
    return InvalidArgument;
  ::munmap(memory, found->second.bytes);
  ::close(found->second.file);
  allocations.erase(found);
  return Success;
}

int ncclCommWindowRegister(ncclComm *comm, void *memory, size_t bytes, ncclWindow_vidmem **window, int flags) {
  *window = nullptr;
  if (memory == nullptr || bytes == 0 || flags != 1)
    return InvalidArgument;
  const Offer offer = offerOf(memory, bytes);
  return make({[=] { comm->board->post(comm->rank, comm->round, &offer, sizeof(offer)); },
               [=] {
                 std::vector<Offer> offers(static_cast<size_t>(comm->ranks));
                 comm->board->collect(comm->ranks, comm->round++, offers.data(), sizeof(Offer));
                 return mapWindow(*comm, offers, *window);
               }});
}
int ncclCommWindowDeregister(ncclComm *comm, ncclWindow_vidmem *window) {
  needs(comm);
  ::munmap(window->teamBase, window->reserved);
  for (const Part &part : window->parts)
    ::munmap(part.begin, part.bytes);
  delete window;
  return Success;
}

int ncclDevCommCreate(ncclComm *comm, const ncclDevCommRequirements *wanted, ncclDevComm *made) {
#if NCCL_FAKE_VERSION >= 22900
  if (wanted->version != NCCL_FAKE_VERSION || wanted->ginConnectionType != NCCL_GIN_CONNECTION_FULL || contexts() == 0)
    return InvalidArgument;
#endif
  *made = {comm->rank, comm->ranks, contexts(), nullptr};
  const auto signals = static_cast<uint32_t>(wanted->ginSignalCount),
             counters = static_cast<uint32_t>(wanted->ginCounterCount);
  void *memory = nullptr;
  const uint64_t bytes = std::max(uint64_t{8} * signals * contexts(), uint64_t{8});
  if (ncclMemAlloc(&memory, bytes) != Success)
    return SystemError;
  const Offer offer = offerOf(memory, bytes);
  return make({[=] { comm->board->post(comm->rank, comm->round, &offer, sizeof(offer)); },
               [=] {
                 std::vector<Offer> offers(static_cast<size_t>(comm->ranks));
                 comm->board->collect(comm->ranks, comm->round++, offers.data(), sizeof(Offer));
                 std::vector<Part> parts;
                 if (const int result = mapAll(offers, parts); result != Success)
                   return result;
                 made->network = new Network(comm->rank, contexts(), signals, counters, std::move(parts),
                                             [](ncclWindow_t w) -> const std::vector<Part> & { return w->parts; });
                 return static_cast<int>(Success);
               }});
}
/// Its signals' own memory stays until the process ends: others may still map it.
int ncclDevCommDestroy(ncclComm *comm, const ncclDevComm *made) {
  needs(comm);
  delete made->network;
  return Success;
}

/// If NCCL_FAKE_APART is set, each part of an exchange looks as if it came from a machine of its own. The ranks send
/// the boot id of their machine, which is changed here.
void moveApart(unsigned char *all, size_t count, int ranks) {
  char boot[37] = {};
  std::FILE *file =
      std::getenv("NCCL_FAKE_APART") == nullptr ? nullptr : std::fopen("/proc/sys/kernel/random/boot_id", "re");
  if (file == nullptr)
    return;
  if (std::fgets(boot, sizeof(boot), file) != nullptr)
    for (int rank = 0; rank < ranks; ++rank) {
      unsigned char *begin = all + static_cast<size_t>(rank) * count, *end = begin + count;
      unsigned char *found = std::search(begin, end, boot, boot + 36);
      if (found != end)
        *found = static_cast<unsigned char>('A' + rank);
    }
  std::fclose(file);
}

/// Waits for the work in a CUDA stream, if NCCL_FAKE_CUDA is set. So later work in the stream finds everything done.
void awaitStream(void *stream) {
  using Synchronize = int (*)(void *);
  if (std::getenv("NCCL_FAKE_CUDA") != nullptr)
    reinterpret_cast<Synchronize>(::dlsym(RTLD_DEFAULT, "cudaStreamSynchronize"))(stream);
}

int ncclAllGather(const void *from, void *to, size_t count, int type, ncclComm *comm, void *stream) {
  if (type != 1 || count > Board::slotBytes)
    return InvalidUsage;
  ++gathers;
  awaitStream(stream);
  return make({[=] { comm->board->post(comm->rank, comm->round, from, count); },
               [=] {
                 comm->board->collect(comm->ranks, comm->round++, to, count);
                 moveApart(static_cast<unsigned char *>(to), count, comm->ranks);
                 return static_cast<int>(Success);
               }});
}

#if NCCL_FAKE_VERSION >= 22900
int ncclGetPeerDevicePointer(ncclWindow_vidmem *window, size_t offset, int peer, void **pointer) {
  const int member = window->teamRank + peer - window->rank;
  const bool isMember = member >= 0 && stride * static_cast<uint64_t>(member) < window->reserved;
  *pointer = isMember ? window->teamBase + stride * static_cast<uint64_t>(member) + offset : nullptr;
  return Success;
}
int ncclGetLsaMultimemDevicePointer(ncclWindow_vidmem *, size_t, void **pointer) {
  *pointer = nullptr;
  return Success;
}
#endif
}
