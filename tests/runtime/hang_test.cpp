// What is said of launches that hang: which rank is the cause, and who waits for whom, where.
#include "processes.h"

#include <fstream>
#include <sstream>
#include <sys/stat.h>

using namespace testing;
using Codes = std::vector<int>;

namespace {

/// Runs gather4 twice on ranks that have a process each; then `last` is the third call of a process. Returns the text
/// of its failure. Time-outs are 1 s.
std::string failureAfter(uint32_t process, const std::string &place,
                         const std::function<void(Communicator &, Instance &, Buffer &)> &last) {
  CommunicatorOptions options = spread(4, 4, process, place);
  options.wait_timeout_ms = 1000;
  Communicator communicator(options);
  Buffer buffer = communicator.allocate(4096);
  Instance instance = communicator.load(gather4(), 4096);
  for (int launch = 0; launch < 2; ++launch)
    instance.launch(Call().inPlace(buffer).of(4096, MSCCLC_U8));
  communicator.synchronize();
  communicator.barrier();
  return failureOf([&] {
           last(communicator, instance, buffer);
           communicator.synchronize();
           for (int i = 0; i < 3000 && communicator.isHealthy(); ++i)
             ::usleep(10 * 1000);
           communicator.synchronize();
         })
      .text;
}
void gather(Communicator &, Instance &instance, Buffer &buffer) {
  instance.launch(Call().inPlace(buffer).of(4096, MSCCLC_U8));
}

/// 0 if the text has all parts.
int holdsAll(uint32_t process, const std::string &text, const std::vector<std::string> &parts) {
  for (const std::string &part : parts)
    if (!contains(text, part)) {
      std::fprintf(stderr, "process %u: no \"%s\" in:\n%s\n", process, part.c_str(), text.c_str());
      return 1;
    }
  return 0;
}

std::string fileText(const std::string &path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// A folder of this test's own.
std::string newFolder() {
  char name[] = "/tmp/mscclc-hang-XXXXXX";
  REQUIRE(::mkdtemp(name) != nullptr);
  return name;
}

} // namespace

TEST_CASE("A rank that never launches is named, with who waits for it, where, and what has come") {
  const std::string place = newPlace(), folder = newFolder();
  CHECK(inProcesses(4, [&](uint32_t process) {
          ::setenv("MSCCLC_DUMP", (folder + "/hang.json").c_str(), 1);
          const std::string text = failureAfter(process, place, [&](Communicator &c, Instance &i, Buffer &b) {
            if (process != 2)
              gather(c, i, b);
          });
          std::vector<std::string> parts{
              "cause: rank 2 has not begun launch 3 of kernel 'gather4', as ranks 0, 1 and 3 have"};
          if (process != 2)
            parts.push_back(
                "kernel 'gather4': rank " + std::to_string(process) +
                ", block 0, operation 0 (wait, gather.cpp:10) waits for signal 5 of rank 2 on memory channel " +
                std::to_string(process > 2 ? 2 : 1) + "; 4 came (for ");
          if (holdsAll(process, text, parts) != 0)
            return 1;
          const std::string dump = fileText(folder + "/hang." + std::to_string(process) + ".json");
          return holdsAll(
              process, dump,
              {"\"format\": \"mscclc hang\", \"version\": 1",
               "\"ranks\": 4, \"reporting\": [" + std::to_string(process) + "]",
               "{\"kernel\": \"gather4\", \"rank\": 2, \"finished\": 2, \"runs\": false, \"bytes\": 4096}"});
        }) == Codes(4, 0));
}

TEST_CASE("A rank that launches another size is named") {
  const std::string place = newPlace();
  CHECK(inProcesses(4, [&](uint32_t process) {
          const std::string text = failureAfter(process, place, [&](Communicator &c, Instance &, Buffer &) {
            Instance other = c.load(sized4(), 4096);
            Buffer in = c.allocate(4096), out = c.allocate(4096);
            other.launch(Call().on(in, out).of(process == 1 ? 1024 : 4096, MSCCLC_U8));
            c.synchronize();
          });
          return holdsAll(
              process, text,
              {"cause: launch 1 of kernel 'sized4' has different sizes: 1024 bytes on rank 1, 4096 bytes on "
               "ranks 0, 2 and 3"});
        }) == Codes(4, 0));
}

TEST_CASE("A rank that launches another kernel is named") {
  const std::string place = newPlace();
  CHECK(inProcesses(4, [&](uint32_t process) {
          const std::string text = failureAfter(process, place, [&](Communicator &c, Instance &i, Buffer &b) {
            Instance other = c.load(packets4(), 4096);
            Buffer in = c.allocate(4096), out = c.allocate(4096);
            if (process == 3)
              other.launch(Call().on(in, out).of(256, MSCCLC_F32));
            else
              gather(c, i, b);
            c.synchronize();
          });
          std::vector<std::string> parts{
              "cause: rank 3 has launched kernel 'packets4' with 256 bytes, and not begun launch 3 "
              "of kernel 'gather4', as ranks 0 to 2 have"};
          if (process == 3)
            parts.push_back(
                "rank 3, block 0, operation 0 (rpkt, packets.cpp:30) waits for packet 0 of rank 0; 0 of 1 came");
          return holdsAll(process, text, parts);
        }) == Codes(4, 0));
}

TEST_CASE("A rank that was killed is named, with who waits for it") {
  const std::string place = newPlace();
  CHECK(inProcesses(4, [&](uint32_t process) {
          const std::string text = failureAfter(process, place, [&](Communicator &c, Instance &i, Buffer &b) {
            if (process == 1)
              ::kill(::getpid(), SIGKILL);
            gather(c, i, b);
          });
          return holdsAll(process, text, {"(rank 1) ended", "cause: rank 1 died: its process has ended"});
        }) == (Codes{0, -1, 0, 0}));
}

TEST_CASE("Where waits may last for ever, one that takes long is said again and again, and goes on") {
  const std::string folder = newFolder(), errors = folder + "/errors";
  CHECK(inProcesses(1, [&](uint32_t process) {
          if (std::freopen(errors.c_str(), "w", stderr) == nullptr)
            return 2;
          ::setenv("MSCCLC_DUMP", (folder + "/hang.json").c_str(), 1);
          CommunicatorOptions options = onHost(2, MSCCLC_NO_TIMEOUT);
          options.report_after_ms = 300;
          Communicator communicator(options);
          Buffer input = communicator.allocate(64), output = communicator.allocate(64);
          Instance instance = communicator.load(stuck2(), 64);
          instance.launch(Call().on(input, output).of(64, MSCCLC_U8));
          ::usleep(1500 * 1000);
          if (!communicator.isHealthy())
            return 1;
          communicator.abort("enough");
          const Failure failure = failureOf([&] { communicator.synchronize(); });
          std::fflush(stderr);
          const std::string said = fileText(errors),
                            first = "mscclc: warning: launches have waited for long, and continue to wait: ";
          if (said.find(first, said.find(first) + 1) == std::string::npos)
            return 3;
          return holdsAll(
                     process, said,
                     {first +
                      "cause: rank 0 has ended launch 1 of kernel 'stuck2' without what rank 1 waits for; kernel "
                      "'stuck2': rank 1, block 0, operation 7 (wait, stuck.cpp:12) waits for signal 1 of rank 0"}) +
                 holdsAll(process, failure.text, {"enough\n", "operation 7 (wait, stuck.cpp:12) waits"}) +
                 holdsAll(process, fileText(folder + "/hang.json"), {"\"reason\": \"enough\\u000acause: "});
        }) == Codes(1, 0));
}
