// Thread blocks of the CPU stand-in. A launch has a number of workers, which are threads of the host: one for each
// core, or one for each block if there are fewer blocks. A worker runs the threads of its blocks in turn. A thread runs
// until it waits, at the barrier of its block or in a poll. So a barrier needs no system call, and 32 blocks of 1024
// threads do not need 32,768 threads of the host.
#pragma once

#include <sys/mman.h>
#include <ucontext.h>

#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#if defined(__SANITIZE_THREAD__)
#define MSCCLC_STANDIN_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define MSCCLC_STANDIN_TSAN 1
#endif
#endif
#ifdef MSCCLC_STANDIN_TSAN
extern "C" void __tsan_acquire(void *);
extern "C" void __tsan_release(void *);
extern "C" void *__tsan_get_current_fiber(void);
extern "C" void *__tsan_create_fiber(unsigned);
extern "C" void __tsan_destroy_fiber(void *);
extern "C" void __tsan_switch_to_fiber(void *, unsigned);
#endif

namespace mscclc::standin {

/// Marks a function that switches threads. Only one thread of a worker runs at a time, so accesses of the function are
/// no races. The sanitizer cannot see that.
#define MSCCLC_SWITCHES __attribute__((no_sanitize("thread")))

#ifdef MSCCLC_STANDIN_TSAN
/// Order everything before releaseOrder(address) before everything after acquireOrder(address), for the sanitizer.
inline void releaseOrder(void *address) {
  __tsan_release(address);
}
inline void acquireOrder(void *address) {
  __tsan_acquire(address);
}
#else
inline void releaseOrder(void *) {}
inline void acquireOrder(void *) {}
#endif

/// A stack and the registers of a thread that does not run. The thread sanitizer sees each context as a thread. For the
/// sanitizer, a switch orders nothing.
class Context {
public:
  ucontext_t registers{};
#ifdef MSCCLC_STANDIN_TSAN
  void *thread = nullptr;
  void adopt() { thread = __tsan_get_current_fiber(); }
  void create() { thread = __tsan_create_fiber(0); }
  void destroy() { __tsan_destroy_fiber(thread); }
#else
  void adopt() {}
  void create() {}
  void destroy() {}
#endif
  /// Stores the running thread in this context, and goes on with `other`.
  MSCCLC_SWITCHES void switchTo(Context &other) {
#ifdef MSCCLC_STANDIN_TSAN
    __tsan_switch_to_fiber(other.thread, 1);
#endif
    swapcontext(&registers, &other.registers);
  }
};

struct Block;

/// The position of the running thread in its launch.
struct Position {
  unsigned thread = 0, threads = 1, block = 0, blocks = 1;
  Block *shared = nullptr;
};
inline constexpr Position outsideKernels{};
inline thread_local const Position *position = &outsideKernels;

/// Lets other threads of the host run. There may be far more threads than cores.
MSCCLC_SWITCHES inline void pauseHost() {
  thread_local unsigned calls = 0;
  if (++calls % 16 != 0)
    std::this_thread::yield();
  else
    std::this_thread::sleep_for(std::chrono::microseconds(50));
}

class Worker;

/// The state that the threads of a block share.
struct Block {
  Worker *worker = nullptr;
  unsigned first = 0;   ///< the block's first thread, among the worker's threads
  unsigned arrived = 0; ///< number of threads that wait at the barrier
  unsigned round = 0;   ///< number of complete barriers
  char orders[2] = {};  ///< barriers order threads at these addresses, in turn
  float results[1024];
};

/// Some blocks of a launch. One thread of the host runs all their threads.
class Worker {
public:
  /// Runs `kernel` in all threads of the blocks `first`, `first` + `step`, … below `blocks`. Each block has `threads`
  /// threads. Returns when all threads have ended.
  static void run(unsigned first, unsigned step, unsigned blocks, unsigned threads,
                  const std::function<void()> &kernel) {
    Worker worker(kernel);
    for (unsigned block = first; block < blocks; block += step) {
      worker.blocks_.push_back(std::make_unique<Block>());
      Block &shared = *worker.blocks_.back();
      shared.worker = &worker;
      shared.first = static_cast<unsigned>(worker.threads_.size());
      for (unsigned thread = 0; thread < threads; ++thread)
        worker.threads_.push_back({{thread, threads, block, blocks, &shared}});
    }
    worker.runAll();
  }

  /// Waits until all threads of the running thread's block have called barrier() as often as this thread.
  MSCCLC_SWITCHES void barrier() {
    Block &block = *position->shared;
    char *const order = &block.orders[block.round % 2];
    releaseOrder(order);
    if (++block.arrived < position->threads) {
      threads_[running_].canRun = false;
      goOn(following());
    } else {
      block.arrived = 0;
      ++block.round;
      for (unsigned thread = 0; thread < position->threads; ++thread)
        threads_[block.first + thread].canRun = true;
    }
    acquireOrder(order);
  }

  /// Lets each other thread of the worker run until it waits. Then lets other threads of the host run.
  MSCCLC_SWITCHES void pause() {
    const std::size_t next = following();
    if (next <= running_)
      pauseHost();
    if (next != running_)
      goOn(next);
  }

private:
  static constexpr std::size_t stackBytes = std::size_t{1} << 20, guardBytes = 4096;
  struct Thread {
    Position place;
    bool canRun = true;
    Context context{};
  };

  explicit Worker(const std::function<void()> &kernel) : kernel_(kernel) {}

  void runAll() {
    const std::size_t bytes = threads_.size() * stackBytes;
    void *const stacks =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (stacks == MAP_FAILED)
      std::terminate();
    for (std::size_t thread = 0; thread < threads_.size(); ++thread)
      prepare(threads_[thread].context, static_cast<char *>(stacks) + thread * stackBytes);
    host_.adopt();
    position = &threads_[0].place;
    releaseOrder(&host_);
    host_.switchTo(threads_[0].context);
    acquireOrder(&host_);
    for (Thread &thread : threads_)
      thread.context.destroy();
    munmap(stacks, bytes);
  }
  /// Makes `context` begin with the kernel. Its stack is the `stackBytes` bytes at `stack`. The lowest page of them is
  /// protected, unless the system has no room for so many mappings.
  static void prepare(Context &context, char *stack) {
    mprotect(stack, guardBytes, PROT_NONE);
    getcontext(&context.registers);
    context.registers.uc_stack.ss_sp = stack + guardBytes;
    context.registers.uc_stack.ss_size = stackBytes - guardBytes;
    makecontext(&context.registers, &runThread, 0);
    context.create();
  }
  MSCCLC_SWITCHES static void runThread() {
    Worker &worker = *position->shared->worker;
    acquireOrder(&worker.host_);
    worker.kernel_();
    releaseOrder(&worker.host_);
    worker.threads_[worker.running_].canRun = false;
    if (++worker.ended_ == worker.threads_.size())
      worker.threads_[worker.running_].context.switchTo(worker.host_);
    worker.goOn(worker.following());
  }
  /// Returns the next thread that can run. It is the running thread if no other can.
  MSCCLC_SWITCHES std::size_t following() const {
    std::size_t next = running_;
    for (std::size_t tried = 0; tried < threads_.size(); ++tried) {
      next = next + 1 == threads_.size() ? 0 : next + 1;
      if (threads_[next].canRun)
        return next;
    }
    std::terminate(); // a thread has ended, and others of its block wait for it at a barrier
  }
  MSCCLC_SWITCHES void goOn(std::size_t next) {
    Context &self = threads_[running_].context;
    running_ = next;
    position = &threads_[next].place;
    self.switchTo(threads_[next].context);
  }

  const std::function<void()> &kernel_;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::vector<Thread> threads_;
  std::size_t running_ = 0; ///< index of the thread that runs
  std::size_t ended_ = 0;   ///< number of threads that have ended
  Context host_;
};

} // namespace mscclc::standin
