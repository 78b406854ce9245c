#include "catch.h"
#include "source.h"

using namespace mscclc::frontend;

namespace {
/// Errors of lines put before the algorithm, which begin at line 2.
std::string top(const std::string &lines) {
  return errorsOf(sourceOptions(algorithm("", lines)));
}
/// Errors of the algorithm's body, which begins at line 3.
std::string body(const std::string &lines) {
  return errorsOf(sourceOptions(algorithm(lines)));
}
} // namespace

TEST_CASE("headers for what an algorithm cannot do are refused with what to do instead") {
  CHECK(top("#include <iostream>\n") == "2:10: <iostream> is not part of the language: an algorithm does no input or "
                                        "output; note(\"x is {}\", x) prints while it is compiled\n");
  CHECK(top("#include <thread>\n#include <sys/stat.h>\n") ==
        "2:10: <thread> is not part of the language: an algorithm is one thread; GPUs work in parallel as their "
        "operations say\n"
        "3:10: <sys/stat.h> is not part of the language: an algorithm does not see the machine that it is compiled on; "
        "pass values with -P\n");
}

TEST_CASE("the standard library's computing part is there") {
  const Compiled result = compile(sourceOptions(R"(
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <mscclc/dsl.hpp>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>
using namespace mscclc;
constexpr std::array<int, 3> table = {3, 1, 2};
const std::string greeting = "a constant string that is too long to be kept in place";
struct Shape { virtual ~Shape() = default; virtual int sides() const = 0; };
struct Square : Shape { int sides() const override { return 4; } };
template <typename T> T total(std::span<const T> values) { return std::accumulate(values.begin(), values.end(), T{}); }
MSCCLC_ALGORITHM void f(std::string_view name = "x") {
  std::vector<int> v(table.begin(), table.end());
  std::sort(v.begin(), v.end(), [](int a, int b) { return a > b; });
  std::stable_sort(v.begin(), v.end());
  std::map<std::string, int> m;
  for (int i : v) m[std::string(name) + std::to_string(i)] += i;
  m.erase("x2");
  std::set<std::pair<int, int>> s = {{1, 2}, {0, 3}};
  std::unordered_map<int, int> u;
  for (int i = 0; i < 1000; ++i) u[i] = i;
  std::list<int> l = {1, 2}; l.reverse();
  std::deque<int> q(100, 1);
  std::function<int(int)> twice = [&](int x) { return 2 * x; };
  std::unique_ptr<Shape> shape = std::make_unique<Square>();
  std::shared_ptr<int> shared = std::make_shared<int>(3);
  std::optional<int> o = std::stoi("17");
  std::variant<int, double> either = 2.5;
  char digits[8];
  std::to_chars(std::begin(digits), std::end(digits), 3);
  const double root = std::sqrt(16.0) + std::pow(2.0, 3.0) + std::floor(std::sin(1.0));
  const int all = total<int>(v) + int(m.size()) + int(s.begin()->second) + u.at(999) + l.front() + int(q.size()) + twice(4)
    + shape->sides() + *shared + *o + int(std::get<double>(either)) + int(root) + std::popcount(7u) + int(greeting.size())
    + (dynamic_cast<Square *>(shape.get()) ? 1 : 0) + std::string("abc").find('c') + std::gcd(12, 18);
  CollectiveProgram program("p" + std::to_string(all), AllGather(2, 1, true));
  Rank(0).barrier({0});
}
)"));
  CHECK(errorsOf(result.diagnostics) == "");
}

TEST_CASE("exceptions, memory of one's own and casts that reinterpret") {
  const std::string exceptions = "exceptions are not part of the language: an algorithm that cannot go on ends with "
                                 "assert() of <cassert>, and values that may be missing are std::optional\n";
  CHECK(body("try { throw 1; } catch (int) {}") == "3:1: " + exceptions + "3:7: " + exceptions);
  const std::string memory =
      " is not part of the language: hold values in variables, std::vector, std::array or mscclc::List\n";
  CHECK(body("int *p = new int[3];\ndelete[] p;") == "3:10: 'new'" + memory + "4:1: 'delete'" + memory);
  CHECK(body("::operator delete(nullptr);") == "3:3: 'operator delete'" + memory);
  const std::string casts = " is not part of the language: convert values with static_cast or std::bit_cast\n";
  CHECK(body("long l = 1; int *p = reinterpret_cast<int *>(&l);\nlong a = (long)p; p = (int *)a;") ==
        "3:22: reinterpret_cast" + casts + "4:10: a cast that reinterprets memory" + casts +
            "4:23: a cast that reinterprets memory" + casts);
  CHECK(body("using P = unsigned long;\nint i = 0; P p = P(&i);") == "4:18: a cast that reinterprets memory" + casts);
}

TEST_CASE("pointer arithmetic, but not indices into arrays") {
  const std::string text =
      ": pointer arithmetic is not part of the language: use an index into std::span, std::vector, "
      "std::array or an array\n";
  CHECK(body("int a[2] = {}; int *p = a;\np++;\np = p + 1;\np -= 1;\nlong d = p - a;\np[0] = 1;\n*(a + 1) = 2;") ==
        "4:2" + text + "5:7" + text + "6:3" + text + "7:12" + text + "8:1" + text + "9:5" + text);
  CHECK(
      body("int a[2][2] = {}; a[1][0] = 1; for (int &x : a[0]) x = 2; char c = \"abc\"[1]; (void)c;").find("pointer") ==
      std::string::npos);
  CHECK(top("template <typename T> T next(T p) { return p + 1; }\nint g(int *p) { return next(1) + *next(p); }\n") ==
        "2:46" + text);
}

TEST_CASE("state that outlives a call") {
  const std::string fix = "make it constexpr, or a local variable that is passed on\n";
  CHECK(top("int counter;\n") == "2:5: 'counter' is a global variable that can change: " + fix);
  CHECK(top("const char *name = \"x\";\n") == "2:13: 'name' is a global variable that can change: " + fix);
  CHECK(top("struct S { static int level; };\nint S::level = 1;\n") ==
        "2:23: 'S::level' is a static member that can change: " + fix +
            "3:8: 'S::level' is a static member that can change: " + fix);
  CHECK(body("static int calls = 0; ++calls;") == "3:12: 'calls' is a static local variable that can change: " + fix);
  CHECK(top("struct M { mutable int hits = 0; };\nconst M cache;\n") ==
        "3:9: 'cache' is a global variable that can change: " + fix);
  CHECK(errorsOf(sourceOptions(algorithm("static const int first = one();", "int one() { return 1; }\n"))) ==
        "4:18: 'first' keeps the value of the first call: make it constexpr, or a local variable that is not static\n");
  CHECK(top("thread_local int mine = 1;\n") ==
        "2:18: thread-local variables are not part of the language: make 'mine' a local variable\n");
  CHECK(top("constexpr int a = 1; const int b[] = {a}; inline const char *const c = \"x\"; enum { d };\n").find("2:") ==
        std::string::npos);
}

TEST_CASE("jumps, assembly, C variable arguments, coroutines") {
  CHECK(body("goto end; end:;") == "3:1: goto is not part of the language: use a loop, or return from a function\n");
  CHECK(body("void *l = &&end; goto *l; end:;").starts_with("3:11: goto is not part of the language"));
  CHECK(body("asm(\"\");") == "3:1: inline assembly is not part of the language: write it in C++\n");
  CHECK(top("asm(\".globl x\");\n") == "2:1: inline assembly is not part of the language: write it in C++\n");
  CHECK(top("int sum(int n, ...) { return n; }\n") ==
        "2:5: C variable arguments are not part of the language: use a variadic template\n");
  CHECK(top("#include <coroutine>\n")
            .starts_with("2:10: <coroutine> is not part of the language: use functions and loops"));
  const std::string task = "namespace std { template <class P = void> struct coroutine_handle { static "
                           "coroutine_handle from_address(void *) "
                           "{ return {}; } operator coroutine_handle<>() const { return {}; } }; template <> struct "
                           "coroutine_handle<void> { static coroutine_handle "
                           "from_address(void *) { return {}; } }; template <class R, class...> struct "
                           "coroutine_traits { using promise_type = typename R::promise_type; };\n"
                           "struct suspend_never { bool await_ready() noexcept { return true; } void "
                           "await_suspend(coroutine_handle<>) noexcept {} void await_resume() noexcept {} }; }\n"
                           "struct T { struct promise_type { T get_return_object() { return {}; } std::suspend_never "
                           "initial_suspend() noexcept { return {}; } "
                           "std::suspend_never final_suspend() noexcept { return {}; } void return_void() {} void "
                           "unhandled_exception() {} }; };\n"
                           "T task() { co_return; }\n";
  CHECK(top(task).find("coroutines are not part of the language: use functions and loops") != std::string::npos);
}

TEST_CASE("functions without a definition, by call and by address") {
  CHECK(body("extern int elsewhere(int);\nelsewhere(1);") ==
        "4:1: 'elsewhere' has no definition here: write it in this file or a header; libraries cannot be called\n  "
        "3:12: declared here\n");
  CHECK(errorsOf(sourceOptions(algorithm("auto p = &std::getenv; (void)p;", "#include <cstdlib>\n"))) ==
        "4:16: 'getenv' has no definition here: an algorithm does not see the machine that it is compiled on; pass "
        "values with -P\n");
  CHECK(body("extern int shared; int x = shared;").find("'shared'") != std::string::npos);
}

TEST_CASE("what a library header needs and cannot have is reported where it is used") {
  const std::string errors =
      errorsOf(sourceOptions("#include <memory>\n#include <mscclc/dsl.hpp>\n#include <valarray>\n#include <new>\n"
                             "MSCCLC_ALGORITHM void f() {\n  auto handler = [] { return std::set_new_handler(nullptr); "
                             "};\n  handler();\n}\n"));
  CHECK(errors.starts_with("6:35: 'std::set_new_handler' has no definition here"));
}

TEST_CASE("attributes, built-ins and names that reach the machine") {
  CHECK(top("__attribute__((destructor)) void g() {}\n") ==
        "2:16: attribute 'destructor' is not part of the language: nothing runs after the algorithm\n");
  CHECK(top("extern \"C\" int g() asm(\"getpid\");\n") ==
        "2:24: attribute 'asm' is not part of the language: call the function by its name\n");
  CHECK(body("(void)__builtin_return_address(0);") ==
        "3:7: '__builtin_return_address' is not part of the language: write it in plain C++\n");
  CHECK(body("int x = 0; __atomic_fetch_add(&x, 1, 0);")
            .starts_with("3:12: '__atomic' is not part of the language: an algorithm is one thread"));
  CHECK(top("extern \"C\" void *memcpy(void *to, const void *, unsigned long) { return to; }\n") ==
        "2:18: 'memcpy' is reserved for the compiler: use another name\n");
  CHECK(top("int main() {}\n") == "2:5: an algorithm has no 'main': mark the function with MSCCLC_ALGORITHM\n");
  CHECK(top("constexpr auto now = __TIME__;\n") ==
        "2:22: date and time differ from run to run, and the same source gives the same plan: pass a value with -P\n");
}

TEST_CASE("line markers and pragmas do not hide the user's code") {
  CHECK(top("# 1 \"/usr/include/hidden.h\" 3\nint counter;\n").find("'counter' is a global variable that can change") !=
        std::string::npos);
}

TEST_CASE("all errors of a source are found in one run, Clang's as well") {
  const std::string errors = errorsOf(sourceOptions(
      algorithm("int *p = new int;\nundeclared(1);\ngoto end;\nend:;", "#include <fstream>\nint counter;\n")));
  for (const char *part : {"2:10: <fstream>", "3:5: 'counter'", "5:10: 'new'",
                           "6:1: use of undeclared identifier 'undeclared'", "7:1: goto"})
    CHECK(errors.find(part) != std::string::npos);
}
