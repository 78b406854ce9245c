// Order computed directly from its definition, without shortcuts for speed. The answers of the proof are compared with
// it.
#pragma once

#include "passes/run/order.h"

#include <array>
#include <map>
#include <string>
#include <vector>

namespace plan {

/// Keeps for each block everything that it knows about every other block: a number of phases for each relation. It also
/// keeps what each block knew in each of its phases, so that a message clock is looked up directly.
class PlainOrder : public mscclc::passes::proof::OrderWatcher {
public:
  using Clock = mscclc::passes::proof::MessageClock;

  /// More blocks are not watched, as this takes their square for each phase.
  static constexpr std::uint32_t mostBlocks = 256;

  /// Returns the answers that differ: "block 3 in phase 2 …".
  const std::vector<std::string> &faults() const { return faults_; }
  std::uint64_t answers() const { return answers_; }

  void started(const mscclc::passes::proof::ProgramIndex &index) override {
    const std::uint32_t n = index.numBlocks();
    watches_ = n <= mostBlocks;
    blocks_.assign(watches_ ? n : 0, Block(n));
    besides_.clear();
  }

  void sent(const Clock &clock, std::span<const Clock> besides) override {
    if (watches_ && !besides.empty())
      besides_[clock.besides].assign(besides.begin(), besides.end());
  }

  void received(std::uint32_t block, const Clock &clock) override {
    if (watches_)
      blocks_[block].next.join(told(clock));
  }

  void endedPhase(std::uint32_t block) override {
    if (watches_)
      blocks_[block].phases.push_back(blocks_[block].next);
  }

  void met(std::span<const std::uint32_t> blocks) override {
    if (!watches_)
      return;
    Knows all(blocks_.size());
    for (const std::uint32_t b : blocks) {
      all.join(blocks_[b].next);
      for (auto &of : all.of)
        of[b] = blocks_[b].phase() + 1;
    }
    for (const std::uint32_t b : blocks)
      blocks_[b].next.join(all);
  }

  void beganLaunch() override {
    for (Block &block : blocks_)
      block.launches.push_back(block.phase());
  }

  void answered(std::uint32_t block, std::uint32_t phase, const mscclc::passes::proof::View &view,
                mscclc::passes::proof::Relation relation, bool before) override {
    if (!watches_)
      return;
    ++answers_;
    Knows knows = view.next ? blocks_[view.block].next : blocks_[view.block].phases.back();
    for (const Clock &clock : view.besides)
      knows.join(told(clock));
    if ((knows.of[static_cast<std::size_t>(relation)][block] > phase) != before)
      faults_.push_back("block " + std::to_string(block) + " in phase " + std::to_string(phase) + " was said " +
                        (before ? "" : "not ") + "to be ordered before block " + std::to_string(view.block) +
                        " in phase " + std::to_string(view.phase));
  }

private:
  using Relation = mscclc::passes::proof::Relation;
  static constexpr std::array relations = {Relation::HappensBefore, Relation::Released, Relation::Visibility};

  /// Phases of each block that are known to be over, by Relation.
  struct Knows {
    std::array<std::vector<std::uint32_t>, relations.size()> of;
    explicit Knows(std::size_t n) {
      for (auto &phases : of)
        phases.resize(n);
    }
    void join(const Knows &other) {
      for (std::size_t r = 0; r < of.size(); ++r)
        for (std::size_t b = 0; b < of[r].size(); ++b)
          of[r][b] = std::max(of[r][b], other.of[r][b]);
    }
  };
  struct Block {
    std::vector<Knows> phases;           ///< what it knew in each, the present one last
    Knows next;                          ///< what it knows in its next phase
    std::vector<std::uint32_t> launches; ///< phases in which they began
    explicit Block(std::size_t n) : phases{Knows(n)}, next(n) {}
    std::uint32_t phase() const { return static_cast<std::uint32_t>(phases.size() - 1); }
  };

  /// What a relaxed signal does not carry of its launch, it carries as its sender knew it when that launch began.
  Knows told(const Clock &clock) const {
    const Block &sender = blocks_[clock.agent];
    Knows knows = sender.phases[clock.phase];
    for (auto &of : knows.of)
      of[clock.agent] = clock.phase;
    if (const auto it = besides_.find(clock.besides); it != besides_.end())
      for (const Clock &more : it->second)
        knows.join(told(more));
    std::uint32_t began = 0;
    for (const std::uint32_t phase : sender.launches)
      began = phase <= clock.phase ? phase : began;
    for (std::size_t r = 0; r < relations.size(); ++r)
      if (!carriesEarlier(clock.kind, relations[r])) {
        knows.of[r].assign(blocks_.size(), 0);
      } else if (!carries(clock.kind, relations[r])) {
        knows.of[r] = sender.phases[began].of[r];
        knows.of[r][clock.agent] = began;
      }
    return knows;
  }

  bool watches_ = false;
  std::vector<Block> blocks_;
  std::map<std::uint32_t, std::vector<Clock>> besides_; ///< [node]
  std::vector<std::string> faults_;
  std::uint64_t answers_ = 0;
};

} // namespace plan
