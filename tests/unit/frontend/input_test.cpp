#include "catch.h"
#include "source.h"

#include <cstdio>
#include <filesystem>
#include <fstream>

#include <sys/stat.h>
#include <unistd.h>

using namespace mscclc::frontend;
namespace fs = std::filesystem;

namespace {

/// A folder of its own that goes away with the test.
class Folder {
public:
  Folder() : path_(fs::temp_directory_path() / ("mscclc test " + std::to_string(getpid()))) {
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  std::string file(const std::string &name, const std::string &text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return (path_ / name).string();
  }
  std::string path() const { return path_.string(); }

private:
  fs::path path_;
};

Compiled compileFile(const std::string &path, std::vector<std::string> args = {}) {
  FrontendOptions options;
  options.inputPath = path;
  options.clangArgs = std::move(args);
  options.memoryBytes = std::uint64_t{64} << 20;
  return compile(options);
}
std::string fileErrors(const std::string &path) {
  return errorsOf(compileFile(path).diagnostics);
}

} // namespace

TEST_CASE("a path with spaces, an include beside the file, and -I and -D") {
  const Folder folder;
  folder.file("beside.h", "inline int ranks() { return RANKS; }\n");
  fs::create_directory(folder.path() + "/sub dir");
  std::ofstream(folder.path() + "/sub dir/elsewhere.h") << "constexpr int chunks = 1;\n";
  const std::string path =
      folder.file("my algo.cpp", "#include \"beside.h\"\n#include <elsewhere.h>\n#include <mscclc/dsl.hpp>\n"
                                 "using namespace mscclc;\nMSCCLC_ALGORITHM void f() { CollectiveProgram p(\"x\", "
                                 "AllGather(ranks(), chunks, true)); Rank(0).barrier({0}); }\n");
  const Compiled result = compileFile(path, {"-DRANKS=3", "-I", folder.path() + "/sub dir"});
  REQUIRE(errorsOf(result.diagnostics) == "");
  CHECK(result.program->ranks.size() == 3);
}

TEST_CASE("an error in an included file says how it came to be read") {
  const Folder folder;
  folder.file("bad.h", "int counter;\n");
  const Compiled result = compileFile(
      folder.file("a.cpp", "#include <mscclc/dsl.hpp>\n#include \"bad.h\"\nMSCCLC_ALGORITHM void f() {}\n"));
  REQUIRE(result.diagnostics.all().size() == 1);
  const auto &error = result.diagnostics.all()[0];
  CHECK(fs::path(error.place.file).filename() == "bad.h");
  CHECK(error.place.excerpt == "int counter;");
  REQUIRE(error.notes.size() == 1);
  CHECK(error.notes[0].message == "included from here");
  CHECK(error.notes[0].place.line == 2);
}

TEST_CASE("what cannot be read is said in words") {
  const Folder folder;
  CHECK(fileErrors(folder.path() + "/missing.cpp") == "cannot read the algorithm: No such file or directory\n");
  CHECK(fileErrors(folder.path()) == "cannot read the algorithm: it is a directory\n");
  CHECK(fileErrors("/dev/zero") == "cannot read the algorithm: it is not a regular file\n");
  const std::string fifo = folder.path() + "/fifo";
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  CHECK(fileErrors(fifo) == "cannot read the algorithm: it is not a regular file\n");
  const std::string locked = folder.file("locked.cpp", "int x;\n");
  chmod(locked.c_str(), 0);
  if (geteuid() != 0)
    CHECK(fileErrors(locked) == "cannot read the algorithm: Permission denied\n");
  const std::string huge = folder.file("huge.cpp", "");
  REQUIRE(truncate(huge.c_str(), 100 << 20) == 0);
  CHECK(fileErrors(huge) == "the file is larger than 32 MiB\n");
}

TEST_CASE("includes that never end, or would block, are refused") {
  const Folder folder;
  const std::string fifo = folder.path() + "/fifo.h";
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  CHECK(fileErrors(folder.file("a.cpp", "#include \"/dev/zero\"\n"))
            .starts_with("1:10: '/dev/zero' is not among the files that a source may read: "));
  CHECK(fileErrors(folder.file("b.cpp", "#include \"fifo.h\"\n"))
            .starts_with("1:10: '" + folder.path() + "/fifo.h' is not a regular file\n"));
  CHECK(fileErrors(folder.file("c.cpp", "#include \"c.cpp\"\n")).find("#include nested too deeply") !=
        std::string::npos);
}

TEST_CASE("empty files, garbage, other encodings") {
  const Folder folder;
  CHECK(fileErrors(folder.file("empty.cpp", "")) == "no algorithm here: mark a function with MSCCLC_ALGORITHM\n");
  std::string garbage;
  std::uint32_t state = 12345;
  for (int i = 0; i < 20000; ++i)
    garbage += static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  CHECK(fileErrors(folder.file("garbage.cpp", garbage)) != "");
  CHECK(fileErrors(folder.file("elf.cpp", std::string("\x7f"
                                                      "ELF\x02\x01\x01\0\0\0\0",
                                                      11))) != "");
  CHECK(fileErrors(folder.file("utf16.cpp", std::string("\xff\xfe"
                                                        "i\0n\0t\0",
                                                        8))) != "");
  const Compiled latin = compileFile(
      folder.file("latin.cpp", "#include <mscclc/dsl.hpp>\nMSCCLC_ALGORITHM void f() { int caf\xe9 = 1; }\n"));
  CHECK(latin.diagnostics.hasErrors());
  CHECK(latin.diagnostics.all()[0].place.excerpt == "MSCCLC_ALGORITHM void f() { int caf? = 1; }");
  CHECK(fileErrors(folder.file("deep.cpp", "int x = " + std::string(100000, '(') + "1;\n"))
            .find("bracket nesting level exceeded") != std::string::npos);
  std::string sum = "#include <mscclc/dsl.hpp>\nint x = 1";
  for (int i = 0; i < 200000; ++i)
    sum += "+1";
  CHECK(fileErrors(folder.file("long.cpp", sum + ";\nMSCCLC_ALGORITHM void f() {}\n")) != "");
}

TEST_CASE("arguments that Clang does not take, and files that they would write") {
  const Folder folder;
  const std::string path = folder.file("a.cpp", "#include <mscclc/dsl.hpp>\nMSCCLC_ALGORITHM void f() {}\n");
  CHECK(errorsOf(compileFile(path, {"--no-such-option"}).diagnostics).find("--no-such-option") != std::string::npos);
  compileFile(path, {"-MD", "-MF", folder.path() + "/deps.d", "-o", folder.path() + "/out.o", "--serialize-diagnostics",
                     folder.path() + "/diagnostics.dia", "-save-temps", "-ftime-trace"});
  std::size_t files = 0;
  for ([[maybe_unused]] const auto &entry : fs::directory_iterator(folder.path()))
    ++files;
  CHECK(files == 1);
}

TEST_CASE("the same source gives the same program, whatever the addresses are") {
  const auto once = [] {
    const Compiled result = compile(sourceOptions(
        "#include <mscclc/dsl.hpp>\n#include <map>\n#include <memory>\nusing namespace mscclc;\n"
        "MSCCLC_ALGORITHM void f() {\n  CollectiveProgram p(\"x\", AllGather(2, 64, true));\n"
        "  std::map<std::shared_ptr<int>, int> byAddress; int local = 0; static constexpr int fixed = 0;\n"
        "  for (int i = 0; i < 50; ++i) byAddress[std::make_shared<int>(i * 7919 % 50)] = i;\n"
        "  std::map<const void *, int> mixed = {{&local, 50}, {&fixed, 51}, {byAddress.begin()->first.get(), 52}, "
        "{\"text\", 53}};\n"
        "  Rank r(0);\n  for (auto &[k, i] : byAddress) r.copy(r.output()[i], r.input()[*k], tb(0));\n"
        "  for (auto &[k, i] : mixed) r.copy(r.output()[i], r.input()[0], tb(0));\n}\n"));
    std::string order = errorsOf(result.diagnostics);
    if (result.program)
      for (const mscclc::ir::Chunk &c : result.program->ranks[0].blocks[0].chunks)
        order += std::to_string(c.index) + " ";
    return order;
  };
  const std::string first = once();
  CHECK(first.size() >= 100);
  for (int i = 0; i < 3; ++i)
    CHECK(once() == first);
}
