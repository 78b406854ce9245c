#include "backend-json/json_cursor.h"
#include "programs.h"

#include <nlohmann/json.hpp>

using namespace mscclc;

namespace {
bool accepts(const std::string &text) {
  json::JsonCursor cursor(text);
  cursor.skipValue();
  return cursor.atEnd();
}
} // namespace

TEST_CASE("the cursor takes exactly what RFC 8259 calls JSON") {
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
    CHECK(accepts(text) == nlohmann::json::accept(text));
  }
}

TEST_CASE("strings are decoded and whole numbers told from others") {
  const std::string text = R"(["plain", "\u00e9\ud83d\ude00\n", 18446744073709551615, 18446744073709551616, -1, 1.0])";
  json::JsonCursor cursor(text);
  json::NumberFault fault;
  REQUIRE(cursor.peek() == json::JsonKind::Array);
  cursor.enterArray();
  REQUIRE(cursor.nextElement());
  CHECK(cursor.string() == "plain");
  REQUIRE(cursor.nextElement());
  CHECK(cursor.string() == "é😀\n");
  REQUIRE(cursor.nextElement());
  CHECK(cursor.wholeNumber(fault) == 18446744073709551615u);
  CHECK(fault == json::NumberFault::None);
  for (const auto expected : {json::NumberFault::TooLarge, json::NumberFault::Negative, json::NumberFault::Fraction}) {
    REQUIRE(cursor.nextElement());
    cursor.wholeNumber(fault);
    CHECK(fault == expected);
  }
  CHECK_FALSE(cursor.nextElement());
  CHECK(cursor.atEnd());
}

TEST_CASE("texts that are no plan at all end in one error") {
  const struct {
    std::string text;
    const char *message;
  } cases[] = {
      {"", "plan.json:1:1: $: error: not a JSON text: unexpected end of the text"},
      {std::string(1 << 20, '\0'), "plan.json:1:1: $: error: not a JSON text: expected a value"},
      {std::string(1 << 20, '0'), "$: error: expected an object, found a number"},
      {std::string(1 << 20, '['), "$: error: expected an object, found a list"},
      {"{\n\"name\": \"a\xff\"}", "plan.json:2:11: $.name: error: not a JSON text: a string that is not UTF-8"},
      {"{\"gpus\": [" + std::string(1 << 20, '['), "not a JSON text: brackets are nested too deeply"},
      {"{\"x\": " + std::string(1 << 20, '['), "$: error: unknown field 'x'"},
      {R"({"name": ")" + std::string(1 << 20, 'a'), "$.name: error: not a JSON text: unexpected end of the text"},
      {R"({")" + std::string(1 << 20, 'a') + R"(": 1})", "$: error: unknown field 'aaaaa"},
      {R"({"min_message_size": )" + std::string(1 << 20, '9') + "}", "found a larger one"},
      {plans::write(plans::nops(1)) + "x", "plan.json:53:1: $: error: not a JSON text: text behind the plan"},
  };
  for (const auto &c : cases) {
    INFO(c.text.substr(0, 40));
    std::string messages;
    CHECK_FALSE(plans::read(c.text, messages));
    CHECK_THAT(messages, containsText(c.message));
    CHECK(messages.size() < 3000);
  }
}
