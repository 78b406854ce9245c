#include "backend-json/find_value.h"
#include "programs.h"

#include <nlohmann/json.hpp>

using namespace mscclc;

TEST_CASE("what is no JSON is told so, inside of a value that is read over, too") {
  const std::string texts[] = {
      "{}",
      "[]",
      "0",
      "-0",
      "10",
      "01",
      "-",
      "+1",
      "1.",
      ".5",
      "1.5",
      "1e5",
      "1E+5",
      "1e-05",
      "1e",
      "1e+",
      "true",
      "false",
      "null",
      "tru",
      "nul",
      "True",
      "\"a\"",
      "\"",
      "\"\\\"",
      "\"\\n\\t\\\\\\/\\b\\f\\r\\\"\"",
      "\"\\x\"",
      "\"\\u12\"",
      "\"\\u00e9\"",
      "\"\\ud83d\\ude00\"",
      "\"\\ud83d\"",
      "\"\\ude00\"",
      "\"\\ud83d\\u0041\"",
      "\"\t\"",
      "\"\x7f\"",
      "\"\xc3\xa9\"",
      "\"\xc0\x80\"",
      "\"\xff\"",
      "\"\xed\xa0\x80\"",
      "\"\xf4\x90\x80\x80\"",
      "\"\xe2\x82\"",
      "[1,]",
      "[,1]",
      "[1 2]",
      "[1,2]",
      " [ 1 , 2 ] ",
      "{\"a\":1}",
      "{\"a\" 1}",
      "{\"a\":}",
      "{\"a\":1,}",
      "{a:1}",
      "{\"a\":1,\"a\":2}",
      "{\"a\":{\"b\":[{},[]]}}",
      "[}",
      "{]",
      "[",
      "{",
      "[1",
      "{\"a\"",
      "{\"a\":",
      "",
      " ",
      "1 1",
      "[]]",
      "{}x",
      "\v1",
      "/*c*/1",
      "[1]//",
      "\xef\xbb\xbf[1]",
      "'a'",
      "NaN",
      "Infinity",
      "[\"\\u00zz\"]",
  };
  for (const std::string &text : texts) {
    INFO(text);
    std::string messages;
    CHECK_FALSE(plans::read(text, messages));
    const bool syntaxError = messages.find("error: this is not JSON: ") != std::string::npos;
    CHECK(syntaxError != nlohmann::json::accept(text));
  }
}

TEST_CASE("a value is found by its path") {
  const std::string text = "\xef\xbb\xbf {\"a\\u0062\\\"\" :\t[ 10,{\"\":-2.5e3 ,\n\"x\":null},[[ ],\"]}\"],true ], "
                           "\"x\":{\"x\":[0],\"x\":1}, \"last\":7}";
  using json::JsonPath;
  const JsonPath root, list = root / "ab\"";
  const auto rest = [&](const JsonPath &path) {
    const auto at = json::findValue(text, path);
    return at ? text.substr(*at, 4) : "none";
  };
  CHECK(rest(root) == "{\"a\\");
  CHECK(rest(list) == "[ 10");
  CHECK(rest(list / std::size_t{0}) == "10,{");
  CHECK(rest(list / std::size_t{1}) == "{\"\":");
  CHECK(rest(list / std::size_t{1} / "x") == "null");
  CHECK(rest(list / std::size_t{2} / std::size_t{0}) == "[ ],");
  CHECK(rest(list / std::size_t{2} / std::size_t{1}) == "\"]}\"");
  CHECK(rest(list / std::size_t{3}) == "true");
  CHECK(rest(root / "x" / "x") == "[0],");
  CHECK(rest(root / "x" / "x" / std::size_t{0}) == "0],\"");
  CHECK(rest(root / "last") == "7}");
  for (const JsonPath &path : {root / "y", list / std::size_t{4}, list / "x", list / std::size_t{0} / "x",
                               list / std::size_t{2} / std::size_t{0} / std::size_t{0}, root / std::size_t{0}})
    CHECK(rest(path) == "none");

  const std::size_t known = text.find("{\"x\":[");
  CHECK(json::findValue(text, root / "x" / "x" / std::size_t{0}, 1, known) == text.find("0],"));
}

TEST_CASE("texts that are no plan at all end in one error", "[slow]") {
  const struct {
    std::string text;
    const char *message;
  } cases[] = {
      {"", "plan.json:1:1: $: error: this is not JSON: it is empty"},
      {" \n ", "plan.json:2:2: $: error: this is not JSON: unexpected end of input"},
      {std::string(1 << 20, '\0'), "plan.json:1:1: $: error: this is not JSON: a NUL byte"},
      {std::string(1 << 20, '0'), "plan.json:1:2: $: error: this is not JSON: text after the plan"},
      {std::string(1 << 20, '['), "$: error: expected an object, found a list"},
      {"{\n\"name\": \"a\xff\"}",
       "plan.json:2:11: $.name: error: this is not JSON: invalid string: ill-formed UTF-8 byte"},
      {"{\"gpus\": [" + std::string(1 << 20, '['), "1:11: $.gpus[0]: error: expected an object, found a list"},
      {"{\"x\": " + std::string(1 << 20, '['), "$: error: unknown field 'x'"},
      {R"({"name": ")" + std::string(1 << 20, 'a'),
       "$.name: error: this is not JSON: invalid string: missing closing quote"},
      {R"({")" + std::string(1 << 20, 'a') + R"(": 1})", "$: error: unknown field 'aaaaa"},
      {R"({"min_message_size": )" + std::string(1 << 20, '9') + "}",
       "1:22: $.min_message_size: error: expected a whole number from 0 to "
       "18446744073709551615, found a larger one"},
      {R"({"min_message_size": -)" + std::string(1 << 20, '9') + "}", "found a negative number"},
      {R"({"min_message_size": 1e)" + std::string(1 << 20, '9') + "}", "found a fraction"},
      {R"({"name": 1e999})", "1:10: $.name: error: expected a string, found a number"},
      {"{\"gpus\": 1,\n\"inplace\": {},\n  \"x\":[\"\\\"\"] ,\"name\":[1e999]}",
       "plan.json:1:10: $.gpus: error: expected a list, found a number"},
      {"{\"name\": \"n\" \"inplace\": 0}",
       "plan.json:1:14: $: error: this is not JSON: unexpected string literal; expected '}'"},
      {"{\"name\": }",
       "plan.json:1:10: $.name: error: this is not JSON: unexpected '}'; expected '[', '{', or a literal"},
      {"{\"gpus\": [,]}",
       "plan.json:1:11: $.gpus: error: this is not JSON: unexpected ','; expected '[', '{', or a literal"},
      {"{\"name\": \"\\ud800\"}",
       "1:17: $.name: error: this is not JSON: invalid string: surrogate U+D800..U+DBFF must be "
       "followed by U+DC00..U+DFFF"},
      {plans::write(plans::nops(1)) + "x", "plan.json:53:1: $: error: this is not JSON: text after the plan"},
      {plans::write(plans::nops(1)) + '\0', "plan.json:53:1: $: error: this is not JSON: text after the plan"},
      {plans::write(plans::nops(1)) + "\n" + '\0' + "x",
       "plan.json:54:1: $: error: this is not JSON: text after the plan"},
      {plans::write(plans::nops(1)) + plans::write(plans::nops(1)),
       "plan.json:53:1: $: error: this is not JSON: text after the plan"},
  };
  for (const auto &c : cases) {
    INFO(c.text.substr(0, 40));
    std::string messages;
    CHECK_FALSE(plans::read(c.text, messages));
    CHECK_THAT(messages, containsText(c.message));
    CHECK(messages.size() < 3000);
  }
}
