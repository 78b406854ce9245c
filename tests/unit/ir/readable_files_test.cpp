#include "catch.h"
#include "ir/diagnostics.h"
#include "ir/readable_files.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace mscclc::ir;
namespace fs = std::filesystem;

namespace {

/// A folder of its own with `in/file`, `out/file` and links from one to the other.
struct Folders {
  Folders() {
    std::string name = (fs::temp_directory_path() / "mscclc-readable-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()));
    root = name;
    for (const char *folder : {"/in", "/in/deeper", "/out", "/inside"})
      fs::create_directory(root + folder);
    for (const char *file : {"/in/file", "/in/deeper/file", "/out/file", "/inside/file"})
      std::ofstream(root + file) << "first line\n";
    fs::create_symlink("file", root + "/in/to_in");
    fs::create_symlink("../out/file", root + "/in/to_out");
    fs::create_symlink("../out", root + "/in/folder");
    fs::create_symlink("../out/nothing", root + "/in/to_nothing");
    fs::create_symlink("in", root + "/to_in");
  }
  ~Folders() { fs::remove_all(root); }
  std::string root;
};

} // namespace

TEST_CASE("files are judged by where they lie") {
  const Folders folders;
  const std::string &root = folders.root;
  for (const std::string folder : {"/in", "/in/", "/to_in", "/out/../in"}) {
    ReadableFiles files;
    CHECK(!files.holds(root + "/in/file"));
    files.addFolder(root + folder);
    for (const char *held : {"/in/file", "/in/./deeper/../file", "/in/deeper/file", "/to_in/file", "/in/to_in",
                             "/in/nothing", "/in/no/such/folder", "/in/none/../file", "/in/folder/../in/file"})
      CHECK(files.holds(root + held));
    for (const char *other : {"", "/out/file", "/in", "/inside/file", "/in/../out/file", "/in/to_out",
                              "/in/folder/file", "/in/folder/nothing", "/in/to_nothing", "/in/to_nothing/x", "/nothing",
                              "/no/such/folder", "/in/none/../../out/file"})
      CHECK(!files.holds(root + other));
    CHECK(!files.holds(""));
    CHECK(!files.holds("/"));
    CHECK(!files.holds("/etc/passwd"));
    files.addFile(root + "/out/file");
    CHECK(files.holds(root + "/out/file"));
    CHECK(files.holds(root + "/in/to_out"));
    CHECK(!files.holds(root + "/out/file2"));
  }
}

TEST_CASE("all files lie below the root, and none below a folder that is not there") {
  const Folders folders;
  ReadableFiles all;
  all.addFolder("/");
  CHECK(all.holds(folders.root + "/out/file"));
  CHECK(all.holds("/file"));
  ReadableFiles none;
  none.addFolder(folders.root + "/in/to_nothing");
  none.addFolder(folders.root + "/nothing");
  none.addFolder("");
  CHECK(!none.holds(folders.root + "/nothing/file"));
}

TEST_CASE("a name is one of the files in every folder, or it is looked for outside") {
  const Folders folders;
  const std::string &root = folders.root;
  ReadableFiles files;
  files.addFolder(root + "/in");
  CHECK(files.holdsEverywhere(root + "/in", "nothing"));
  CHECK(files.holdsEverywhere(root + "/in", root + "/in/file"));
  CHECK(!files.holdsEverywhere(root + "/in/deeper", "../file"));
  CHECK(!files.holdsEverywhere(root + "/in", "../nothing"));
  CHECK(!files.holdsEverywhere(root + "/in/deeper", "to_out"));
  CHECK(!files.holdsEverywhere(root + "/in", "/nothing"));
}

TEST_CASE("a diagnostic shows lines of readable files only") {
  const Folders folders;
  SourceMap sources;
  const LocId in = sources.addPlace(sources.addFile(folders.root + "/in/file"), 1, 1);
  const LocId out = sources.addPlace(sources.addFile(folders.root + "/out/file"), 1, 1);
  static constexpr DiagInfo wrong{"wrong", Severity::Error, "wrong"};
  ReadableFiles files;
  files.addFolder(folders.root + "/in");
  for (const ReadableFiles *readable : {static_cast<const ReadableFiles *>(nullptr), &std::as_const(files)}) {
    DiagnosticEngine engine;
    engine.setSources(&sources);
    engine.setReadable(readable);
    engine.report(wrong, in);
    engine.report(wrong, out);
    CHECK(engine.all()[0].place.excerpt == (readable ? "first line" : ""));
    CHECK(engine.all()[1].place.excerpt == "");
  }
}

TEST_CASE("the folder of a file is told by its name") {
  CHECK(folderOf("a/b.cpp") == "a/");
  CHECK(folderOf("/b.cpp") == "/");
  CHECK(folderOf("b.cpp") == ".");
}
