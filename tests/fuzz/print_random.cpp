// Random programs as IR text: print_random FOLDER COUNT [FIRST_SEED] writes FOLDER/SEED.ir for each.
#include "random_program.h"

#include "ir/text.h"

#include <cstdlib>
#include <fstream>
#include <iostream>

int main(int argc, char **argv) {
  if (argc < 3) {
    std::cerr << "usage: print_random FOLDER COUNT [FIRST_SEED]\n";
    return 2;
  }
  const std::uint64_t first = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1;
  const std::uint64_t count = std::strtoull(argv[2], nullptr, 10);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    std::string text;
    mscclc::ir::print(fuzz::randomProgram(seed).program, text);
    std::ofstream file(std::string(argv[1]) + "/" + std::to_string(seed) + ".ir");
    file << text;
    if (!file.flush()) {
      std::cerr << "cannot write below " << argv[1] << "\n";
      return 1;
    }
  }
  return 0;
}
