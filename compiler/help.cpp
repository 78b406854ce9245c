#include "compiler/help.h"

#include "compiler/allowable.h"
#include "passes/pass_manager.h"
#include "passes/pipeline.h"
#include "passes/target.h"

#include <algorithm>
#include <string_view>

namespace mscclc::driver {
namespace {

constexpr std::string_view usage = R"(EXAMPLES
  mscclc allreduce.cpp -P ranks=8 -o plan.json      compile an algorithm to a plan
  mscclc allreduce.cpp --list                       its algorithms and their parameters
  mscclc plan.json --verify                         prove a plan made elsewhere
  mscclc algo.xml -o plan.json                      compile a schedule of MSCCL, SCCL or TACCL
  mscclc plan.json --run --size 1M --dtype f16      run it on the CPU
  mscclc allreduce.cpp --diff golden/plan.json      compare with a golden plan (CI)
  mscclc allreduce.cpp -P ranks=2..16 --verify      prove it at each size
  mscclc allreduce.cpp --passes=fuse --emit-ir      what one pass does
  mscclc allreduce.cpp --emit-cuda -o kernel.cu     bake a CUDA kernel
  mscclc init project                               lay out a project: algorithm, golden plan, Makefile, CI
  mscclc library --machine h100x8 -o kernels        kernels for each size, for the library in NCCL's place (--help)
  mscclc tune algo.cpp --over lanes=1..8 -o kernels the same, of your own algorithms (--help)
  mscclc explain-hang hang.*.json                   why launches hang: the dumps that MSCCLC_DUMP=hang.json makes

SEVERAL VALUES of parameters: -P ranks=2..16 -P lanes=1,2,4
  Integers take ranges, FIRST..LAST or FIRST..LAST:STEP, and lists of values and ranges. Bools, enums and doubles take
  lists. In a std::string_view a comma is a comma. Each combination (4096 at most) has a row with its exit code; the
  exit code of the run is that of the worst. --diff DIR/ compares each with DIR/ALGORITHM.NAME=VALUE,NAME=VALUE.json,
  with the parameters that -P gives, in their order (what is no letter, digit or one of _+-.: is %XX); --update writes
  these files.

EXIT CODES
  0 done
  1 the input is wrong or not proven, or differs from the golden; a file cannot be read or written
  2 the command line is wrong: its options, their values, or parameters that the algorithm does not have
  3 a fault of mscclc)";

/// Returns names and their descriptions in two columns.
template <typename Rows> std::string table(const Rows &rows) {
  std::size_t width = 0;
  for (const auto &row : rows)
    width = std::max(width, row.name.size());
  std::string text;
  for (const auto &row : rows)
    text.append("  ").append(row.name).append(width + 2 - row.name.size(), ' ').append(row.summary) += '\n';
  return text;
}

std::string pipelines(passes::Stage from) {
  std::string text;
  for (int level = 0; level <= passes::maxOptLevel; ++level)
    text.append("  -O").append(std::to_string(level)).append(" runs ").append(passes::pipeline(level, from)) += '\n';
  return text;
}

/// CLI11's help with mscclc's usage line. It does not list which options an option needs or excludes, because errors
/// explain that.
class HelpFormatter : public CLI::Formatter {
public:
  HelpFormatter() { column_width(34); }
  std::string make_usage(const CLI::App *, std::string) const override {
    return "Usage: mscclc [options] INPUT... [-- CLANG-ARGS]\n       mscclc explain-hang DUMP...\n       mscclc init "
           "[DIR]\n       mscclc library [SOURCE...] -o DIR\n       mscclc tune SOURCE... -o DIR\n";
  }
  std::string make_option_name(const CLI::Option *option, bool isPositional) const override {
    return withOneDash(Formatter::make_option_name(option, isPositional));
  }
  std::string make_option_opts(const CLI::Option *option) const override {
    const std::string &text = option->get_option_text();
    return text.empty() ? text : " " + text;
  }
};

} // namespace

std::shared_ptr<CLI::Formatter> helpFormatter() {
  return std::make_shared<HelpFormatter>();
}

const std::map<std::string, std::string, std::less<>> &oneDashOptions() {
  static const std::map<std::string, std::string, std::less<>> options = {
      {"-MD", "--MD"}, {"-MF", "--MF"}, {"-Werror", "--Werror"}};
  return options;
}

std::string withOneDash(std::string text) {
  for (const auto &[shown, parsed] : oneDashOptions())
    for (std::size_t at = text.find(parsed); at != text.npos; at = text.find(parsed, at + shown.size()))
      text.replace(at, parsed.size(), shown);
  return text;
}

std::string helpFooter() {
  return "PASSES, for --passes, --print-before, --print-after (lists: a,b) and --stop-after\n" +
         table(passes::allPasses()) + pipelines(passes::Stage::Tidy) + "  of movement programs:\n" +
         pipelines(passes::Stage::Place) + "\nTARGETS\n  " + passes::targetNames() +
         "\n\nFINDINGS TO ALLOW, for --allow (lists: a,b): warnings then, errors else\n" + table(allAllowable()) +
         "\n" + std::string(usage);
}

} // namespace mscclc::driver
