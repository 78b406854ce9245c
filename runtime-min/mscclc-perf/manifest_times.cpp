#include "manifest_times.h"

#include "bench.h"

#include "mscclc/runtime.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

namespace mscclc::perf {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

[[noreturn]] void fail(const Options &options, const std::string &why) {
  throw runtime::Error(MSCCLC_ERROR_ARGUMENT, options.manifest + ": " + why);
}

Json read(const Options &options) {
  std::ifstream file(options.manifest);
  Json list = file ? Json::parse(file, nullptr, /*allow_exceptions=*/false) : Json();
  if (!list.is_object())
    fail(options, file ? "it is no list of kernels" : "it cannot be read");
  return list;
}

/// Writes the list to its file atomically: a reader finds the old text or the new text.
void write(const Options &options, const Json &list) {
  const std::string made = options.manifest + ".new";
  std::ofstream file(made);
  file << list.dump(1) << '\n';
  std::error_code error;
  if (file.flush().good())
    fs::rename(made, options.manifest, error);
  if (!file.good() || error)
    throw runtime::Error(MSCCLC_ERROR_SYSTEM, "cannot write " + options.manifest);
}

/// Returns the objects that name a kernel: entries, and the candidates within entries.
std::vector<Json *> kernelsOf(const Options &options, Json &list) {
  std::vector<Json *> found;
  const auto take = [&](Json &object) {
    if (object.contains("kernel"))
      found.push_back(&object);
  };
  const auto collective = [&](Json &one) {
    for (Json &entry : one.at("entries")) {
      take(entry);
      if (entry.contains("candidates"))
        for (Json &candidate : entry["candidates"])
          take(candidate);
    }
  };
  try {
    if (!list.contains("collectives"))
      collective(list);
    else
      for (Json &one : list["collectives"])
        collective(one);
  } catch (const Json::exception &error) {
    fail(options, error.what());
  }
  return found;
}

/// Returns the options with which this kernel is measured.
Options optionsFor(const Options &options, const Json &kernel) {
  Options one = options;
  one.library = (fs::path(options.manifest).parent_path() / kernel.at("kernel").get<std::string>()).string();
  one.kernel = kernel.value("name", "");
  if (kernel.contains("predicted_us") && !kernel["predicted_us"].empty()) {
    uint64_t least = UINT64_MAX, most = 0;
    for (const auto &size : kernel["predicted_us"].items()) {
      const uint64_t bytes = std::strtoull(size.key().c_str(), nullptr, 10);
      least = std::min(least, bytes);
      most = std::max(most, bytes);
    }
    one.minBytes = std::max(least, options.givenMin ? options.minBytes : 1);
    one.maxBytes = std::min(most, options.givenMax ? options.maxBytes : most);
  }
  return one;
}

/// Measures a kernel, and stores its times in `kernel`. Returns the exit code.
int measureInto(Json &kernel, const Options &options, uint32_t process, const std::string &rendezvous) {
  const Options one = optionsFor(options, kernel);
  const MscclcKernel &found = findKernel(one);
  if (one.minBytes > one.maxBytes || rowsOf(one, found).empty() || options.processes > found.ranks)
    return 0; // the options select nothing that the kernel can run
  const Measured measured = measure(one, found, process, rendezvous);
  Json times = Json::object();
  for (const Row &row : measured.rows)
    if (row.wrong <= 0)
      times[std::to_string(row.bytes)] = std::round(row.seconds * 1e9) / 1e3;
  kernel["measured_us"] = std::move(times);
  return measured.isRight() ? 0 : 1;
}

} // namespace

int measureManifest(const Options &options, uint32_t process, const std::string &rendezvous) try {
  Json list = read(options);
  int worst = 0;
  uint32_t number = 0;
  const std::vector<Json *> kernels = kernelsOf(options, list);
  if (kernels.empty())
    fail(options, "it lists no kernel");
  for (Json *kernel : kernels) {
    const std::string place = rendezvous.empty() ? rendezvous : rendezvous + "-" + std::to_string(number++);
    try {
      worst = std::max(worst, measureInto(*kernel, options, process, place));
    } catch (const Json::exception &error) {
      fail(options, error.what());
    } catch (const runtime::Error &error) {
      std::fflush(stdout);
      std::fprintf(stderr, "mscclc-perf: %s\n", error.what());
      kernel->erase("measured_us"); // of an earlier run
      worst = 1;
    }
    if (process == 0)
      write(options, list);
  }
  return worst;
} catch (const runtime::Error &error) {
  std::fflush(stdout);
  std::fprintf(stderr, "mscclc-perf: %s\n", error.what());
  return 1;
}

} // namespace mscclc::perf
