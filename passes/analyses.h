// Keeps facts about a program that several passes ask for.
//
// An analysis is a class with a constructor `explicit A(const ir::Program &)` and an operator ==. It refers to nothing
// outside itself. An analysis that uses other analyses has the constructor `A(const ir::Program &, Analyses &)`. It is
// computed when a pass first asks for it, before the pass changes anything. A pass declares which analyses also hold
// for the program that it leaves. The pass manager drops all others. With verifyEach, it compares the remaining
// analyses with newly computed ones, before the first pass and after each pass.
#pragma once

#include "ir/program.h"

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace mscclc::passes {

/// The known analyses of one program. A copy of this object belongs to a copy of the program. Until a pass changes one
/// of the two programs, a result that is computed for one is also known for the other.
class Analyses {
public:
  /// Returns the analysis of `program` as it was when the running pass began. The reference is valid until that pass
  /// ends.
  template <typename A> const A &of(const ir::Program &program) {
    for (const Entry &entry : *known_)
      if (entry.kind == &kindOf<A>)
        return *static_cast<const A *>(entry.fact.get());
    auto fact = std::make_shared<const A>(make<A>(program, *this));
    known_->push_back({&kindOf<A>, std::move(fact)});
    return *static_cast<const A *>(known_->back().fact.get());
  }

  /// Declares that these analyses, if known, hold for the program that the running pass leaves.
  template <typename... A> void preserve() { (keep(&kindOf<A>), ...); }
  /// Declares that all analyses still hold, because the pass changes nothing that an analysis uses.
  void preserveAll() { kept_ = *known_; }
  /// Stores an analysis of the program as it is after the running pass.
  template <typename A> void set(A analysis) { replace({&kindOf<A>, std::make_shared<const A>(std::move(analysis))}); }

  /// Ends a pass. Drops all analyses that it did not keep.
  void endPass() { known_ = std::make_shared<std::vector<Entry>>(std::exchange(kept_, {})); }
  /// True if all known analyses hold for `program`. Computes each one again.
  bool areOf(const ir::Program &program) const {
    for (const Entry &entry : *known_)
      if (!entry.kind->isOf(entry.fact.get(), program))
        return false;
    return true;
  }

private:
  template <typename A> static A make(const ir::Program &program, Analyses &others) {
    if constexpr (std::is_constructible_v<A, const ir::Program &, Analyses &>)
      return A(program, others);
    else
      return A(program);
  }

  /// The operations on a class of analyses. The address of a Kind identifies the class.
  struct Kind {
    bool (*isOf)(const void *fact, const ir::Program &program);
  };
  template <typename A> static bool isOf(const void *fact, const ir::Program &program);
  template <typename A> static constexpr Kind kindOf{&isOf<A>};
  struct Entry {
    const Kind *kind;
    std::shared_ptr<const void> fact;
  };

  void keep(const Kind *kind) {
    for (const Entry &entry : *known_)
      if (entry.kind == kind)
        replace(entry);
  }
  void replace(Entry entry) {
    std::erase_if(kept_, [&](const Entry &kept) { return kept.kind == entry.kind; });
    kept_.push_back(std::move(entry));
  }

  std::shared_ptr<std::vector<Entry>> known_ = std::make_shared<std::vector<Entry>>();
  std::vector<Entry> kept_; ///< the analyses that the running pass keeps
};

template <typename A> bool Analyses::isOf(const void *fact, const ir::Program &program) {
  Analyses others;
  return *static_cast<const A *>(fact) == make<A>(program, others);
}

} // namespace mscclc::passes
