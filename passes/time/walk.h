// One run of a program as discrete events: blocks, proxies and data in motion, with the times of each operation.
//
// Within a phase, the threads of a block do not wait for each other. All of them do their share of each data operation.
// Thread i alone does the i-th signal, wait or port's put of an operation, and only the later work of thread i waits
// for it. A nop, a barrier and the end of the block wait for all threads. A store is in flight for a while after the
// block has issued it. A later signal waits for the store, but the block does not. Data flows at the rates of
// FluidNetwork. Packets are read as they arrive: a reader begins after the first packet, and ends after the last one.
//
// Counters are queues of times. The arrival time of a signal is known when the signal is sent, so a wait may end at a
// time in the future. Only events that change rates go through the clock: blocks that begin to move data, and proxies.
#pragma once

#include "passes/representative_rank.h"
#include "passes/time/costs.h"
#include "passes/time/packet_times.h"
#include "passes/time/timeline.h"

#include "ir/cursor.h"

#include <list>
#include <map>
#include <queue>
#include <unordered_map>
#include <utility>

namespace mscclc::passes::time {

struct WalkOptions {
  /// The most iterations of each pipeline that are walked.
  std::uint64_t mostIterations = std::numeric_limits<std::uint64_t>::max();
  /// If true, data takes no time beyond its latency, so only the chain of latencies remains.
  bool free = false;
  /// If true, the timeline also gets messages and rates.
  bool record = false;
  /// The number of blocks of a rank that run at the same time. Blocks start in the order of their numbers. When a block
  /// ends, the next one starts.
  std::uint64_t heldAtOnce = std::numeric_limits<std::uint64_t>::max();
  Folding folding = {};                 ///< the same folding as in the costs
  const OtherEnds *otherEnds = nullptr; ///< other ends of rank 0's channels, if ranks are folded
};

class Walk {
public:
  Walk(const ir::ProgramIndex &index, const Costs &costs, FluidNetwork &network, const MessageBytes &bytes,
       WalkOptions options);
  Timeline run();

private:
  enum class EventKind : std::uint8_t {
    Step,     ///< a block takes a step
    Flow,     ///< data of a span begins to flow
    Ask,      ///< a proxy has one more request
    Take,     ///< a proxy takes its next request
    Transfer, ///< a connection of a port begins its next transfer
  };
  struct Event {
    Time at = 0;
    std::uint64_t number = 0;
    EventKind kind = EventKind::Step;
    std::uint32_t subject = 0; ///< number of a block, span, request, rank or connection
    bool operator<(const Event &other) const { return at != other.at ? at > other.at : number > other.number; }
  };
  struct Moment {
    Time at = 0;
    SpanPart by; ///< the span that ends at this time
    void raise(Moment other) {
      if (other.at >= at)
        *this = other;
    }
  };
  /// A first-in, first-out queue. Most queues are empty, and an empty list takes no memory.
  template <class T> using Queue = std::queue<T, std::list<T>>;
  template <class T> static T pop(Queue<T> &queue) {
    T first = std::move(queue.front());
    queue.pop();
    return first;
  }
  /// One thread's part of an operation, with the values from the time when the block reached the operation.
  struct Act {
    SpanPart self;
    Moment issue;    ///< time from which all threads do the operation
    Time fenced = 0; ///< time when a fence for all earlier remote stores completes
    DataCost put;    ///< cost of a port's put
  };
  struct Thread {
    Moment free;        ///< time from which the thread is free, if later than for the other threads
    bool waits = false; ///< true if the thread waits for completion of its current part
    bool later = false; ///< true if the thread has an entry in Block::later
  };
  struct Block {
    enum State : std::uint8_t { NotBegun, Running, Moving, Joining, AtBarrier, Ended } state = NotBegun;
    std::uint32_t number = 0; ///< number of the block in the program's index
    ir::BlockCursor cursor;
    std::uint32_t open = 0;      ///< spans of this phase that have not ended yet
    Moment issue;                ///< time from which all threads do the next operation
    Moment phase;                ///< latest end of a span in this phase
    Time stored = -1;            ///< time of the last remote store; negative if there is none
    UnfencedStores unfenced;     ///< the remote stores since the last fence
    bool fenced = false;         ///< true if a fence has followed these stores
    bool receives = false;       ///< true if the block of a split program runs in the second kernel
    DataCost cost;               ///< cost of the current data operation
    std::vector<Thread> threads; ///< the threads that did an operation alone in this phase
    /// [thread]: its further operations, which it does when its current wait ends. Few threads have any, in few
    /// programs.
    std::map<std::uint32_t, Queue<Act>> later;
  };
  /// A block that has reached a barrier, and its span there.
  struct Arrival {
    std::uint32_t block = 0, span = Span::none;
  };
  /// A thread that can do its further operations.
  struct FreeThread {
    std::uint32_t block = 0, thread = 0;
  };
  /// A request to a proxy.
  struct Request {
    SpanPart asker;
    std::uint32_t rank = 0, channel = 0;
    bool signal = false, flush = false;
    Time pushed = 0;
    DataCost cost; ///< cost of the put; it has no bytes if the request is no put
  };
  struct Proxy {
    Queue<std::uint32_t> queue; ///< requests
    Time free = 0;
    bool scheduled = false;
  };
  /// The transfers of a port channel, one after the other.
  struct Connection {
    Queue<std::uint32_t> queue; ///< spans of the proxy
    bool busy = false;
    Moment arrived; ///< time when everything that was sent so far has arrived
  };

  void at(Time time, EventKind kind, std::uint32_t subject) { events_.push({time, number_++, kind, subject}); }
  Block &blockOf(const Span &span) { return blocks_[index_.block(span.rank, span.block)]; }
  const ir::ThreadBlock &code(const Block &block) const { return index_.ops(block.number); }
  std::uint32_t rankOf(const Block &block) const { return index_.rankOf(block.number); }
  std::uint64_t iterations(const ir::Op &header) const;
  bool walks(std::uint32_t block) const { return options_.folding.walks(index_.rankOf(block), index_.idOf(block)); }

  void beginBlocks();
  void beginNext(std::uint32_t rank, Moment from);
  void dispatch(const Event &event);
  std::uint32_t begin(const Block &block, Moment from);
  void end(std::uint32_t span, Time at);
  void step(std::uint32_t number);
  bool join(Block &block, const ir::Op &op);
  void receive(Block &block);
  void meet(Block &block, const ir::Op &op, std::uint32_t span);
  void newPhase(Block &block, Moment from);
  void advance(Block &block);
  const ir::Op *header(const Block &block) const;

  void actAlone(Block &block, const ir::Op &op);
  void act(const Act &act);
  void synchronise(const Act &act, const ir::Op &op, Time from);
  void take(std::uint32_t queue, SpanPart waiter);
  void post(std::uint32_t rank, const ir::Op &op, std::uint32_t id, Moment moment);
  void answer(SpanPart waiter, Moment moment);
  void goOn();
  void settle(std::uint32_t span);
  void tell(std::uint32_t from, std::uint32_t to);

  void move(Block &block, const ir::Op &op);
  void flow(std::uint32_t span);
  void flowed(std::uint32_t span, Time now, FluidNetwork::Resource bound);
  void finishMove(std::uint32_t span, Time at);
  void finishRead(std::uint32_t span, const PacketTimes::Reader &reader);
  void packetsBegin(const Span &writer, const ir::Op &op, Time seen);
  void packetsWritten(const Span &writer, const ir::Op &op, Time seen, std::uint32_t span);
  Cause boundOf(FluidNetwork::Resource resource) const;

  void push(const Act &act, const ir::Op &op, Time from);
  void ask(Request request);
  void asked(std::uint32_t request);
  void takeRequest(std::uint32_t rank);
  void takeNext(std::uint32_t rank);
  void transfer(std::uint32_t connection);
  void transferred(std::uint32_t span, Time at);

  const ir::ProgramIndex &index_;
  const Costs &costs_;
  FluidNetwork &network_;
  const MessageBytes &bytes_;
  WalkOptions options_;
  PacketTimes packets_;

  std::priority_queue<Event> events_;
  std::uint64_t number_ = 0;
  Time now_ = 0;
  std::vector<Block> blocks_;
  std::vector<std::uint32_t> begun_; ///< [rank]: number of its blocks that have begun, in the order of their numbers
  ir::CreditQueues<Moment> credits_;
  std::unordered_map<std::uint32_t, Queue<SpanPart>> waiting_; ///< [queue]: the waiting threads; few queues have any
  ir::BarrierArrivals<Arrival> meetings_;
  std::vector<Proxy> proxies_;
  /// [channel]: the connections of port channels. This is a map, because there are very many memory channels.
  std::map<std::uint32_t, Connection> connections_;
  std::vector<Request> requests_;
  Queue<FreeThread> free_; ///< see goOn()
  /// [span]: the number of its parts that are not completed. If the span reads packets, this is its number in packets_.
  /// If it is a proxy's, this is the number of its request.
  std::vector<std::uint32_t> pending_;
  std::vector<bool> flowed_; ///< [span]: true if all its data has arrived
  Timeline timeline_;
};

} // namespace mscclc::passes::time
