// Facts about a program that passes ask for, kept from one pass to the next.
//
// An analysis is a class that is made of a program, `explicit A(const ir::Program &)`, compares with ==, and refers to
// nothing outside itself. One that asks for others takes these as well, `A(const ir::Program &, Analyses &)`. It is
// computed when a pass first asks for it, before the pass changes anything. A pass says which analyses hold of what it
// leaves, too; the pass manager drops all others. With verifyEach, it compares those that are left with new ones,
// before the first pass and after each.
#pragma once

#include "ir/program.h"

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace mscclc::passes {

/// The analyses that are known of one program. A copy is for a copy of the program: until a pass changes either, what
/// is computed for one is known for both.
class Analyses {
public:
  /// Of `program`, as it was when the running pass began. Lives until that pass ends.
  template <typename A> const A &of(const ir::Program &program) {
    for (const Entry &entry : *known_)
      if (entry.kind == &kindOf<A>)
        return *static_cast<const A *>(entry.fact.get());
    auto fact = std::make_shared<const A>(make<A>(program, *this));
    known_->push_back({&kindOf<A>, std::move(fact)});
    return *static_cast<const A *>(known_->back().fact.get());
  }

  /// These hold of what the running pass leaves, if they are known.
  template <typename... A> void preserve() { (keep(&kindOf<A>), ...); }
  /// All do: the pass changes nothing that an analysis looks at.
  void preserveAll() { kept_ = *known_; }
  /// This one holds of what the running pass leaves.
  template <typename A> void set(A analysis) { replace({&kindOf<A>, std::make_shared<const A>(std::move(analysis))}); }

  /// A pass is over: what it did not keep goes.
  void endPass() { known_ = std::make_shared<std::vector<Entry>>(std::exchange(kept_, {})); }
  /// True if all that are known are those of `program`. Computes each anew.
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

  /// What is to be known of a class of analyses; its address stands for the class.
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
  std::vector<Entry> kept_; ///< what the running pass keeps
};

template <typename A> bool Analyses::isOf(const void *fact, const ir::Program &program) {
  Analyses others;
  return *static_cast<const A *>(fact) == make<A>(program, others);
}

} // namespace mscclc::passes
