// The whole of what each block knows, as vector clocks kept up to date at every edge.
//
// The other way to answer what Order asks: dearer at each edge, by as many bytes as there are blocks, but no question
// then costs more than a look. Order takes to it where knowledge keeps coming through long chains of third parties, as
// around a ring.
#pragma once

#include "passes/verify/clock.h"
#include "passes/verify/token.h"

#include <span>

namespace mscclc::passes::proof {

class ClockOrder {
public:
  /// `maxPhase`: no block has more phases.
  ClockOrder(const ProgramIndex &index, std::uint64_t maxPhase);

  bool known(std::uint32_t block, std::uint32_t phase, const View &view, Need need) const;

  /// Gives `token` the clock of its sender. Held until `drop`.
  void send(Token &token, std::span<const Token> besides);
  Token share(const Token &token);
  void drop(const Token &token) { release({token.control, token.data}); }
  void receive(std::uint32_t block, const Token &token);
  void endPhase(std::uint32_t block);
  /// Before their phases end. `phases`: in which each of `blocks` is.
  void meet(std::span<const std::uint32_t> blocks, std::span<const std::uint32_t> phases);
  /// All blocks of a rank know the same now. `phases`: [block].
  void beginLaunch(std::span<const std::uint32_t> phases);

private:
  struct Pair {
    ClockId control = ClockPool::zero, data = ClockPool::zero;
  };
  /// `into` comes to know what `token` tells.
  void join(Pair &into, const Token &token);
  Pair share(const Pair &p) { return {clocks_.share(p.control), clocks_.share(p.data)}; }
  void release(const Pair &p) {
    clocks_.release(p.control);
    clocks_.release(p.data);
  }

  const ProgramIndex &index_;
  ClockPool clocks_;
  std::vector<Pair> now_, next_;           // [block]: in effect, and from the next phase on
  std::vector<ClockId> launchData_;        // [rank], when the present launch began
  std::vector<std::uint32_t> launchPhase_; // [block]
};

} // namespace mscclc::passes::proof
