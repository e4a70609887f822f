// The JSON reader: the grammar, numbers, strings, repeated keys, and positions of errors. Most tests use arguments of
// tool calls, which are read like bodies and expose the result.

#ifndef _WIN32
#include <sys/resource.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"

namespace json_reader_test {

using namespace mock_gateway;
using test_support::chat_path;
using test_support::Http;
using test_support::Response;

/// Reads JSON as the arguments of a tool call. Returns null for invalid JSON.
Json arguments(const std::string& text) {
  wire::ToolCall call;
  call.arguments = text;
  return call.json();
}

/// Returns whether the text is JSON. Checks that this is the same for the text alone and as a member. The text must not
/// be "null".
bool is_read(const std::string& text) {
  const bool alone = !arguments(text).is_null();
  CHECK(alone == arguments("{\"a\":" + text + "}").is_object());
  return alone;
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string result;
  for (std::size_t i = 0; i < times; ++i) result += text;
  return result;
}

// --- The grammar -----------------------------------------------------------------------------------------------------

TEST_CASE("everything in the grammar of JSON is accepted") {
  const std::vector<std::string> texts = {"0",
                                          "-0",
                                          "7",
                                          "-7",
                                          "10",
                                          "1234567890",
                                          "0.0",
                                          "-0.0",
                                          "0.5",
                                          "1.25",
                                          "1e0",
                                          "1E0",
                                          "1e+0",
                                          "1e-0",
                                          "1E+05",
                                          "0e0",
                                          "0.1e1",
                                          "-1.5E-10",
                                          "9007199254740993",
                                          "18446744073709551615",
                                          "1e308",
                                          "1e-400",
                                          "true",
                                          "false",
                                          R"("")",
                                          R"("a")",
                                          R"("\"\\\/\b\f\n\r\t")",
                                          R"("\u0000")",
                                          R"("\u00E4\u00e4")",
                                          R"("\ud83d\ude00")",
                                          R"("\uDBFF\uDFFF")",
                                          "\"\x7f\"",
                                          "\"ä€😀\"",
                                          "[]",
                                          "[ ]",
                                          "[1]",
                                          "[1,2]",
                                          "[[],{}]",
                                          "[[[[]]]]",
                                          "{}",
                                          "{ }",
                                          R"({"a":1})",
                                          R"({"":1})",
                                          R"({"a":1,"b":[]})",
                                          R"({"a":{"a":{}}})",
                                          R"({"\u0061":1})",
                                          " \t\r\n1\n\r\t ",
                                          " [ 1 , 2 ] ",
                                          "\n{\n\"a\"\n:\n1\n,\n\"b\"\n:\n2\n}\n",
                                          "[null]"};
  for (const std::string& text : texts) {
    CAPTURE(text);
    CHECK(is_read(text));
    CHECK(Json::accept(text));
  }
}

TEST_CASE("everything outside the grammar of JSON is refused") {
  const std::vector<std::string> texts = {
      // numbers
      "01", "-01", "00", "+1", ".5", "1.", "1.e1", "1e", "1e+", "1E-", "1ee1", "1e1.5", "-", "--1", "- 1", "0x1", "1_0",
      "1f", "1 2", "1.2.3", "NaN", "nan", "Infinity", "-Infinity", "inf", "1e999", "-1e999", "1,", "٣",
      // words
      "tru", "truee", "True", "TRUE", "fals", "nul", "Null", "None", "undefined", "t", "n", "yes", "x",
      // strings
      "\"", "\"a", "a\"", "\"a\"b", "'a'", "\"\n\"", "\"\t\"", "\"\x1f\"", std::string("\"\0\"", 3), R"("\")",
      R"("\x")", R"("\a")", R"("\'")", R"("\u")", R"("\u1")", R"("\u123")", R"("\u12G4")", R"("\U0041")", R"("\u 041")",
      R"("\ud800")", R"("\ud800a")", R"("\ud800\n")", R"("\ud800\ud800")", R"("\ud800\u0041")", R"("\udc00")",
      R"("\udfff\ud800")",
      // arrays and objects
      "[", "]", "[1", "[1,", "[1,]", "[,1]", "[,]", "[1,,2]", "[1 2]", "[1}", "[1]]", "[1;2]", "(1)", "{", "}", "{]",
      "{,}", R"({"a"})", R"({"a":})", R"({"a":1,})", R"({,"a":1})", R"({"a":1,,"b":2})", R"({"a" 1})", R"({"a"::1})",
      R"({"a":1 "b":2})", R"({"a":1)", R"({"a":)", R"({"a")", "{a:1}", "{'a':1}", "{1:1}", "{null:1}", "{[]:1}",
      R"({"a":1]})", R"({"a"=1})", R"({"a":1}})", R"({"a":1}{)",
      // between values
      "", " ", "\n", ",", ":", "//", "/**/", "1 // one", "/* one */ 1", "# 1", "1\f", "\v1",
      "\xc2\xa0"
      "1",
      "1\xef\xbb\xbf", std::string(1, '\0'), std::string("1\0", 2), std::string("1\0x", 3), "<1>", "@"};
  for (const std::string& text : texts) {
    CAPTURE(text);
    CHECK_FALSE(is_read(text));
  }
}

TEST_CASE("a byte order mark before a body is skipped") {
  CHECK(arguments("\xef\xbb\xbf{\"a\":1}") == Json{{"a", 1}});
  CHECK(arguments(" \xef\xbb\xbf{}").is_null());
  CHECK(arguments("\xef\xbb\xbf\xef\xbb\xbf{}").is_null());
  CHECK(arguments("\xef\xbb{}").is_null());
}

/// A generator of random JSON with nesting and repeated keys.
class Writer {
 public:
  explicit Writer(unsigned seed) : random_(seed) {}
  std::string text(std::size_t depth = 0) {
    switch (random_() % (depth < 5 ? 12 : 8)) {
      case 0: return "null";
      case 1: return random_() % 2 == 0 ? "true" : "false";
      case 2: return std::to_string(static_cast<std::int64_t>(random_()) - 2000000000);
      case 3: return std::to_string(random_()) + "." + std::to_string(random_());
      case 4: return std::to_string(static_cast<int>(random_() % 100)) + "e-" + std::to_string(random_() % 320);
      case 5: return std::to_string(random_()) + std::to_string(random_());
      case 6: return string();
      case 7: return " " + string() + "\n";
      case 8:
      case 9: return list("[", "]", depth, false);
      default: return list("{", "}", depth, true);
    }
  }
  /// Returns the text with a few bytes removed, inserted or doubled.
  std::string damaged(std::string text) {
    for (unsigned times = 1 + static_cast<unsigned>(random_() % 3); times > 0 && !text.empty(); --times) {
      constexpr std::string_view bytes = "{}[],:\"\\0129eE+-.tfn u\x80\xc3\xed\xff\x01";
      const std::size_t place = random_() % text.size();
      switch (random_() % 3) {
        case 0: text.erase(place, 1 + random_() % 3); break;
        case 1: text.insert(place, 1, bytes[random_() % bytes.size()]); break;
        default: text.insert(place, text.substr(random_() % text.size(), 1 + random_() % 4)); break;
      }
    }
    return text;
  }

 private:
  std::string string() {
    const std::vector<std::string> parts = {"a", "b", "ä", "😀", R"(\n)", R"(\u00e4)", R"(\ud83d\ude00)", R"(\")", " "};
    std::string text = "\"";
    for (std::size_t count = random_() % 4; count > 0; --count) text += parts[random_() % parts.size()];
    return text + "\"";
  }
  std::string list(const std::string& open, const std::string& close, std::size_t depth, bool keys) {
    std::string text = open;
    const std::size_t count = random_() % (random_() % 20 == 0 ? 60 : 5);
    for (std::size_t index = 0; index < count; ++index) {
      if (index > 0) text += ",";
      if (keys) text += string() + ": ";
      text += this->text(depth + 1);
    }
    return text + close;
  }

  std::mt19937 random_;
};

/// Returns whether two values have equal types and digits, which is stricter than ==.
bool identical(const Json& left, const Json& right) {
  return left.type() == right.type() && left.dump() == right.dump();
}

TEST_CASE("random JSON, valid and damaged, is read with the same result as by nlohmann's parser") {
  std::size_t whole = 0;
  std::size_t broken = 0;
  for (unsigned seed = 0; seed < 4000; ++seed) {
    Writer writer(seed);
    std::string text = "[" + writer.text() + "]";
    if (seed % 4 != 0) text = writer.damaged(text);
    CAPTURE(seed);
    CAPTURE(text);
    const Json expected = Json::parse(text, nullptr, false);
    const Json read = arguments(text);
    (expected.is_discarded() ? broken : whole) += 1;
    REQUIRE(expected.is_discarded() == (read.is_null() && text != "null"));
    if (!expected.is_discarded()) REQUIRE(identical(read, expected));
  }
  CHECK(whole > 1000);
  CHECK(broken > 1000);
}

// --- Numbers ---------------------------------------------------------------------------------------------------------

TEST_CASE("integers of 64 bits keep all their digits, with and without a sign") {
  for (const char* text : {"0", "1", "-1", "9007199254740993", "-9007199254740993", "9223372036854775807",
                           "-9223372036854775808", "9223372036854775808", "18446744073709551615"}) {
    CAPTURE(text);
    const Json number = arguments(text);
    CHECK(number.is_number_integer());
    CHECK(number.dump() == text);
    CHECK(number.is_number_unsigned() == (text[0] != '-'));
  }
  CHECK(arguments("-0").is_number_integer());
  CHECK(arguments("-0").dump() == "0");
}

TEST_CASE("other numbers become the nearest double, in any notation") {
  const auto real = [](const std::string& text) {
    CAPTURE(text);
    const Json number = arguments(text);
    REQUIRE(number.is_number_float());
    return number.get<double>();
  };
  CHECK(real("0.1") == 0.1);
  CHECK(real("1e23") == 1e23);
  CHECK(real("1.0") == 1.0);
  CHECK(real("1E+2") == 100.0);
  CHECK(real("100e-2") == 1.0);
  CHECK(real("1e0000000000000000000001") == 10.0);
  CHECK(real("18446744073709551616") == 18446744073709551616.0);
  CHECK(real("-9223372036854775809") == -9223372036854775808.0);
  CHECK(real("1.7976931348623157e308") == 1.7976931348623157e308);
  CHECK(real("2.2250738585072011e-308") == 2.2250738585072011e-308);
  CHECK(real("4.9e-324") == 4.9e-324);
  CHECK(real("1e-400") == 0.0);
  CHECK(real("0.1000000000000000055511151231257827021181583404541015625") == 0.1);
  CHECK(real("9007199254740993.0") == 9007199254740992.0);
  CHECK(real("9007199254740993.00000000000000000000001") == 9007199254740994.0);
#ifndef _WIN32  // strtod() of MinGW limits exponents.
  CHECK(real("0." + std::string(100000, '0') + "1e100001") == 1.0);
#endif
  CHECK(real("1" + std::string(308, '0')) == 1e308);
  CHECK(std::signbit(real("-0.0")));
  CHECK(arguments("1" + std::string(309, '0')).is_null());
  CHECK(arguments("1e309").is_null());
  CHECK(arguments("-1e309").is_null());
  CHECK(arguments("0." + repeated("9", 100000)).get<double>() == 1.0);
}

TEST_CASE("a double that the library writes is read back unchanged") {
  std::mt19937_64 random(7);
  for (int i = 0; i < 2000; ++i) {
    const std::uint64_t bits = random();
    double number = 0;
    std::memcpy(&number, &bits, sizeof number);
    if (!std::isfinite(number)) continue;
    CAPTURE(number);
    const Json read = arguments(Json(number).dump());
    CHECK(read.get<double>() == number);
  }
}

// --- Strings ---------------------------------------------------------------------------------------------------------

TEST_CASE("escapes in a string become their characters") {
  CHECK(arguments(R"("\"\\\/\b\f\n\r\t")") == "\"\\/\b\f\n\r\t");
  CHECK(arguments(R"("\u0041\u00e4\u20AC\ud83d\uDE00\uffff")") == "Aä€😀\xef\xbf\xbf");
  CHECK(arguments(R"("a\u0000b")") == std::string("a\0b", 3));
  CHECK(arguments(R"("\ud800\udc00\udbff\udfff")") == "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf");
  CHECK(arguments("\"" + repeated("\\u00e4\\n", 10000) + "\"") == repeated("ä\n", 10000));
  CHECK(arguments(R"({"\u0061\t":"\u0062"})") == Json{{"a\t", "b"}});
}

TEST_CASE("exactly the valid UTF-8 sequences are accepted in a string") {
  // Each lead byte is tested with the smallest and the largest continuation byte, and with the bytes next to these.
  const auto taken = [](const std::string& bytes) { return arguments("\"" + bytes + "\"") == bytes; };
  for (const char* good :
       {"\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xe0\xbf\xbf", "\xe1\x80\x80", "\xec\xbf\xbf", "\xed\x80\x80",
        "\xed\x9f\xbf", "\xee\x80\x80", "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf0\xbf\xbf\xbf", "\xf1\x80\x80\x80",
        "\xf3\xbf\xbf\xbf", "\xf4\x80\x80\x80", "\xf4\x8f\xbf\xbf"}) {
    CAPTURE(good);
    CHECK(taken(good));
  }
  for (const char* bad : {"\x80",
                          "\xbf",
                          "\xc0\x80",
                          "\xc1\xbf",
                          "\xc2",
                          "\xc2\x7f",
                          "\xc2\xc0",
                          "\xe0\x9f\xbf",
                          "\xe0\x80",
                          "\xe1\x80",
                          "\xe1\x80\xc0",
                          "\xed\xa0\x80",
                          "\xed\xbf\xbf",
                          "\xf0\x8f\xbf\xbf",
                          "\xf0\x90\x80",
                          "\xf4\x90\x80\x80",
                          "\xf5\x80\x80\x80",
                          "\xf8\x88\x80\x80\x80",
                          "\xff",
                          "\xfe"}) {
    CAPTURE(bad);
    CHECK_FALSE(taken(bad));
  }
}

// --- Repeated keys ---------------------------------------------------------------------------------------------------

TEST_CASE("the last value of a repeated key counts, at the place of the first") {
  CHECK(arguments(R"({"a":1,"b":2,"a":3})").dump() == R"({"a":3,"b":2})");
  CHECK(arguments(R"({"a":1,"a":2,"a":3})").dump() == R"({"a":3})");
  CHECK(arguments(R"({"a":[1],"b":{"c":1,"c":{"d":1,"d":[]}},"a":{}})").dump() == R"({"a":{},"b":{"c":{"d":[]}}})");
  CHECK(arguments(R"({"a":1,"\u0061":2})").dump() == R"({"a":2})");
  CHECK(arguments(R"([{"a":1,"a":null},{"a":1}])").dump() == R"([{"a":null},{"a":1}])");
  std::string many;
  std::string expected;
  for (int i = 0; i < 3000; ++i)
    many += (i == 0 ? "" : ",") + ("\"k" + std::to_string(i % 1000)) + "\":" + std::to_string(i);
  for (int i = 0; i < 1000; ++i)
    expected += (i == 0 ? "" : ",") + ("\"k" + std::to_string(i)) + "\":" + std::to_string(i + 2000);
  CHECK(arguments("{" + many + "}").dump() == "{" + expected + "}");
}

/// A gateway, and a client with one connection to it.
struct Wire {
  Gateway gateway;
  Http http = Http(gateway).keep_alive();
  Response post(const std::string& body) const { return http.post(chat_path, body); }
};

std::string with(const std::string& fields) {
  return R"({"model":"mock-model","messages":[{"role":"user","content":"Hi"}],)" + fields + "}";
}

TEST_CASE("each repeated key is a finding that names its object, inner objects first") {
  const Wire wire;
  REQUIRE(wire.post(with(R"("tools":[],"metadata":{"b":[0,{"y":1,"x":1,"x":2,"y":2,"y":3}],"c":1,"c":2},"tools":[])"))
              .status == 200);
  std::string all;
  for (const Finding& finding : wire.gateway.journal().last().findings()) {
    if (finding.code == "duplicate_key") all += finding.message.substr(0, finding.message.find(" occurs")) + "\n";
  }
  CHECK(all ==
        "metadata.b[1]: the key \"x\"\n"
        "metadata.b[1]: the key \"y\"\n"
        "metadata: the key \"c\"\n"
        "body: the key \"tools\"\n");
}

#ifndef _WIN32  // Windows has no getrusage().
TEST_CASE("very many repeated keys deep in a body take no more memory than the body") {
  const auto peak = [] {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
  };
  std::string keys;
  for (int i = 0; i < 20000; ++i) keys += (i == 0 ? "\"k" : ",\"k") + std::to_string(i) + "\":0";
  const std::string body = with("\"x\":" + repeated("{\"" + std::string(60, 'x') + "\":", 400) + "{" + keys + "," +
                                keys + repeated("}", 401));
  const Wire wire;
  const auto before = peak();
  const Response response = wire.post(body);
  CHECK(response.status == 200);
  CHECK(wire.gateway.journal().last().findings().size() == 100);
  CHECK((peak() - before) / 1024 < (test_support::sanitized ? 1200 : 300));  // MB
}
#endif

// --- Errors ----------------------------------------------------------------------------------------------------------

TEST_CASE("an error names the place, the expected and the actual kind of value") {
  struct Case {
    std::string body;
    const char* message;
  };
  const std::vector<Case> cases = {
      {"  ", "1, column 3: expected a value, got the end of the text"},
      {"x", "1, column 1: expected a value, got 'x'"},
      {"nul", "1, column 1: expected a value, got 'n'"},
      {"[True]", "1, column 2: expected a value, got 'T'"},
      {"[1,]", "1, column 4: expected a value, got ']'; JSON has no comma after the last element"},
      {"{\"a\": [1, ], }", "1, column 11: expected a value, got ']'; JSON has no comma after the last element"},
      {"{\"a\": 1, }",
       "1, column 10: expected a key in quotation marks, got '}'; JSON has no comma after the last member"},
      {"[1 }", "1, column 4: expected ',' or ']', got '}'"},
      {"[1, }", "1, column 5: expected a value, got '}'"},
      {"[,]", "1, column 2: expected a value, got ','"},
      {"[,]", "1, column 2: expected a value, got ','"},
      {"[1 2]", "1, column 4: expected ',' or ']', got a number"},
      {"[1", "1, column 3: expected ',' or ']', got the end of the text"},
      {"[1}", "1, column 3: expected ',' or ']', got '}'"},
      {"[truex]", "1, column 6: expected ',' or ']', got 'x'"},
      {"[\"a\" \"b\"]", "1, column 6: expected ',' or ']', got a string"},
      {"{", "1, column 2: expected a key in quotation marks, got the end of the text"},
      {"{a:1}", "1, column 2: expected a key in quotation marks, got 'a'"},
      {"{'a':1}", "1, column 2: expected a key in quotation marks, got '''"},
      {"{1:1}", "1, column 2: expected a key in quotation marks, got a number"},
      {"{\"a\":1,}",
       "1, column 8: expected a key in quotation marks, got '}'; JSON has no comma after the last member"},
      {"{\"a\" 1}", "1, column 6: expected ':', got a number"},
      {"{\"a\"}", "1, column 5: expected ':', got '}'"},
      {"{\"a\":}", "1, column 6: expected a value, got '}'"},
      {"{\"a\":1 \"b\":2}", "1, column 8: expected ',' or '}', got a string"},
      {"{\n  \"a\": 1\n  \"b\": 2\n}", "3, column 3: expected ',' or '}', got a string"},
      {"{}{}", "1, column 3: expected the end of the text, got '{'"},
      {"{}\n\n x", "3, column 2: expected the end of the text, got 'x'"},
      {"[\"ä\" ü]", "1, column 6: expected ',' or ']', got 'ü'"},
      {"[\"ä\n\"]", "1, column 4: expected an escape for a control character, got '\\n'"},
      {std::string("[\0]", 3), "1, column 2: expected a value, got '\\u0000'"},
      {"[\"a", "1, column 4: expected the end of a string, got the end of the text"},
      {"[\"\\x\"]", "1, column 4: expected one of \"\\/bfnrtu after a backslash, got 'x'"},
      {"[\"\\", "1, column 4: expected one of \"\\/bfnrtu after a backslash, got the end of the text"},
      {"[\"\\u12\"]", "1, column 7: expected a hexadecimal digit, got a string"},
      {"[\"\\ud800\"]", "1, column 9: half a surrogate pair"},
      {"[\"\\ud800\\u0041\"]", "1, column 11: half a surrogate pair"},
      {"[\"\\udc00\"]", "1, column 5: half a surrogate pair"},
      {"[01]", "1, column 3: a digit after a leading 0"},
      {"[-]", "1, column 3: expected a digit, got ']'"},
      {"[1.]", "1, column 4: expected a digit, got ']'"},
      {"[1e+", "1, column 5: expected a digit, got the end of the text"},
      {"[0, 1e400]", "1, column 5: a number beyond the range of double"},
      {"[\"\xff\"]", "1, column 3: a byte that is not UTF-8"},
      {"[1.\xff", "1, column 4: a byte that is not UTF-8"},
      {"{} \xff", "1, column 4: a byte that is not UTF-8"},
      {"[\"\xe2\x82\"]", "1, column 5: a byte that is not UTF-8"},
      {"[\"\xe2\x82", "1, column 5: a byte that is not UTF-8"},
      {"[\"\xf0\x8f\xbf\xbf\"]", "1, column 4: a byte that is not UTF-8"},
      {"[x, \"\xff\"]", "1, column 2: expected a value, got 'x'"},
      {"[1, // one\n2]", "1, column 5: expected a value, got '/'"},
      {repeated("[", 513), "1, column 513: more than 512 levels of nesting"},
  };
  const Wire wire;
  for (const Case& wrong : cases) {
    CAPTURE(wrong.body);
    const Response response = wire.post(wrong.body);
    CHECK(response.status == 400);
    CHECK(response.error_code() == "invalid_json");
    CHECK(response.error_message() == "invalid JSON at line " + std::string(wrong.message));
  }
}

TEST_CASE("a request with more than a million values gets a 400 that says so") {
  // The list itself is a value too. Numbers take less time to read than lists.
  const auto list = [](std::size_t values) { return "[" + repeated("0,", values - 2) + "0]"; };
  const Wire wire;
  CHECK(wire.post(list(1'000'000)).error_code() == "invalid_type");
  for (const std::string& body : {list(1'000'001), list(5'000'000)}) {
    const Response response = wire.post(body);
    CHECK(response.status == 400);
    CHECK(response.error_code() == "invalid_json");
    CHECK(response.error_message() == "invalid JSON at line 1, column 2000000: more than 1000000 values");
  }
}

TEST_CASE("too deeply nested arguments count as invalid JSON") {
  CHECK(arguments(repeated("[", 512) + repeated("]", 512)).is_array());
  CHECK(arguments(repeated("[", 513) + repeated("]", 513)).is_null());
  CHECK(arguments(repeated("{\"a\":", 100000)).is_null());
}

}  // namespace json_reader_test
