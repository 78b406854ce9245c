// Litmus programs as PTX, run by the machine.
#include "litmus.h"

#include <algorithm>
#include <cstring>
#include <regex>

namespace mscclc::ptx {
namespace {

constexpr std::uint64_t multicastBase = 1 << 20; ///< of addresses that stand for those of the locations alone
constexpr std::size_t wordsApart = 8;            ///< between locations

const std::string parameters = "(.param .u64 p0, .param .u64 p1, .param .u64 p2) {\n"
                               ".reg .b64 %rd<99>;\n.reg .pred %p<9>;\n.reg .b32 %r<9>;\n"
                               "ld.param.u64 %rd90, [p0];\nld.param.u64 %rd91, [p1];\nld.param.u64 %rd92, [p2];\n";

/// The body with addresses in the place of letters, and labels that are its own.
std::string textOf(const std::string &body, std::size_t number) {
  std::string text;
  for (std::size_t i = 0; i < body.size(); ++i) {
    if (body[i] == '[' && body.at(i + 2) == ']') {
      const bool isMulticast = body[i + 1] < 'a';
      text += (isMulticast ? "[%rd92+" : "[%rd90+") +
              std::to_string(8 * wordsApart * static_cast<unsigned>(body[i + 1] - (isMulticast ? 'A' : 'a'))) + "]";
      i += 2;
    } else if (body.substr(i, 4) == "out ") {
      text += "st.global.u64 [%rd91+" + std::to_string(8 * (body.at(i + 4) - '0')) + "],";
      i += 5;
    } else {
      text += body[i];
    }
  }
  static const std::regex label("\\b([A-Z][A-Z0-9]+)\\b");
  return std::regex_replace(text, label, "$1_" + std::to_string(number));
}

/// One entry for all threads of a device.
struct Device {
  std::map<unsigned, std::vector<std::size_t>> blocks; ///< threads, by block
  unsigned width() const {
    std::size_t most = 0;
    for (const auto &[block, threads] : blocks)
      most = std::max(most, threads.size());
    return static_cast<unsigned>(most);
  }
};

std::string entryOf(const Litmus &litmus, const Device &device, unsigned number) {
  std::string text = ".entry d" + std::to_string(number) + parameters +
                     "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %tid.x;\n" + "mul.lo.u32 %r1, %r1, " +
                     std::to_string(device.width()) + ";\nadd.u32 %r1, %r1, %r2;\n";
  std::size_t block = 0;
  for (const auto &[name, threads] : device.blocks) {
    for (std::size_t i = 0; i < threads.size(); ++i) {
      const std::string next = "NEXT_" + std::to_string(threads[i]);
      text += "setp.ne.u32 %p9, %r1, " + std::to_string(block * device.width() + i) + ";\n@%p9 bra " + next + ";\n" +
              textOf(litmus.threads[threads[i]].body, threads[i]) + "\nret;\n" + next + ":\n";
    }
    ++block;
  }
  return text + "ret;\n}\n";
}

} // namespace

Litmus Litmus::of(const std::vector<std::string> &bodies, bool oneDevice) {
  Litmus litmus;
  for (unsigned i = 0; i < bodies.size(); ++i)
    litmus.threads.push_back({bodies[i], oneDevice ? 0 : i, oneDevice ? i : 0});
  return litmus;
}

std::string litmusEntry(const LitmusThread &thread, std::size_t number) {
  return ".entry t" + std::to_string(number) + parameters + textOf(thread.body, number) + "\nret;\n}\n";
}

bool Seen::has(const std::vector<std::uint64_t> &results) const {
  return std::ranges::any_of(outcomes, [&](const Outcome &outcome) {
    return std::ranges::equal(results, std::span(outcome.results).first(results.size()));
  });
}

Seen runLitmus(const Litmus &litmus, std::uint64_t schedules, std::uint64_t first) {
  std::map<unsigned, Device> devices;
  for (std::size_t i = 0; i < litmus.threads.size(); ++i)
    devices[litmus.threads[i].device].blocks[litmus.threads[i].block].push_back(i);
  std::string text = ".version 9.0\n.target sm_90\n";
  for (const auto &[number, device] : devices)
    text += entryOf(litmus, device, number);
  const Module module = readModule(text);
  Seen seen;
  for (std::uint64_t seed = first; seed < first + schedules; ++seed) {
    alignas(64) std::uint64_t memory[wordsApart * litmusLocations] = {};
    alignas(64) std::uint64_t results[litmusResults] = {};
    for (const auto &[location, value] : litmus.initial)
      memory[wordsApart * static_cast<unsigned>(location - 'a')] = value;
    const std::uint64_t given[] = {reinterpret_cast<std::uint64_t>(memory), reinterpret_cast<std::uint64_t>(results),
                                   multicastBase};
    std::vector<Launch> launches;
    for (const auto &[number, device] : devices) {
      Launch launch;
      launch.module = &module;
      launch.entry = module.functionOf.at("d" + std::to_string(number));
      launch.parameters.resize(sizeof given);
      std::memcpy(launch.parameters.data(), given, sizeof given);
      launch.blocks = static_cast<unsigned>(device.blocks.size());
      launch.threads = device.width();
      launch.stream = &device;
      launches.push_back(std::move(launch));
    }
    Machine machine(seed, {}, [&](std::uint64_t address) -> std::vector<std::uint64_t> {
      return address - multicastBase < sizeof memory ? std::vector{address - multicastBase + given[0]}
                                                     : std::vector<std::uint64_t>();
    });
    machine.run(std::move(launches));
    Outcome outcome;
    std::ranges::copy(results, outcome.results.begin());
    for (unsigned i = 0; i < litmusLocations; ++i)
      outcome.memory[i] = memory[wordsApart * i];
    seen.outcomes.insert(outcome);
    for (const Race &race : machine.memory().races())
      seen.races.insert((race.first == nullptr ? "user" : race.first->text) + " / " +
                        (race.second == nullptr ? "user" : race.second->text));
  }
  return seen;
}

} // namespace mscclc::ptx
