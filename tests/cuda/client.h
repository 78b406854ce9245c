// Parts that clients of the runtime share: programs that launch the kernel of a library, and compare its results.
#pragma once

#include "mscclc/runtime.hpp"

#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace mscclc::test {

/// The options of a client. A word that is none of them names the library.
struct Arguments {
  std::map<std::string, std::function<void(const std::string &)>> values; ///< options with a value
  std::map<std::string, bool *> flags;                                    ///< options without one
};

/// Compares what `buffer` holds on `rank` with `expected`. Returns 1, and prints the first byte that differs, behind a
/// description of the launch; else 0.
inline unsigned differs(const std::string &launch, const char *what, uint32_t rank, const runtime::Buffer &buffer,
                        const std::vector<unsigned char> &expected) {
  const auto found = buffer.read<unsigned char>(rank, expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    if (found[i] != expected[i]) {
      std::printf("%s: byte %zu of %s of rank %u is %u, not %u\n", launch.c_str(), i, what, rank, found[i],
                  expected[i]);
      return 1;
    }
  return 0;
}

/// Returns the parts of a list with commas.
inline std::vector<std::string> partsOf(const std::string &list) {
  std::vector<std::string> parts;
  std::istringstream in(list);
  for (std::string part; std::getline(in, part, ',');)
    parts.push_back(part);
  return parts;
}

/// Each returns a function that writes the value of an option to `to`.
inline auto takeText(std::string &to) {
  return [&to](const std::string &value) { to = value; };
}
inline auto takeNumber(uint32_t &to) {
  return [&to](const std::string &value) { to = static_cast<uint32_t>(std::stoul(value)); };
}
inline auto takeNumbers(std::vector<uint64_t> &to) {
  return [&to](const std::string &value) {
    to.clear();
    for (const std::string &part : partsOf(value))
      to.push_back(std::stoull(part));
  };
}

/// True if a launch of `call` is refused with error `code`. Otherwise prints that `what` is not refused.
inline bool isRefused(runtime::Instance &instance, const runtime::Call &call, int32_t code, const char *what) {
  int32_t found = MSCCLC_OK;
  try {
    instance.launch(call);
  } catch (const runtime::Error &error) {
    found = error.code();
  }
  if (found != code)
    std::printf("%s is not refused\n", what);
  return found == code;
}

/// Reads the arguments, and returns the exit code of client `name`: 0 if `run(kernel)` finds nothing wrong.
template <class Run>
int runClient(const char *name, int argc, char **argv, const Arguments &arguments, const Run &run) {
  try {
    std::string library;
    for (int i = 1; i < argc; ++i) {
      const std::string word = argv[i];
      if (const auto flag = arguments.flags.find(word); flag != arguments.flags.end())
        *flag->second = true;
      else if (const auto option = arguments.values.find(word); option != arguments.values.end())
        option->second(++i < argc ? argv[i] : "");
      else
        library = word;
    }
    const auto kernels = runtime::loadLibrary(library);
    if (kernels.size() != 1)
      throw std::runtime_error(library + " has " + std::to_string(kernels.size()) + " kernels, not one");
    return run(*kernels[0]) == 0 ? 0 : 1;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    return 1;
  }
}

} // namespace mscclc::test
