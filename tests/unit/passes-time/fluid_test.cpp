// Max-min fair sharing.
#include "catch.h"
#include "passes/time/fluid.h"

#include <cmath>
#include <random>

using namespace mscclc::passes::time;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST_CASE("flows share what is full, and what one cannot use goes to the others") {
  FluidNetwork network;
  const auto link = network.addResource(90), other = network.addResource(20);
  const FluidNetwork::Use both[] = {{link, 1}, {other, 1}}, one[] = {{link, 1}};
  network.start(0, 2000, infinity, both, 1); // 20: the other resource is full
  network.start(0, 3000, 30, one, 2);        // 30: its own cap
  network.start(0, 4000, infinity, one, 3);  // 40: what is left
  CHECK(network.nextEnd(0) == 100);
  std::vector<FluidNetwork::Ended> ended;
  network.takeEnded(100, ended);
  REQUIRE(ended.size() == 3);
  CHECK(ended[0].bound == other);
  CHECK(ended[1].bound == FluidNetwork::noResource);
  CHECK(ended[2].bound == link);
  CHECK(network.traffic(link) == 9000);
  CHECK(network.nextEnd(100) == infinity);
}

TEST_CASE("rates change when flows come and go") {
  FluidNetwork network;
  const auto link = network.addResource(100);
  const FluidNetwork::Use use[] = {{link, 1}};
  network.start(0, 1000, infinity, use, 1);
  network.start(5, 1000, infinity, use, 2); // the first has 500 left, at 50 each
  CHECK(network.nextEnd(5) == 15);
  std::vector<FluidNetwork::Ended> ended;
  network.takeEnded(15, ended);
  CHECK(ended.size() == 1);
  CHECK(network.nextEnd(15) == 20); // 500 left at 100
}

TEST_CASE("flows of one class may end for different limits") {
  FluidNetwork network;
  const auto narrow = network.addResource(10), wide = network.addResource(100);
  const FluidNetwork::Use both[] = {{narrow, 1}, {wide, 1}}, one[] = {{wide, 1}};
  network.start(0, 1300, infinity, both, 1); // 10: alone, until 100
  network.nextEnd(0);
  for (std::uint64_t other = 3; other < 103; ++other)
    network.start(100, 1e6, infinity, one, other);
  network.start(100, 49, infinity, both, 2); // 100 / 102: `wide` is full
  const Time end = network.nextEnd(100);
  CHECK(std::abs(end - (100 + 49 * 1.02)) < 1e-6);
  std::vector<FluidNetwork::Ended> ended;
  network.takeEnded(end, ended);
  REQUIRE(ended.size() == 1);
  CHECK((ended[0].tag == 2 && ended[0].bound == wide));
  const Time last = network.nextEnd(end);
  CHECK(std::abs(last - (end + 251 * 1.01)) < 1e-6);
  network.takeEnded(last, ended);
  REQUIRE(ended.size() == 2);
  CHECK((ended[1].tag == 1 && ended[1].bound == wide)); // for 300 ns, after 100 by `narrow`
}

TEST_CASE("what the clock cannot tell from now has ended") {
  FluidNetwork network;
  const auto link = network.addResource(400);
  const FluidNetwork::Use use[] = {{link, 1}};
  const Time late = 2.5e12; // steps of the clock are half a picosecond here, in which 0.2 bytes pass
  network.start(late, 0.01, infinity, use, 1);
  const Time end = network.nextEnd(late);
  std::vector<FluidNetwork::Ended> ended;
  network.takeEnded(end, ended);
  CHECK(ended.size() == 1);
}

TEST_CASE("no random network is overfull, and no flow could have more") {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    FluidNetwork network;
    std::vector<double> capacity;
    for (int i = 0; i < 6; ++i) {
      capacity.push_back(1 + random() % 100);
      network.addResource(capacity.back());
    }
    double bytes = 0;
    std::vector<double> load(6);
    for (std::uint64_t f = 0; f < 20; ++f) {
      std::vector<FluidNetwork::Use> uses;
      for (std::uint32_t r = 0; r < 6; ++r)
        if (random() % 3 == 0)
          uses.push_back({r, 1 + random() % 3 * 0.5});
      const double size = 1000 + random() % 1000;
      for (const auto &use : uses)
        load[use.resource] += use.weight * size;
      bytes += size;
      network.start(0, size, 1 + random() % 50, uses, f);
    }
    double now = 0, bound = 0;
    for (std::size_t r = 0; r < 6; ++r)
      bound = std::max(bound, load[r] / capacity[r]);
    std::size_t left = 20;
    std::vector<FluidNetwork::Ended> ended;
    while (left > 0) {
      now = network.nextEnd(now);
      REQUIRE(now < infinity);
      ended.clear();
      network.takeEnded(now, ended);
      REQUIRE(!ended.empty());
      left -= ended.size();
    }
    CHECK(now >= bound * (1 - 1e-9)); // no resource carried more than it can
    CHECK(now <= bytes);              // and something moved at least one byte a nanosecond all the time
  }
}

} // namespace
