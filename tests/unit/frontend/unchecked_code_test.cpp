// Tests that forbidden code is stopped even if the dialect's rules do not see it, because it is in a header that counts
// as a library's.
#include "catch.h"
#include "source.h"

#include <filesystem>
#include <fstream>

#include <sys/resource.h>
#include <unistd.h>

using namespace mscclc::frontend;
namespace fs = std::filesystem;

namespace {

/// Errors of an algorithm that calls `f()`, which is defined by `header`; the call is at 4:3.
std::string calling(const std::string &header) {
  const fs::path folder = fs::temp_directory_path() / ("mscclc unchecked " + std::to_string(getpid()));
  fs::create_directories(folder);
  std::ofstream(folder / "library.h") << header;
  FrontendOptions options =
      sourceOptions("#include <library.h>\n#include <mscclc/dsl.hpp>\nMSCCLC_ALGORITHM void a() {\n  f();\n}\n");
  options.clangArgs = {"-isystem", folder.string()};
  const std::string errors = errorsOf(options);
  fs::remove_all(folder);
  return errors;
}

} // namespace

TEST_CASE("functions without a definition that a library's header calls") {
  CHECK(calling("extern \"C\" char *getenv(const char *);\ninline void f() { getenv(\"HOME\"); }\n") ==
        "4:3: this needs 'getenv', which has no definition here: libraries cannot be called\n");
  CHECK(calling("extern int shared;\ninline void g() { shared = 1; }\ninline void f() { g(); }\n") ==
        "4:3: this needs 'shared', which has no definition here: libraries cannot be called\n");
}

TEST_CASE("memory that is not the algorithm's") {
  CHECK(calling("inline void f() { *reinterpret_cast<volatile int *>(64) = 1; }\n") ==
        "4:3: access to memory that is not the algorithm's\n");
  CHECK(errorsOf(sourceOptions(algorithm("int local = 0;\nstd::unique_ptr<int> p(&local);", "#include <memory>\n")))
            .find("memory is released that was not allocated, or was released before") != std::string::npos);
  CHECK(errorsOf(sourceOptions(algorithm("auto p = std::make_unique<int>(1);\nstd::unique_ptr<int> q(p.get());",
                                         "#include <memory>\n")))
            .find("memory is released that was not allocated, or was released before") != std::string::npos);
}

TEST_CASE("traps") {
  CHECK(calling("inline void f() { __builtin_trap(); }\n")
            .starts_with("4:3: the processor stopped the algorithm (signal "));
}

TEST_CASE("assembly and the processor's clock") {
  CHECK(calling("inline void f() { asm volatile(\"nop\"); }\n")
            .starts_with("3:23: Clang gave up: Inline asm not supported by this streamer"));
#ifdef __x86_64__
  CHECK(calling("inline void f() { __builtin_ia32_rdtsc(); }\n") ==
        "4:3: access to memory that is not the algorithm's\n");
#endif
}

TEST_CASE("values that a type does not have") {
  CHECK(
      errorsOf(sourceOptions(algorithm("union { unsigned char c; bool b; } u;\nu.c = 2;\nbool x = u.b;\n(void)x;"))) ==
      "5:12: 2 is not a valid value of type 'bool'\n");
}

TEST_CASE("a crash of Clang is an error where it was reading") {
  CHECK(errorsOf(sourceOptions("#include <mscclc/dsl.hpp>\nint x;\n#pragma clang __debug crash\n"))
            .starts_with("2:6: Clang crashed while it read this ("));
}

TEST_CASE("a header that is not there, arguments that compile nothing") {
  FrontendOptions options = sourceOptions(algorithm(""));
  options.dslDirectory = "/nowhere/include";
  CHECK(errorsOf(options) == "the header <mscclc/dsl.hpp> is not in /nowhere/include\n");
  const auto with = [](std::vector<std::string> args) {
    FrontendOptions o = sourceOptions(algorithm(""));
    o.clangArgs = std::move(args);
    return errorsOf(o);
  };
  CHECK(with({"-###"}) == "Clang does not take these arguments: nothing is compiled with them\n");
  CHECK(with({"other.cpp"}) == "Clang does not take these arguments: they name other inputs, or ask for something else "
                               "than compiling\n");
  CHECK(with({"--target=riscv64-linux-gnu"})
            .starts_with("Clang does not take these arguments: algorithms run on this machine, not on riscv64"));
}

#ifndef __SANITIZE_ADDRESS__
TEST_CASE("without memory for a child there is an error, not a crash") {
  rlimit before{};
  getrlimit(RLIMIT_AS, &before);
  const FrontendOptions options = sourceOptions(algorithm(""));
  Compiled result;
  rlimit tight = before;
  tight.rlim_cur = 1 << 20; // less than is in use already
  setrlimit(RLIMIT_AS, &tight);
  result.program = compileAlgorithm(options, result.diagnostics);
  setrlimit(RLIMIT_AS, &before);
  CHECK(errorsOf(result.diagnostics) == "cannot start a process for the algorithm: Cannot allocate memory\n");
}
#endif
