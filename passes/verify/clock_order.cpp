#include "passes/verify/clock_order.h"

#include <algorithm>

namespace mscclc::passes::proof {

ClockOrder::ClockOrder(const ProgramIndex &index, std::uint64_t maxPhase)
    : index_(index), clocks_(index.numBlocks(), maxPhase), now_(index.numBlocks()), next_(index.numBlocks()),
      launchData_(index.numRanks(), ClockPool::zero), launchPhase_(index.numBlocks(), 0) {}

bool ClockOrder::known(std::uint32_t block, std::uint32_t phase, const View &view, Need need) const {
  const Pair &known = (view.next ? next_ : now_)[view.block];
  if (clocks_.get(need == Need::Data ? known.data : known.control, block) > phase)
    return true;
  return std::any_of(view.besides.begin(), view.besides.end(), [&](const Token &t) {
    if (need == Need::Control)
      return (t.agent == block && t.phase > phase) || clocks_.get(t.control, block) > phase;
    return (t.agent == block && (t.weak ? launchPhase_[block] : t.phase) > phase) ||
           clocks_.get(t.weak ? launchData_[index_.rankOf(t.agent)] : t.data, block) > phase;
  });
}

void ClockOrder::send(Token &token, std::span<const Token> besides) {
  Pair held = share(now_[token.agent]);
  for (const Token &t : besides)
    join(held, t);
  token.control = held.control;
  token.data = held.data;
  if (!besides.empty())
    token.besides = 0; // its clocks tell more than its phase does
}

Token ClockOrder::share(const Token &token) {
  const Pair held = share(Pair{token.control, token.data});
  Token copy = token;
  copy.control = held.control;
  copy.data = held.data;
  return copy;
}

void ClockOrder::receive(std::uint32_t block, const Token &token) {
  join(next_[block], token);
}

void ClockOrder::join(Pair &into, const Token &token) {
  const ClockId data = token.weak ? launchData_[index_.rankOf(token.agent)] : token.data;
  const std::uint32_t dataPhase = token.weak ? launchPhase_[token.agent] : token.phase;
  if (into.control == into.data && token.control == data && token.phase == dataPhase) {
    clocks_.release(into.data); // one holder, so that the join happens in place
    clocks_.join(into.control, token.control);
    clocks_.raise(into.control, token.agent, dataPhase);
    into.data = clocks_.share(into.control);
    return;
  }
  // Who knows of a phase knows what was known in it; what a thread or an operation knew besides may be more.
  if (token.weak || token.besides != none || clocks_.get(into.control, token.agent) < token.phase) {
    clocks_.join(into.control, token.control);
    clocks_.raise(into.control, token.agent, token.phase);
  }
  if (token.besides != none || clocks_.get(into.data, token.agent) < dataPhase) {
    clocks_.join(into.data, data);
    clocks_.raise(into.data, token.agent, dataPhase);
  }
}

void ClockOrder::endPhase(std::uint32_t block) {
  const Pair next = share(next_[block]);
  release(now_[block]);
  now_[block] = next;
}

void ClockOrder::meet(std::span<const std::uint32_t> blocks, std::span<const std::uint32_t> phases) {
  Pair all;
  for (const std::uint32_t b : blocks) {
    clocks_.join(all.control, next_[b].control);
    clocks_.join(all.data, next_[b].data);
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    clocks_.raise(all.control, blocks[i], phases[i] + 1);
    clocks_.raise(all.data, blocks[i], phases[i] + 1);
  }
  for (const std::uint32_t b : blocks) {
    release(next_[b]);
    next_[b] = share(all);
  }
  release(all);
}

void ClockOrder::beginLaunch(std::span<const std::uint32_t> phases) {
  launchPhase_.assign(phases.begin(), phases.end());
  for (std::uint32_t r = 0; r < index_.numRanks(); ++r) {
    clocks_.release(launchData_[r]);
    launchData_[r] = clocks_.share(now_[index_.block(r, 0)].data);
  }
}

} // namespace mscclc::passes::proof
