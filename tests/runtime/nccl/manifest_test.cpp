// Tests the list of kernels: what is read, and what is refused with a reason.
#include "manifest.h"
#include "sha256.h"

#include "catch.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace mscclc::nccl;

namespace {

/// Reads a manifest with this text. Returns the error without the file's name.
std::string read(const std::string &text, Manifest &manifest) {
  const std::string folder = std::filesystem::temp_directory_path() / ("mscclc-manifest-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  std::ofstream(folder + "/manifest.json") << text;
  const std::string why = readManifest(folder, manifest);
  std::filesystem::remove_all(folder);
  const std::string begin = folder + "/manifest.json: ";
  return why.rfind(begin, 0) == 0 ? why.substr(begin.size()) : why;
}
std::string wrong(const std::string &text) {
  Manifest manifest;
  const std::string why = read(text, manifest);
  CHECK(manifest.entries.empty());
  return why;
}
/// A list of one collective with these entries.
std::string with(const std::string &entries) {
  return R"({"version": 1, "collective": "allreduce", "ranks": 8, "entries": [)" + entries + "]}";
}
std::string entry(const std::string &min, const std::string &max, const std::string &more = "") {
  return R"({"min": )" + min + R"(, "max": )" + max + R"(, "kernel": "k.so")" + more + "}";
}

} // namespace

TEST_CASE("A manifest is read") {
  Manifest manifest;
  CHECK(read(with(entry("0", "99", R"(, "types": ["f32", "bf16"], "in_place": true, "name": "fast", "root": 3)") + "," +
                  entry("100", "18446744073709551615")),
             manifest) == "");
  REQUIRE(manifest.entries.size() == 2);
  const ManifestEntry &first = manifest.entries[0];
  CHECK(first.collective == "allreduce");
  CHECK(first.ranks == 8);
  CHECK(first.ranksPerNode == 8);
  CHECK(first.root == 3);
  CHECK(first.inPlace);
  CHECK(first.types == std::vector<std::string>{"f32", "bf16"});
  CHECK(first.kernel.substr(first.kernel.size() - 5) == "/k.so");
  CHECK(first.name == "fast");
  CHECK(manifest.entries[1].max == UINT64_MAX);
}

TEST_CASE("Calls in place, and types, have sizes of their own") {
  Manifest manifest;
  CHECK(read(with(entry("0", "99", R"(, "in_place": true, "types": ["f32"])") + "," +
                  entry("0", "49", R"(, "in_place": true, "types": ["f16"])") + "," + entry("10", "99")),
             manifest) == "");
  CHECK(manifest.entries.size() == 3);
  CHECK(wrong(with(entry("0", "99", R"(, "in_place": true)") + "," + entry("99", "199", R"(, "in_place": true)"))) ==
        "allreduce, 8 ranks: sizes 99 to 99 have two kernels");
}

TEST_CASE("The time of a kernel is the measured one, else that of the model") {
  const auto timed = [](const std::string &more) { return with(entry("0", "99", more)); };
  Manifest manifest;
  CHECK(read(timed(R"(, "predicted_us": {"1024": 3.5, "2048": 4, "65536": 9}, "measured_us": {"2048": 5})"),
             manifest) == "");
  const ManifestEntry &both = manifest.entries[0];
  CHECK(timeOf(both, 8) == 3.5);
  CHECK(timeOf(both, 1025) == 5);
  CHECK(timeOf(both, 2049) == 9);
  CHECK(timeOf(both, 1 << 20) == 9);
  CHECK(read(timed(""), manifest) == "");
  CHECK(std::isinf(timeOf(manifest.entries[0], 8)));
  CHECK(wrong(timed(R"(, "measured_us": [3])")) == "the list, entry 1, \"measured_us\" is not an object");
  for (const char *times : {R"({"1K": 3})", R"({"": 3})", R"({"1024": "3"})", R"({"1024": -1})"})
    CHECK(wrong(timed(std::string(R"(, "predicted_us": )") + times)) ==
          "the list, entry 1, \"predicted_us\" has something other than a time by a size in bytes");
}

TEST_CASE("Sizes may be NCCL's") {
  const auto nccl = [](const std::string &min, const std::string &max, const std::string &more = "") {
    return R"({"min": )" + min + R"(, "max": )" + max + R"(, "nccl": true)" + more + "}";
  };
  Manifest manifest;
  CHECK(read(with(entry("0", "9") + "," + nccl("10", "19", R"(, "candidates": [{"kernel": "other.so"}])") + "," +
                  entry("20", "29", R"(, "nccl": false)")),
             manifest) == "");
  REQUIRE(manifest.entries.size() == 2);
  CHECK(manifest.entries[1].min == 20);
  CHECK(read(with(nccl("0", "9")), manifest) == "");
  CHECK(manifest.entries.empty());
  CHECK(wrong(with(entry("0", "9") + "," + nccl("9", "19"))) == "allreduce, 8 ranks: sizes 9 to 9 have two kernels");
  CHECK(wrong(with(entry("0", "9", R"(, "nccl": true)"))) == "the list, entry 1 has a kernel and is NCCL's");
  CHECK(wrong(with(entry("0", "9", R"(, "nccl": 1)"))) == "the list, entry 1, \"nccl\" is not true or false");
}

TEST_CASE("The order of a call's sums is what all of its kernels name") {
  const auto orderOf = [](const std::string &first, const std::string &second) {
    const auto sums = [](const std::string &order) { return order.empty() ? "" : R"(, "sums": ")" + order + "\""; };
    Manifest manifest;
    CHECK(read(with(entry("0", "99", sums(first)) + "," + entry("100", "199", sums(second)) + "," +
                    entry("0", "9", R"(, "root": 1, "sums": "3+2+1")")),
               manifest) == "");
    return orderOfCalls(manifest, manifest.entries[0]);
  };
  CHECK(orderOf("1+2+3", "1+2+3") == "1+2+3");
  CHECK(orderOf("1+2+3", "") == "1+2+3");
  CHECK(orderOf("1+2+3", "1*2*3") == "1+2+3"); // of products
  CHECK(orderOf("in an order that depends on the chunk", "1+2+3") == "1+2+3");
  CHECK(orderOf("1+2+3", "2+1+3") == "");
  CHECK(orderOf("", "in an order that depends on the chunk") == "");
}

TEST_CASE("A library may be listed with its sha256") {
  const auto digest = [](const std::string &text) { return entry("0", "9", R"(, "sha256": ")" + text + "\""); };
  Manifest manifest;
  CHECK(read(with(digest(std::string(63, '0') + "f")), manifest) == "");
  CHECK(manifest.entries.at(0).sha256 == std::string(63, '0') + "f");
  for (const std::string &text : {std::string(63, '0'), std::string(65, '0'), std::string(64, 'F')})
    CHECK(wrong(with(digest(text))) == "the list, entry 1, \"sha256\" does not have 64 hexadecimal digits");
}

TEST_CASE("SHA-256 is that of FIPS 180-4") {
  const auto digest = [](const std::string &text, size_t times = 1) {
    Sha256 all;
    for (size_t i = 0; i < times; ++i)
      all.add(text.data(), text.size());
    return all.digest();
  };
  CHECK(digest("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(digest("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(digest("a", 1000000) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("The manifest of the samples is read") {
  Manifest manifest;
  CHECK(readManifest(KERNELS, manifest) == "");
  CHECK(manifest.entries.size() == LISTED);
}

TEST_CASE("Sizes with a gap, and with two kernels, are refused") {
  CHECK(wrong(with(entry("0", "99") + "," + entry("101", "200"))) ==
        "allreduce, 8 ranks: sizes 100 to 100 have no kernel, but smaller and larger ones have");
  CHECK(wrong(with(entry("0", "99") + "," + entry("99", "200"))) ==
        "allreduce, 8 ranks: sizes 99 to 99 have two kernels");
  CHECK(wrong(with(entry("5", "18446744073709551615") + "," + entry("0", "7"))) ==
        "allreduce, 8 ranks: sizes 5 to 7 have two kernels");
  // Types have ranges of their own, and those without types are for all.
  Manifest manifest;
  CHECK(read(with(entry("0", "9", R"(, "types": ["f32"])") + "," + entry("5", "30", R"(, "types": ["f16"])")),
             manifest) == "");
  CHECK(wrong(with(entry("0", "9", R"(, "types": ["f32"])") + "," + entry("5", "30"))) ==
        "allreduce, 8 ranks, f32: sizes 5 to 9 have two kernels");
}

TEST_CASE("As many ranks on other nodes have sizes of their own") {
  const auto on = [&](const char *perNode) {
    return std::string(R"({"collective": "allreduce", "ranks": 8, "ranks_per_node": )") + perNode +
           R"(, "entries": [)" + entry("0", "9") + "]}";
  };
  const auto both = [&](const char *other) {
    return R"({"version": 1, "collectives": [)" + on("8") + "," + on(other) + "]}";
  };
  Manifest manifest;
  CHECK(read(both("4"), manifest) == "");
  CHECK(manifest.entries[1].ranksPerNode == 4);
  CHECK(wrong(both("8")) == "allreduce, 8 ranks: sizes 0 to 9 have two kernels");
}

TEST_CASE("What is no manifest is refused with a reason") {
  CHECK(wrong("") == "it is not JSON");
  CHECK(wrong("[1]") == "the list is not an object");
  CHECK(wrong(std::string(100000, '[')) == "it is not JSON");
  CHECK(wrong(std::string(5 << 20, ' ')) == "it is longer than 4194304 bytes");
  CHECK(wrong(R"({"version": 2})") == "the list, \"version\" is 2; it must be in 1 to 1");
  CHECK(wrong(R"({"version": 1, "size": "input"})") == "the list, \"size\" is 'input'; only 'message' is known");
  CHECK(wrong(R"({"version": 1, "collectives": 3})") == "the list, \"collectives\" is not a list");
  CHECK(wrong(R"({"version": 1, "collective": "allreduce", "ranks": 0, "entries": []})") ==
        "the list, \"ranks\" is 0; it must be in 1 to 4096");
  CHECK(wrong(with("")) == "the list, \"entries\" is not a list of entries");
  CHECK(wrong(with("7")) == "the list, entry 1 is not an object");
  CHECK(wrong(with(entry("-1", "3"))) == "the list, entry 1, \"min\" is not a whole number of at least 0");
  CHECK(wrong(with(entry("1e300", "3"))) == "the list, entry 1, \"min\" is not a whole number of at least 0");
  CHECK(wrong(with(entry("4", "3"))) == "the list, entry 1: \"min\" is 4, more than \"max\", which is 3");
  CHECK(wrong(with(entry("0", "3", R"(, "root": 8)"))) == "the list, entry 1, \"root\" is 8; it must be in 0 to 7");
  CHECK(wrong(with(entry("0", "3", R"(, "types": ["f31"])"))) ==
        "the list, entry 1, \"types\" has \"f31\", which is not a type");
  CHECK(wrong(with(entry("0", "3", R"(, "in_place": 1)"))) == "the list, entry 1, \"in_place\" is not true or false");
  for (const char *path : {"/etc/k.so", "../k.so", "a/../../k.so", ".."})
    CHECK(wrong(with(std::string(R"({"min": 0, "max": 1, "kernel": ")") + path + "\"}")) ==
          std::string("the list, entry 1, \"kernel\" is '") + path + "'; it must be a file within the folder");
  Manifest manifest;
  CHECK(readManifest("/nowhere", manifest) == "/nowhere/manifest.json cannot be read");
}
