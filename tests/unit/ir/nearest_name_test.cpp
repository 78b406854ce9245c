// What misspelt names may stand for.
#include "catch.h"
#include "ir/nearest_name.h"

#include <vector>

using namespace mscclc;

TEST_CASE("a misspelt name is near to one name") {
  const std::vector<std::string> names{"instances", "protocol", "threadsPerBlock", "via", "by", "op"};
  CHECK(ir::nearestName("instance", names) == "instances");
  CHECK(ir::nearestName("numThreadsPerBlock", names) == "threadsPerBlock");
  CHECK(ir::nearestName("threads_per_block", names) == "threadsPerBlock");
  CHECK(ir::nearestName("vai", names) == "via"); // two letters swapped
  CHECK(ir::nearestName("opp", names) == "op");
  CHECK(ir::nearestName("Protocol", names) == "protocol");
}

TEST_CASE("what has little in common with all names is near to none") {
  const std::vector<std::string> names{"via", "by", "op"};
  CHECK(ir::nearestName("packets", names) == std::nullopt);
  CHECK(ir::nearestName("xy", names) == "by"); // one letter of two
  CHECK(ir::nearestName("ab", std::vector<std::string>{"cd"}) == std::nullopt);
  CHECK(ir::nearestName("", names) == std::nullopt);
  CHECK(ir::nearestName("via", std::vector<std::string>{}) == std::nullopt);
  CHECK(ir::nearestName(std::string(100, 'a'), std::vector<std::string>{std::string(100, 'a')}) == std::nullopt);
}
