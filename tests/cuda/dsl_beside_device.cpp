// Checks that the header of the language and the device headers can be included in one file, and that no class name is
// in both: where both namespaces are open, each class of the language can be named without its namespace.
#include "mscclc/chunks.hpp"

#include "mscclc/device.cuh"

#include <tuple>

using namespace mscclc;
using namespace mscclc::device;

using Language = std::tuple<CollectiveProgram, Rank, Buffer, Chunk, ChunkRef, List<Chunk>, ThreadBlock,
                            ThreadBlockGroup, MemoryChannel, PortChannel, SwitchChannel, Semaphore, PipelineLoop,
                            AllGather, AllReduce, ReduceScatter, AllToAll, AllToAllV, RowLayout, SendRecv, Broadcast,
                            Reduce, Gather, Scatter, CustomCollective, MoveOptions, ProgramOptions, ReduceOptions,
                            SignalOptions, BufferType, ChannelType, ReduceOp, Protocol, Schedule, Sync, Via>;
static_assert(std::tuple_size_v<Language> != 0);
