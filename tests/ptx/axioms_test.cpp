// The machine against the axioms of the memory model, over generated programs: what it sees they allow, it reports a
// race only where there is one, and what they allow, without a load that is made early, it sees.
#include "catch.h"

#include "litmus.h"

#include <algorithm>
#include <sstream>

using namespace mscclc::ptx;

namespace {

std::string pick(std::mt19937_64 &random, const std::vector<std::string> &words) {
  return words[random() % words.size()];
}

/// Two or three threads of a few instructions on two locations.
Litmus generate(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Litmus litmus;
  const unsigned threads = 2 + random() % 2, most = threads == 2 ? 4 : 3;
  unsigned result = 0;
  const std::vector<std::string> scopes =
      random() % 3 == 0 ? std::vector<std::string>{"cta", "gpu", "sys"} : std::vector<std::string>{"sys"};
  const bool usesBarrier = random() % 8 == 0, usesMulticast = random() % 6 == 0;
  const unsigned devices = usesBarrier ? 1 : 1 + random() % 2, blocks = usesBarrier ? 1 : 1 + random() % 2;
  for (unsigned t = 0; t < threads; ++t) {
    std::string body;
    const unsigned count = 2 + random() % (most - 1), barrier = random() % count;
    for (unsigned i = 0; i < count; ++i) {
      const std::string scope = "." + pick(random, scopes), value = std::to_string(1 + random() % 2);
      const std::string place = pick(random, {"[a]", "[b]"});
      const std::string own = "%rd" + std::to_string(1 + i), out = "out " + std::to_string(result) + ", " + own + "; ";
      if (usesBarrier && i == barrier)
        body += "bar.sync 0; ";
      switch (random() % 11) {
      case 0:
        body += "st.global.u64 " + place + ", " + value + "; ";
        break;
      case 1:
      case 2:
        body += "st." + pick(random, {"relaxed", "release"}) + scope + ".global.u64 " + place + ", " + value + "; ";
        break;
      case 3:
        body += "ld.global.u64 " + own + ", " + place + "; " + out;
        ++result;
        break;
      case 4:
      case 5:
      case 6:
        body += "ld." + pick(random, {"relaxed", "acquire"}) + scope + ".global.u64 " + own + ", " + place + "; " + out;
        ++result;
        break;
      case 7:
      case 8:
        body += "fence." + pick(random, {"acq_rel", "sc"}) + scope + "; ";
        break;
      case 9:
        body += "red." + pick(random, {"relaxed", "release"}) + scope + ".global.add.u64 " + place + ", 1; ";
        break;
      case 10:
        body += usesMulticast ? pick(random, {"fence.proxy.alias; ", "multimem.st.relaxed.sys.global.u64 [A], 2; "})
                              : "atom." + pick(random, {"acq_rel", "acquire"}) + scope + ".global.add.u64 " + own +
                                    ", " + place + ", 1; ";
        break;
      }
      if (result == litmusResults)
        break;
    }
    litmus.threads.push_back(
        {body, static_cast<unsigned>(random() % devices), static_cast<unsigned>(random() % blocks)});
    if (result == litmusResults)
      break;
  }
  return litmus;
}

std::string describe(const Litmus &litmus) {
  std::string text;
  for (const LitmusThread &thread : litmus.threads)
    text += "device " + std::to_string(thread.device) + ", block " + std::to_string(thread.block) + ": " + thread.body +
            "\n";
  return text;
}
std::string describe(const Outcome &outcome) {
  std::string text;
  for (const std::uint64_t result : outcome.results)
    text += std::to_string(result) + " ";
  return text + "/ " + std::to_string(outcome.memory[0]) + " " + std::to_string(outcome.memory[1]);
}

/// Whether the machine keeps all writes of each location, what is there at the beginning included.
bool keepsAll(const Litmus &litmus) {
  unsigned writes[2] = {1, 1};
  for (const LitmusThread &thread : litmus.threads) {
    std::istringstream body(thread.body);
    for (std::string instruction; std::getline(body, instruction, ';');) {
      const std::size_t at = instruction.find('[');
      if (at != std::string::npos && instruction.find("ld.") == std::string::npos)
        ++writes[instruction[at + 1] == 'b' ? 1 : 0];
    }
  }
  return writes[0] <= 4 && writes[1] <= 4;
}

/// More runs, until all is seen that has to be, or there were many.
bool comesTo(const Litmus &litmus, Seen &seen, const std::function<bool()> &isAll) {
  for (std::uint64_t first = 1; first < 20000 && !isAll(); first += 500) {
    const Seen more = runLitmus(litmus, 500, first);
    seen.outcomes.insert(more.outcomes.begin(), more.outcomes.end());
    seen.races.insert(more.races.begin(), more.races.end());
  }
  return isAll();
}

} // namespace

TEST_CASE("the machine and the axioms agree on generated programs") {
  constexpr std::uint64_t programs = 400;
  unsigned racing = 0, complete = 0;
  std::uint64_t executions = 0;
  for (std::uint64_t seed = 1; seed <= programs; ++seed) {
    const Litmus litmus = generate(seed);
    const Allowed allowed = enumerate(litmus);
    INFO("seed " << seed << "\n" << describe(litmus));
    REQUIRE(!allowed.isCut);
    REQUIRE(!allowed.outcomes.empty());
    executions += allowed.executions;
    Seen seen;
    if (allowed.racesInOrder) {
      ++racing;
      CHECK(comesTo(litmus, seen, [&] { return !seen.races.empty(); }));
      continue;
    }
    const bool isComplete = keepsAll(litmus);
    comesTo(litmus, seen, [&] {
      return !isComplete || !seen.races.empty() || std::ranges::includes(seen.outcomes, allowed.inOrder);
    });
    complete += isComplete ? 1 : 0;
    CHECK((allowed.races || seen.races.empty()));
    for (const Outcome &outcome : seen.outcomes) {
      INFO("seen " << describe(outcome));
      CHECK((allowed.races || allowed.outcomes.contains(outcome)));
    }
    for (const Outcome &outcome : allowed.inOrder) {
      INFO("not seen " << describe(outcome));
      CHECK((!isComplete || seen.outcomes.contains(outcome)));
    }
  }
  CHECK(racing > 50);
  CHECK(racing < 300);
  CHECK(complete > 50);
  CHECK(executions > 1000);
}

// Each axiom, and what the machine does not execute.
TEST_CASE("the axioms allow what the machine does not execute") {
  const std::string st = "st.relaxed.sys.global.u64 ", ld = "ld.relaxed.sys.global.u64 ";
  const auto has = [](const std::set<Outcome> &outcomes, std::uint64_t first, std::uint64_t second) {
    return std::ranges::any_of(outcomes,
                               [&](const Outcome &o) { return o.results[0] == first && o.results[1] == second; });
  };
  // A load may be made after a store that follows it.
  const Allowed early = enumerate(
      Litmus::of({ld + "%rd1, [a]; out 0, %rd1; " + st + "[b], 1;", ld + "%rd1, [b]; out 1, %rd1; " + st + "[a], 1;"}));
  CHECK(has(early.outcomes, 1, 1));
  CHECK_FALSE(has(early.inOrder, 1, 1));
  // But values do not come out of nothing.
  const Allowed copied = enumerate(Litmus::of(
      {ld + "%rd1, [a]; out 0, %rd1; " + st + "[b], %rd1;", ld + "%rd1, [b]; out 1, %rd1; " + st + "[a], %rd1;"}));
  CHECK(copied.outcomes.size() == 1);
  // Coherence may go against the order of execution.
  const auto crossed = [&](const std::string &fence) {
    const Allowed allowed =
        enumerate(Litmus::of({st + "[a], 1; " + fence + st + "[b], 2;", st + "[b], 1; " + fence + st + "[a], 2;"}));
    return std::ranges::any_of(allowed.outcomes, [](const Outcome &o) { return o.memory[0] == 1 && o.memory[1] == 1; });
  };
  CHECK(crossed(""));
  CHECK_FALSE(crossed("fence.sc.sys; "));
  // Nothing comes between the halves of a read-modify-write.
  const std::string add = "atom.relaxed.sys.global.add.u64 %rd1, [a], 1; ";
  const Allowed added = enumerate(Litmus::of({add + "out 0, %rd1;", add + "out 1, %rd1;"}));
  CHECK(added.outcomes.size() == 2);
  CHECK_FALSE(has(added.outcomes, 0, 0));
  CHECK_FALSE(added.races);
}
