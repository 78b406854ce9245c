#include "catch.h"
#include "source.h"

using namespace mscclc::frontend;

namespace {
struct Case {
  const char *before, *body, *errors;
};
} // namespace

TEST_CASE("what C++ leaves undefined is an error where it happens") {
  const Case cases[] = {
      {"", "int a = 2147483647; a += 1;",
       "3:23: integer overflow: 2147483647 + 1 cannot be represented in type 'int'\n"},
      {"", "long a = -9223372036854775807; a -= 2;",
       "3:34: integer overflow: -9223372036854775807 - 2 cannot be represented in type 'long'\n"},
      {"", "int a = 65536; a = a * a;", "3:22: integer overflow: 65536 * 65536 cannot be represented in type 'int'\n"},
      {"", "int a = -2147483647 - 1; a = -a;",
       "3:30: integer overflow: -(-2147483648) cannot be represented in type 'int'\n"},
      {"", "int a = -2147483647 - 1, b = -1; a = a / b;",
       "3:40: integer overflow: -2147483648 / -1 cannot be represented in type 'int'\n"},
      {"", "int a = 5, b = 0; a = a % b;", "3:25: division by zero: the dividend is 5\n"},
      {"", "int a = 33; a = 1 << a;", "3:19: shift by 33 bits is out of range for type 'int'\n"},
      {"", "int a = -1; a = 1 >> a;", "3:19: shift by -1 bits is out of range for type 'int'\n"},
      {"", "int a[3] = {}, i = -1; a[i] = 1;", "3:24: index -1 is out of bounds for type 'int[3]'\n"},
      {"", "double d = -3e9; int i = static_cast<int>(d); (void)i;",
       "3:43: -3e+09 is outside the range of type 'int'\n"},
      {"", "unsigned z = 0; z = __builtin_clz(z);",
       "3:35: counting the leading or trailing zeros of 0 has no result\n"},
      {"", "__builtin_unreachable();", "3:1: the algorithm reaches a point marked as unreachable\n"},
      {"", "int n = 0; int a[n]; a[0] = 1;", "3:18: an array cannot have 0 elements\n"},
      {"struct S { int x; };\n", "S *s = nullptr; s->x = 1;", "4:20: member access within a null pointer to 'S'\n"},
      {"", "int *p = nullptr; int v = *p; (void)v;", "3:27: load of a null pointer to 'int'\n"},
      {"", "int *p = nullptr; *p = 3;", "3:19: store to a null pointer to 'int'\n"},
      {"int g(int x) { if (x > 1) return 1; }\n", "g(0);",
       "2:5: a function that returns a value ends without a return statement\n  4:1: called from here\n"},
      {"struct B { virtual int v() = 0; B() { w(); } int w() { return v(); } };\nstruct D : B { int v() override { "
       "return 1; } };\n",
       "D d;", "2:63: a pure virtual function is called\n"},
  };
  for (const Case &c : cases) {
    INFO(c.body);
    const std::string errors = errorsOf(sourceOptions(algorithm(c.body, c.before)));
    CHECK(errors.substr(0, std::string(c.errors).size()) == c.errors);
  }
}

TEST_CASE("128-bit integers and long doubles are shown whole") {
  CHECK(
      errorsOf(sourceOptions(algorithm("__int128 a = 1; for (int i = 0; i < 200; ++i)\n a *= 10;"))) ==
      "4:4: integer overflow: 100000000000000000000000000000000000000 * 10 cannot be represented in type '__int128'\n");
  CHECK(errorsOf(sourceOptions(algorithm("long double d = 1e40L; float f = 1; f += static_cast<int>(d);"))) ==
        "3:59: 1e+40 is outside the range of type 'int'\n");
}

TEST_CASE("what is read from memory of nobody's is an error where the DSL gets it") {
  const std::pair<const char *, const char *> cases[] = {
      {"std::vector<int> v{1}; int &first = v[0]; v.push_back(0);\nmscclc::Rank r(first);", "6:14"},
      {"std::vector<int> v{1};\nmscclc::Rank(0).input()[*v.end()];", "6:25"},
      {"std::vector<long> v{1};\nmscclc::Rank r(*v.end());", "6:14"},
      {"std::vector<int> v{1}; int &first = v[0]; v.push_back(0);\nmscclc::Rank(0).barrier({first});", "6:17"},
      {"std::vector<int> v{1}; int &first = v[0]; v.push_back(0);\nmscclc::Rank(0).copy(mscclc::Rank(0).output()[0], "
       "mscclc::Rank(0).input()[0], mscclc::tb(first));",
       "6:17"},
      {"std::vector<mscclc::MemoryChannel> v{{1, 0}}; const auto &first = v[0]; v.push_back(first);\n"
       "first.signal(mscclc::tb(0));",
       "6:7"},
      {"std::vector<mscclc::Chunk> v{mscclc::Rank(0).input()[0]}; const auto &first = v[0]; v.push_back(first);\n"
       "mscclc::Rank(0).copy(mscclc::Rank(0).output()[0], first, mscclc::tb(0));",
       "6:17"},
  };
  for (const auto &[body, place] : cases) {
    INFO(body);
    CHECK(errorsOf(sourceOptions(program(body, "#include <vector>\n"))) ==
          std::string(place) +
              ": a value used here was read from memory that was released, or past the end of a container\n");
  }
}

TEST_CASE("the chain of calls follows an error, through the standard library's algorithms too") {
  const std::string source = "#include <algorithm>\n#include <mscclc/dsl.hpp>\n#include <vector>\n"
                             "static int third(const std::vector<int> &v) {\n  return v[2];\n}\n"
                             "MSCCLC_ALGORITHM void f() {\n  std::vector<int> v = {1, 2};\n"
                             "  std::for_each(v.begin(), v.end(), [&](int) {\n    third(v);\n  });\n}\n";
  CHECK(errorsOf(sourceOptions(source)) ==
        "5:10: index past the end: the standard library's check '__n < this->size()' failed\n"
        "  10:5: called from here\n  9:3: called from here\n");
}

TEST_CASE("an error inside the DSL's list is the call's") {
  const auto errors = [](const std::string &body) {
    return errorsOf(sourceOptions("#include <mscclc/dsl.hpp>\n#include <mscclc/list.hpp>\nstruct Own { long n; };\n"
                                  "template <typename T> static mscclc::List<T> *gone() {\n"
                                  "  mscclc::List<T> list = {{1}, {2}};\n  mscclc::List<T> *kept = &list;\n"
                                  "  return kept;\n}\nMSCCLC_ALGORITHM void f() {\n" +
                                  body + "}\n"));
  };
  // Lists whose functions are in mscclc, and lists whose functions are compiled with the algorithm.
  for (const std::string type : {"int", "Own"}) {
    const std::string list = "mscclc::List<" + type + ">";
    CHECK(errors("  " + list + " list = {{1}, {2}};\n  list[2] = {3};\n") ==
          "11:3: index 2 is out of range: the list has 2 elements\n");
    CHECK(errors("  " + list + " list;\n  list.back();\n") ==
          "11:8: index -1 is out of range: the list has 0 elements\n");
    CHECK(errors("  " + list + " list;\n  list.reserve(~0ull);\n") ==
          "11:8: the algorithm needs more than 64 MiB of memory; --trace-memory sets the limit\n");
    CHECK(errors("  " + list + " *list = nullptr;\n  list->clear();\n") ==
          "11:9: member call on a null pointer to '" + list + "'\n");
    // What was called before has been at other places, which are not this error's.
    CHECK(errors("  " + list + " *list = gone<" + type + ">();\n  list->push_back({3});\n").starts_with("11:9: "));
  }
}
