// Every error of the text's syntax: its kind, text and place.
#include "catch.h"
#include "ir/text.h"

using namespace mscclc::ir;

namespace {

/// "line:column id: message" of each diagnostic, one a line; notes behind a tab.
std::string errorsOf(const std::string &text) {
  DiagnosticEngine diagnostics;
  diagnostics.setErrorLimit(0); // the parser has a limit of its own
  const auto program = parse(text, "x.ir", diagnostics);
  CHECK(program.has_value() == !diagnostics.hasErrors());
  std::string out;
  for (const Diagnostic &d : diagnostics.all()) {
    CHECK(d.place.file == "x.ir");
    out += std::to_string(d.place.line) + ':' + std::to_string(d.place.column) + ' ' + std::string(d.id) + ": " +
           d.message + '\n';
    for (const Diagnostic &n : d.notes)
      out += '\t' + std::to_string(n.place.line) + ": " + n.message + '\n';
  }
  return out;
}

/// The errors of statements in block 0, which begin on line 6.
std::string errorsOfBlock(const std::string &statements) {
  return errorsOf("mscclc.ir 1\nprogram \"p\" {\nrank 0 {\nbuffers input 4 output 4 scratch 9\nblock 0 {\n" +
                  statements + "}\n}\n}\n");
}

} // namespace

TEST_CASE("ir_expected: what stands where something else must") {
  CHECK(errorsOf("") == "1:1 ir_expected: expected 'mscclc.ir 1' as the first statement, found end of file\n");
  CHECK(errorsOf("mscclc.ir 1\nprogram {") ==
        "2:9 ir_expected: expected a string in double quotes, found '{'\n"
        "2:10 ir_missing_close: the file ends before the '}' of the program\n\t2: opened here\n");
  CHECK(errorsOf("mscclc.ir 1\nprogram \"p\" {\nfuse maybe\n}") ==
        "3:6 ir_expected: expected 'off' or 'on', found 'maybe'\n");
  CHECK(errorsOfBlock("copy output[0:1] from input[0:1]\n") ==
        "6:18 ir_expected: expected attributes or end of line, found 'from'\n");
  CHECK(errorsOfBlock("copy output[3:2] <- input[0:1]\n") ==
        "6:15 ir_expected: expected an end of at least 3, found 2\n");
  CHECK(errorsOfBlock("\001\n") == "6:1 ir_expected: expected an operation, found byte 0x01\n");
  CHECK(errorsOfBlock(std::string(100, 'a') + "\n") ==
        "6:1 ir_expected: expected an operation, found '" + std::string(40, 'a') + "...'\n");
}

TEST_CASE("ir_number_too_large") {
  CHECK(errorsOfBlock("copy output[4294967296:1] <- input[0:1]\n") ==
        "6:13 ir_number_too_large: a chunk is too large: at most 4294967295\n");
  CHECK(errorsOfBlock("barrier 18446744073709551616 blocks 2\n") ==
        "6:9 ir_number_too_large: the barrier's number is too large: at most 18446744073709551615\n");
}

TEST_CASE("ir_unterminated_string and ir_bad_escape") {
  CHECK(errorsOf("mscclc.ir 1\nprogram \"p {\n}")
            .starts_with("2:9 ir_unterminated_string: this string has no closing '\"' on its line\n"));
  CHECK(errorsOf("mscclc.ir 1\nprogram \"p\\q\" {\n}") ==
        "2:11 ir_bad_escape: this escape is not known; known are \\\\, \\\", \\n, \\t and \\xHH\n");
  CHECK(errorsOf("mscclc.ir 1\nprogram \"\\x4\" {\n}").starts_with("2:10 ir_bad_escape"));
}

TEST_CASE("ir_format_version") {
  CHECK(errorsOf("mscclc.ir 2\n") == "1:11 ir_format_version: this is IR text of version 2; version 1 is understood\n");
}

TEST_CASE("ir_missing_close, with a note where it was opened") {
  CHECK(errorsOf("mscclc.ir 1\nprogram \"p\" {\n  rank 0 {\n    block 0 {\n") ==
        "5:1 ir_missing_close: the file ends before the '}' of block 0\n\t4: opened here\n");
  CHECK(errorsOf("mscclc.ir 1\nprogram \"p\" {\nrank 0 {\nblock 0 {\npipeline unit_size 1 num_chunks 1 {\n") ==
        "6:1 ir_missing_close: the file ends before the '}' of a pipeline\n\t5: opened here\n");
}

TEST_CASE("ir_stated_twice and ir_stated_late") {
  CHECK(errorsOf("mscclc.ir 1\nprogram \"p\" {\nfuse on\nfuse on\nrank 0 {\n}\nprotocol LL\n}") ==
        "4:1 ir_stated_twice: 'fuse' is stated twice\n"
        "7:1 ir_stated_late: 'protocol' must be stated before the first rank\n");
  CHECK(errorsOfBlock("nop\nchannels []\n") ==
        "7:10 ir_stated_late: 'channels' must be stated before the block's first operation\n");
  CHECK(errorsOfBlock("sem_acquire [0] sync both sync after\n") == "6:27 ir_stated_twice: 'sync' is stated twice\n");
  CHECK(errorsOfBlock("}\nbuffers input 1\nblock 1 {\n") ==
        "7:1 ir_stated_late: what a rank has must be stated before its first block\n");
}

TEST_CASE("ir_out_of_order") {
  CHECK(errorsOf("mscclc.ir 1\nprogram \"p\" {\nrank 1 {\nremote1 = 0.input\nblock 2 {\n}\n}\n}\nlocations {\n"
                 "file3 = \"a\"\n}") ==
        "3:6 ir_out_of_order: rank numbers count up from 0: expected 0, found 1\n"
        "4:7 ir_out_of_order: remote buffer numbers count up from 0: expected 0, found 1\n"
        "5:7 ir_out_of_order: block numbers count up from 0: expected 0, found 2\n"
        "10:1 ir_out_of_order: file numbers count up from 0: expected 0, found 3\n");
}

TEST_CASE("locations: ir_unknown_location, ir_location_repeated, and only what is listed above") {
  const std::string program = "mscclc.ir 1\nprogram \"p\" {\nrank 0 {\nblock 0 {\nnop @7\n}\n}\n}\n";
  CHECK(errorsOf(program) == "5:6 ir_unknown_location: there is no location @7: the file has 0 locations\n");
  const auto table = [](const std::string &entries) {
    return errorsOf("mscclc.ir 1\nprogram \"p\" {\nrank 0 {\n}\n}\nlocations {\nfile0 = \"a\"\n@1 = file0:1:1\n" +
                    entries + "}\n");
  };
  CHECK(table("") == "");
  CHECK(table("@2 = file0:1:1\n") ==
        "9:1 ir_location_repeated: this is the same as an earlier location; each is listed once\n");
  CHECK(table("@2 = @1 + @1\n").starts_with("9:1 ir_location_repeated"));
  CHECK(table("file1 = \"a\"\n") ==
        "9:1 ir_location_repeated: this is the same as an earlier file; each is listed once\n");
  CHECK(table("@2 = file0:2:2 from @2\n") == "9:21 ir_expected: expected a location that is listed above, found @2\n");
  CHECK(table("@2 = file1:2:2\n") == "9:6 ir_expected: expected a file that is listed above, found file1\n");
  CHECK(table("@2 = @1 \"ops\" 4294967295\n@3 = @2 \"ops\" 0\n@4 = @1 \"ops\" 4294967295\n") == "");
  CHECK(table("@2 = @1 ops 0\n") == "9:9 ir_expected: expected '+' or the name of a list, found 'ops'\n");
  CHECK(table("@2 = @1 \"ops\"\n") == "9:14 ir_expected: expected an element's number, found end of line\n");
  CHECK(
      table("@2 = file0:2:1\n@3 = @1 + @2\n@4 = @3 \"ops\" 0\n").starts_with("11:9 ir_expected: expected '+', found "));
  CHECK(table("@3 = file0:2:2\n") == "9:1 ir_expected: expected @2, found @3\n");
}

TEST_CASE("a root where one belongs, and nowhere else") {
  const auto collective = [](const std::string &words) {
    return errorsOf("mscclc.ir 1\nprogram \"p\" {\ncollective " + words +
                    "\nrank 0 {\nbuffers input 1 output 1\n}\n}\n");
  };
  CHECK(collective("broadcast inplace") == "3:22 ir_expected: expected 'root', found 'inplace'\n");
  CHECK(collective("reduce root x").starts_with("3:24 ir_expected: expected the root's rank"));
  CHECK(collective("sendrecv root 0").starts_with("3:21 ir_expected: expected end of line"));
  CHECK(collective("gather root 0") == "");
}

TEST_CASE("a layout where there are rows, and nowhere else") {
  const auto collective = [](const std::string &words) {
    return errorsOf("mscclc.ir 1\nprogram \"p\" {\ncollective " + words +
                    "\nrank 0 {\nbuffers input 1 output 1\n}\n}\n");
  };
  CHECK(collective("alltoallv inplace") == "3:22 ir_expected: expected 'padded' or 'packed', found 'inplace'\n");
  CHECK(collective("alltoall packed").starts_with("3:21 ir_expected: expected end of line"));
  CHECK(collective("alltoallv packed") == "");
}

TEST_CASE("statements that move data") {
  const auto move = [](const std::string &statement) {
    return errorsOf("mscclc.ir 1\nprogram \"p\" {\nschedule auto\nrank 0 {\nbuffers input 2 output 2\n}\nmove {\n" +
                    statement + "\n}\n}\n");
  };
  CHECK(move("put 0.output[0:1] <- 0.input[0:1]") ==
        "8:1 ir_expected: expected 'copy', 'reduce', 'apply' or '}', found 'put'\n");
  CHECK(move("copy output[0:1] <- 0.input[0:1]") == "8:6 ir_expected: expected a rank, found 'output'\n");
  CHECK(move("copy 0.remote[0:1] <- 0.input[0:1]") ==
        "8:8 ir_expected: expected 'input', 'output' or 'scratch', found 'remote'\n");
  CHECK(move("copy 0.output[0:1] 0.input[0:1]") == "8:20 ir_expected: expected ',' or '<-', found '0'\n");
  CHECK(move("copy 0.output[1:0] <- 0.input[0:1]") == "8:17 ir_expected: expected an end of at least 1, found 0\n");
  CHECK(move("copy 0.output[0:1] <- 0.input[0:1], by 0") == "8:37 ir_expected: expected a rank, found 'by'\n");
  CHECK(move("copy 0.output[0:1] <- 0.input[0:1] via wire") ==
        "8:40 ir_expected: expected 'memory', 'port' or 'switch', found 'wire'\n");
  CHECK(move("copy 0.output[0:1] <- 0.input[0:1] by me") == "8:39 ir_expected: expected a rank, found 'me'\n");
  CHECK(move("copy 0.output[0:1] <- 0.input[0:1] block x") ==
        "8:42 ir_expected: expected the block's number, found 'x'\n");
  CHECK(move("copy 0.output[0:1] <- 0.input[0:1] packets 1") ==
        "8:44 ir_expected: expected 'off' or 'on', found '1'\n");
  CHECK(move("copy 0.output[0:1] <- 0.input[0:1] reduce_op mean") ==
        "8:46 ir_expected: expected 'sum', 'min', 'max' or 'prod', found 'mean'\n");
  CHECK(move("copy 0.output[0:1] <- 0.input[0:1] sync after") ==
        "8:36 ir_expected: expected options or end of line, found 'sync'\n");
  CHECK(move("copy 0.output[0:1] <- 0.input[0:1] @2") ==
        "8:37 ir_unknown_location: there is no location @2: the file has 0 locations\n");
  for (const std::string option : {"via port", "by 0", "block 1", "packets on", "reduce_op sum"})
    CHECK(move("copy 0.output[0:1] <- 0.input[0:1] " + option + " " + option) ==
          "8:" + std::to_string(37 + option.size()) + " ir_stated_twice: '" + option.substr(0, option.find(' ')) +
              "' is stated twice\n");
  CHECK(move("copy 0.output[0:1] <- 0.input[0:1] @0 @0") == "8:39 ir_stated_twice: the location is stated twice\n");
  CHECK(move("}\nmove {\ncopy\n}\nschedule auto\nrank 1 {") ==
        "9:1 ir_stated_twice: 'move' is stated twice\n12:1 ir_stated_twice: 'schedule' is stated twice\n"
        "13:1 ir_stated_late: a rank must be stated before 'move'\n");
  CHECK(errorsOf("mscclc.ir 1\nprogram \"p\" {\nschedule later\nmove {\n") ==
        "3:10 ir_expected: expected 'manual' or 'auto', found 'later'\n"
        "5:1 ir_missing_close: the file ends before the '}' of the statements\n\t4: opened here\n");
}

TEST_CASE("ir_wrong_version and ir_wrong_definition") {
  CHECK(errorsOfBlock("copy scratch[0:2] <- input[0:2]%in\ncopy output[0:2] <- scratch[1:3]%0\n") ==
        "7:33 ir_wrong_version: this read sees %{0, in}, not %0\n");
  CHECK(errorsOfBlock("%1 = copy output[0:1] <- input[0:1]\n%1 = nop\n") ==
        "6:1 ir_wrong_definition: this operation defines %0, not %1\n"
        "7:1 ir_wrong_definition: this operation defines no version, not %1\n");
}

TEST_CASE("ir_too_many_errors ends the search") {
  std::string statements;
  for (int i = 0; i < 100; ++i)
    statements += "what\n";
  const std::string errors = errorsOfBlock(statements);
  CHECK(std::count(errors.begin(), errors.end(), '\n') == 21);
  CHECK(errors.ends_with("25:1 ir_too_many_errors: there are too many errors; the rest of the file is not read\n"));
}

TEST_CASE("several errors are found in one run, and an unknown body is skipped") {
  CHECK(
      errorsOf("mscclc.ir 1\nprogram \"p\" {\nwhat {\nrank 3 {\n}\n}\nrank 0 {\nbuffers in 3\nblock 0 {\nfoo\n}\n}\n}\n"
               "more") ==
      "3:1 ir_expected: expected 'rank', 'collective', 'expect', 'move', 'hook0', an option, or '}', found 'what'\n"
      "8:9 ir_expected: expected 'input', 'output' or 'scratch', found 'in'\n"
      "10:1 ir_expected: expected an operation, found 'foo'\n"
      "14:1 ir_expected: expected 'locations' or end of file, found 'more'\n");
}

TEST_CASE("an error shows its line with a caret") {
  DiagnosticEngine diagnostics;
  parse("mscclc.ir 1\nprogram p {\n}\n", "x.ir", diagnostics);
  CHECK(diagnostics.render(false) ==
        "x.ir:2:9: error: expected a string in double quotes, found 'p' [ir-expected]\nprogram p {\n"
        "        ^\n1 error generated.\n");
}
