// Random operations for properties that hold of every program.
#pragma once

#include "ir_text.h"

#include <random>

namespace mscclc::passes {

/// `count` random operations of the block of programText, pipelines among them.
inline std::string randomOps(std::mt19937 &random, int count) {
  auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  auto pick = [&](std::initializer_list<const char *> items) {
    return std::string(items.begin()[below(int(items.size()))]);
  };
  auto chunk = [&](const std::string &buffer) {
    const int index = below(4);
    return buffer + "[" + std::to_string(index) + ":" + std::to_string(index + 1) + "]";
  };
  auto local = [&] { return chunk(pick({"input", "output", "scratch"})); };
  auto remote = [&] { return chunk(pick({"remote0", "remote1", "remote2"})); };
  auto sync = [&] { return pick({"", " sync before", " sync after", " sync both"}); };
  auto one = [&]() -> std::string {
    const std::string id = " [" + std::to_string(below(3)) + "]", result = local(), packet = chunk("scratch");
    switch (below(14)) {
    case 0:
    case 1:
      return pick({"signal", "wait"}) + pick({" memory", " port"}) + id + sync();
    case 2:
      return pick({"rlxsignal", "rlxwait"}) + " memory" + id + sync();
    case 3:
      return pick({"sem_acquire", "sem_release"}) + id + sync();
    case 4:
      return pick({"nop", "flush port [0]", "barrier 0 blocks 1"});
    case 5:
      return "copy " + local() + " <- " + local();
    case 6:
      return "put memory " + remote() + " <- " + local() + "\nput memory " + remote() + " <- " + local();
    case 7:
      return pick({"put", "pws", "pwsf"}) + " port" + id + " " + remote() + " <- " + local();
    case 8:
      return "get memory" + id + " " + local() + " <- " + remote();
    case 9:
      return "re " + result + " <- " + result + ", " + local() + "\nre " + result + " <- " + result + ", " + local();
    case 10:
      return "rre memory " + result + " <- " + local() + ", " + remote() + "\nput memory " + remote() + " <- " + result;
    case 11:
      return "repkt " + result + " <- " + local() + ", " + packet + "\n" +
             (below(2) ? "cpkt " + packet : "ppkt memory " + chunk("remote2")) + " <- " + result;
    case 12:
      return "glre switch [0] " + result + " <- " + chunk("switch0") + "\ngstore switch [0] " + chunk("switch0") +
             " <- " + result;
    default:
      return pick({"cpkt ", "upkt "}) == "cpkt " ? "cpkt " + packet + " <- " + local()
                                                 : "upkt " + local() + " <- " + packet;
    }
  };
  std::string ops;
  for (int i = 0; i < count; ++i) {
    if (below(8) != 0) {
      ops += one() + "\n";
      continue;
    }
    ops += "pipeline unit_size 64 num_chunks 1 {\n";
    for (int k = below(5); k >= 0; --k)
      ops += one() + "\n";
    ops += "}\n";
  }
  return ops;
}

} // namespace mscclc::passes
