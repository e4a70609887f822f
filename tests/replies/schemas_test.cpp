// Instances of schemas: the gateway serves schemas of users' libraries, no request takes long, and stop() ends the
// work.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <fstream>
#include <functional>
#include <list>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/printing.hpp"
#include "support/processor_time.hpp"
#include "support/timing.hpp"

// A namespace per file, because several files are compiled as one.
namespace schemas_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::Http;
using test_support::Response;

/// The CPU time of a request with a schema: a million steps, about 1 s without optimization, plus the rest of the
/// request.
constexpr double most_seconds = test_support::sanitized ? 10 : 1.5;

Json format_of(const Json& schema) {
  return {{"response_format", {{"type", "json_schema"}, {"json_schema", {{"name", "case"}, {"schema", schema}}}}}};
}

Response ask(const Http& http, const Json& schema, Json fields = Json::object()) {
  fields.update(format_of(schema));
  return http.chat(fields);
}

/// Returns the lines of a file of tests/schemas.
std::vector<Json> lines_of(const std::string& name) {
  const std::string here = __FILE__;
  std::ifstream file(here.substr(0, here.rfind("replies/schemas_test.cpp")) + "schemas/" + name);
  REQUIRE(file.is_open());
  std::vector<Json> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(Json::parse(line));
  return lines;
}

/// {"name", "schema"} each.
std::vector<Json> sdk_schemas() { return lines_of("sdk_schemas.jsonl"); }

/// A few hundred bytes each, but more work than a request may take.
const Json costly[] = {
    {{"pattern", "(a?){900}a{900}"}},
    {{"type", "string"}, {"pattern", "1(?<0e9|name(>\\d{53})-soso<\\w+"}, {"maxLength", 40}},
    {{"type", "array"}, {"minItems", 9000}, {"uniqueItems", true}, {"items", {{"type", "integer"}}}},
    {{"type", "string"}, {"minLength", 100000}, {"pattern", "^[a-z]+$"}},
    {{"type", "string"}, {"minLength", 1000000000}},
};

TEST_CASE("a schema that pydantic, zod or an SDK's helper generated gets an instance") {
  Gateway gateway;
  const Http http = Http(gateway).keep_alive();
  const std::vector<Json> cases = sdk_schemas();
  CHECK(cases.size() >= 60);
  for (const Json& one : cases) {
    CAPTURE(one["name"]);
    const Response response = ask(http, one["schema"]);
    CHECK(response.status == 200);
    if (response.status == 200) {
      CHECK(Json::accept(response.text()));
    } else {
      CHECK(response.error_message() == "");
    }
  }
}

TEST_CASE("the instance of a schema for a seed is the same on every machine and in every version") {
  Gateway gateway;
  const Http http = Http(gateway).keep_alive();
  std::map<std::string, Json> of_sdks;
  for (const Json& one : sdk_schemas()) of_sdks.emplace(one["name"], one["schema"]);
  const std::vector<Json> cases = lines_of("instances.jsonl");  // golden_instances.py writes it
  CHECK(cases.size() >= 400);
  for (const Json& one : cases) {
    INFO(one.dump());
    const Json& schema = one.contains("name") ? of_sdks.at(one["name"]) : one["schema"];
    const Response response = ask(http, schema, {{"seed", one["seed"]}});
    if (one.contains("instance"))
      CHECK((response.status == 200 ? response.text() : response.error_message()) == one["instance"]);
    else
      CHECK(response.error_message() == one["error"]);
  }
}

TEST_CASE("a number keeps to its bounds, of which the exclusive ones are not values") {
  Gateway gateway;
  const Http http = Http(gateway).keep_alive();
  struct Row {
    Json bounds;
    std::vector<double> values;
  };
  const Row rows[] = {{{{"exclusiveMinimum", 3}, {"exclusiveMaximum", 5}}, {4}},
                      {{{"minimum", 4}, {"exclusiveMaximum", 5}}, {4}},
                      {{{"exclusiveMinimum", 3}, {"maximum", 4}}, {4}},
                      {{{"minimum", 4}, {"maximum", 5}}, {4, 5}},
                      {{{"exclusiveMinimum", -2}, {"exclusiveMaximum", 0}}, {-1}}};
  for (const Row& row : rows) {
    const Json& bounds = row.bounds;
    CAPTURE(bounds);
    Json integer = bounds;
    integer["type"] = "integer";
    Json number = bounds;
    number["type"] = "number";
    const double low = bounds.contains("minimum") ? bounds["minimum"] : bounds["exclusiveMinimum"];
    const double high = bounds.contains("maximum") ? bounds["maximum"] : bounds["exclusiveMaximum"];
    for (int seed = 0; seed < 5; ++seed) {
      const Response whole = ask(http, integer, {{"seed", seed}});
      REQUIRE(whole.status == 200);
      const double value = Json::parse(whole.text());
      CAPTURE(value);
      CHECK(std::count(row.values.begin(), row.values.end(), value) == 1);
      const double any = Json::parse(ask(http, number, {{"seed", seed}}).text());
      CHECK((bounds.contains("minimum") ? any >= low : any > low));
      CHECK((bounds.contains("maximum") ? any <= high : any < high));
    }
    // A given value must also respect the bounds.
    for (const auto& [name, bound] : bounds.items()) {
      Json fixed = bounds;
      fixed["const"] = bound;
      const bool exclusive = name.compare(0, 9, "exclusive") == 0;
      CHECK(ask(http, fixed).status == (exclusive ? 400 : 200));
    }
  }
}

TEST_CASE("a value that a schema gives is held to each of its other keywords, up to the exact limit") {
  Gateway gateway;
  const Http http = Http(gateway).keep_alive();
  const auto parsed = [](const char* json) { return Json::parse(json); };
  struct Row {
    const char* value;
    const char* taken;
    const char* refused;
  };
  const Row rows[] = {
      {R"("abc")", R"({"minLength":3})", R"({"minLength":4})"},
      {R"("abc")", R"({"maxLength":3})", R"({"maxLength":2})"},
      {R"("äöü")", R"({"minLength":3,"maxLength":3})", R"({"minLength":4})"},
      {R"("abc")", R"({"pattern":"^a"})", R"({"pattern":"^b"})"},
      {R"("abc")", R"({"pattern":"b"})", R"({"pattern":"^.b$"})"},
      {"3", R"({"minimum":3})", R"({"minimum":4})"},
      {"3", R"({"maximum":3})", R"({"maximum":2})"},
      {"3", R"({"exclusiveMinimum":2})", R"({"exclusiveMinimum":3})"},
      {"3", R"({"exclusiveMaximum":4})", R"({"exclusiveMaximum":3})"},
      {"6", R"({"multipleOf":3})", R"({"multipleOf":4})"},
      {"-6", R"({"multipleOf":3})", R"({"multipleOf":4})"},
      {"0", R"({"multipleOf":3})", R"({"multipleOf":3,"minimum":1})"},
      {"2.5", R"({"type":"number"})", R"({"type":"integer"})"},
      {"2.0", R"({"type":"integer"})", R"({"type":"string"})"},
      {"true", R"({"type":["string","boolean"]})", R"({"type":["string","integer"]})"},
      {"null", R"({"type":["object","null"]})", R"({"type":"object"})"},
      {"2", R"({"enum":[1,2]})", R"({"enum":[1,"2",true]})"},
      {"[1,2]", R"({"minItems":2})", R"({"minItems":3})"},
      {"[1,2]", R"({"maxItems":2})", R"({"maxItems":1})"},
      {"[1,true,\"1\"]", R"({"uniqueItems":true})", R"({"uniqueItems":true,"maxItems":2})"},
      {"[1,2,1]", R"({"uniqueItems":false})", R"({"uniqueItems":true})"},
      {"[[1],[2]]", R"({"items":{"maxItems":1}})", R"({"items":{"maxItems":0}})"},
      {"[1,2]", R"({"items":{"maximum":2}})", R"({"items":{"maximum":1}})"},
      {R"({"a":1,"b":2})", R"({"minProperties":2})", R"({"minProperties":3})"},
      {R"({"a":1,"b":2})", R"({"maxProperties":2})", R"({"maxProperties":1})"},
      {R"({"a":1,"b":2})", R"({"required":["b","a"]})", R"({"required":["a","c"]})"},
      {R"({"a":1,"b":2})", R"({"properties":{"b":{"minimum":2}}})", R"({"properties":{"b":{"minimum":3}}})"},
      {R"({"a":1,"b":2})", R"({"properties":{"a":{},"b":{}},"additionalProperties":false})",
       R"({"properties":{"a":{}},"additionalProperties":false})"},
      {R"({"a":1,"b":2})", R"({"properties":{"a":{}},"additionalProperties":{"minimum":2}})",
       R"({"properties":{"b":{}},"additionalProperties":{"minimum":2}})"},
      {R"({"a":1,"b":2})", R"({"patternProperties":{"^b":{"minimum":2}}})",
       R"({"patternProperties":{"^[ab]$":{"minimum":2}}})"},
      {R"({"a":1,"bc":2})", R"({"propertyNames":{"maxLength":2}})", R"({"propertyNames":{"maxLength":1}})"},
      {"3", R"({"anyOf":[{"minimum":4},{"maximum":3}]})", R"({"anyOf":[{"minimum":4},{"maximum":2}]})"},
      {"3", R"({"oneOf":[{"minimum":4},{"maximum":3}]})", R"({"oneOf":[{"minimum":3},{"maximum":3}]})"},
      {"3", R"({"allOf":[{"minimum":3},{"maximum":3}]})", R"({"allOf":[{"minimum":3},{"maximum":2}]})"},
      {"3", R"({"not":{"minimum":4}})", R"({"not":{"minimum":3}})"},
  };
  for (const Row& row : rows) {
    Json taken = parsed(row.taken);
    taken["const"] = parsed(row.value);
    CAPTURE(taken);
    const Response response = ask(http, taken);
    CHECK_MESSAGE(response.status == 200, response.body);
    if (response.status == 200) CHECK(Json::parse(response.text()) == taken["const"]);
    Json refused = parsed(row.refused);
    refused["const"] = taken["const"];
    CAPTURE(refused);
    CHECK(ask(http, refused).error_code() == "unsupported_schema");
  }
}

TEST_CASE("arrays and maps have as many members as their schema allows, and usually few") {
  Gateway gateway;
  const Http http = Http(gateway).keep_alive();
  const Json integer = {{"type", "integer"}};
  struct Row {
    Json schema;
    std::set<std::size_t> sizes;
  };
  const Row rows[] = {
      {{{"type", "array"}, {"items", integer}}, {1, 2, 3}},
      {{{"type", "array"}, {"items", integer}, {"minItems", 2}}, {2, 3}},
      {{{"type", "array"}, {"items", integer}, {"maxItems", 2}}, {1, 2}},
      {{{"type", "array"}, {"items", integer}, {"minItems", 5}}, {5}},
      {{{"type", "array"}, {"items", integer}, {"maxItems", 0}}, {0}},
      {{{"type", "array"}, {"prefixItems", {integer}}, {"items", false}}, {1}},
      {{{"type", "array"}, {"items", {{"enum", {1, 2}}}}, {"uniqueItems", true}}, {1, 2}},
      {{{"type", "object"}, {"additionalProperties", integer}}, {1, 2}},
      {{{"type", "object"}, {"additionalProperties", integer}, {"maxProperties", 1}}, {1}},
      {{{"type", "object"}, {"additionalProperties", integer}, {"minProperties", 4}}, {4}},
      {{{"type", "object"}, {"properties", {{"a", integer}}}, {"additionalProperties", integer}}, {1}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.schema);
    std::set<std::size_t> sizes;
    for (int seed = 0; seed < 60; ++seed) {
      const Response response = ask(http, row.schema, {{"seed", seed}});
      REQUIRE(response.status == 200);
      sizes.insert(Json::parse(response.text()).size());
    }
    CHECK(sizes == row.sizes);
  }
}

TEST_CASE("a keyword that would constrain the instance and is not understood is refused, wherever it stands") {
  Gateway gateway(Options{}.profile(Profile::openai));
  const Http http = Http(gateway).keep_alive();
  for (const char* const keyword : {"if", "contains", "dependentRequired", "dependentSchemas", "unevaluatedItems"}) {
    const Json list = {{"type", "array"}, {keyword, Json::object()}};
    const Response response = ask(http, {{"properties", {{"list", {{"anyOf", {{{"type", "null"}}, list}}}}}}});
    CAPTURE(response.body);
    CHECK(response.error_code() == "unsupported_schema");
    const std::string place = "response_format.json_schema.schema/properties/list/anyOf/1/" + std::string(keyword);
    CHECK(response.json()["error"]["param"] == place);
  }
}

TEST_CASE("a schema that is none, or asks for what is not supported, is refused with the place and the reason") {
  struct Row {
    const char* schema;
    const char* reason;
  };
  const Row rows[] = {
      {R"({"enum":[]})", R"(/enum: "enum" must be an array of at least one value, not [].)"},
      {R"({"enum":1})", R"(/enum: "enum" must be an array of at least one value, not 1.)"},
      {R"({"minimum":"1"})", R"(/minimum: "minimum" must be a number, not "1".)"},
      {R"({"exclusiveMaximum":true})", R"(/exclusiveMaximum: "exclusiveMaximum" must be a number, not true.)"},
      {R"({"minLength":-1})", R"(/minLength: "minLength" must be an integer of at least 0, not -1.)"},
      {R"({"maxItems":1.5})", R"(/maxItems: "maxItems" must be an integer of at least 0, not 1.5.)"},
      {R"({"minProperties":"1"})", R"(/minProperties: "minProperties" must be an integer of at least 0, not "1".)"},
      {R"({"uniqueItems":1})", R"(/uniqueItems: "uniqueItems" must be a boolean, not 1.)"},
      {R"({"pattern":1})", R"(/pattern: "pattern" must be a string, not 1.)"},
      {R"({"format":[]})", R"(/format: "format" must be a string, not [].)"},
      {R"({"$ref":null})", R"(/$ref: "$ref" must be a string, not null.)"},
      {R"({"required":"a"})", R"(/required: "required" must be an array of strings, not "a".)"},
      {R"({"required":["a",1]})", R"(/required: "required" must be an array of strings, not ["a",1].)"},
      {R"({"items":1})", "/items: A schema must be an object or a boolean, not 1."},
      {R"({"not":"x"})", R"(/not: A schema must be an object or a boolean, not "x".)"},
      {R"({"allOf":[]})", R"(/allOf: "allOf" must be an array of at least one schema, not [].)"},
      {R"({"anyOf":{}})", R"(/anyOf: "anyOf" must be an array of at least one schema, not {}.)"},
      {R"({"oneOf":[{},1]})", "/oneOf/1: A schema must be an object or a boolean, not 1."},
      {R"({"properties":[]})", R"(/properties: "properties" must be an object, not [].)"},
      {R"({"properties":{"a/b":[]}})", "/properties/a~1b: A schema must be an object or a boolean, not []."},
      {R"({"multipleOf":0})", R"(/multipleOf: "multipleOf" must be greater than 0.)"},
      {R"({"multipleOf":-1})", R"(/multipleOf: "multipleOf" must be greater than 0.)"},
      {R"({"type":"text"})", R"(/type: "text" is not a type.)"},
      {R"({"type":["string","text"]})", R"(/type: "text" is not a type.)"},
      {R"({"type":1})", "/type: 1 is not a type."},
      {R"({"type":["string","string","string","string","string","string","string","string"]})",
       "/type: A type is listed twice."},
      {R"({"properties":{"a":{"$id":"x"}}})", R"(/properties/a/$id: An "$id" below the root is not supported.)"},
      {R"({"format":"zip"})", R"(/format: The format "zip" is not supported.)"},
      {R"({"format":"ulid"})", R"(/format: The format "ulid" is not supported.)"},
      {R"({"$ref":"other.json"})", R"(/$ref: The reference "other.json" is not supported: only JSON pointers into )"
                                   "the same document are."},
      {R"({"$ref":"#name"})", R"(/$ref: The reference "#name" is not supported: only JSON pointers into the same )"
                              "document are."},
      {R"({"$ref":"#/%zz"})", R"(/$ref: The reference "#/%zz" is not supported: only JSON pointers into the same )"
                              "document are."},
      {R"({"$ref":"#/$defs/a"})", R"(/$ref: The reference "#/$defs/a" is not supported: it leads nowhere.)"},
      {R"({"$ref":"#/$defs/~2","$defs":{"~2":{}}})",
       R"(/$ref: The reference "#/$defs/~2" is not supported: it leads nowhere.)"},
      {R"({"$ref":"#/$defs/a/b","$defs":{"a":{"$id":"x","b":{}}}})",
       R"(/$ref: The reference "#/$defs/a/b" is not supported: there is an "$id" on the way.)"},
      {R"x({"pattern":"a)"})x", "/pattern: The pattern has a ')' without a '(' (at character 2)."},
      {R"({"patternProperties":{"a(":{}}})",
       "/patternProperties/a(: The pattern has a '(' without a ')' (at character 3)."},
      {R"({"enum":["a"],"pattern":"a{100001}"})",
       "/pattern: The pattern has a quantifier above 100000 (at character 9)."},
      {R"({"enum":["a"],"pattern":"a{20000}"})", "/pattern: The pattern is too large (at character 9)."},
      {R"({"enum":["a"],"pattern":"a{20001}"})", "/pattern: The pattern is too large (at character 9)."},
      {R"({"enum":[1],"type":"string"})", ": None of the listed values certainly satisfies all that applies."},
      {R"({"allOf":[{"type":"string"},{"type":"integer"}]})", ": No value satisfies all subschemas that apply."},
      {R"({"type":"integer","minimum":2,"maximum":1})",
       ": No value was found that certainly satisfies all that applies."},
  };
  Gateway gateway;
  const Http http = Http(gateway).keep_alive();
  for (const Row& row : rows) {
    CAPTURE(row.schema);
    const Response response = ask(http, Json::parse(row.schema));
    CHECK(response.error_code() == "unsupported_schema");
    CHECK(response.error_message() == "response_format.json_schema.schema" + std::string(row.reason));
  }
}

TEST_CASE("what is just within a limit of schemas is taken, what is just beyond is refused") {
  Gateway gateway;
  const Http http = Http(gateway).keep_alive();
  const auto refusal = [&](const Json& schema) {
    const Response response = ask(http, schema);
    const std::string message = response.error_message();
    return response.status == 200 ? "" : message.substr(std::string("response_format.json_schema.schema").size());
  };
  const auto pattern = [](const std::string& source) { return Json{{"enum", {"a"}}, {"pattern", source}}; };
  const std::string none = ": None of the listed values certainly satisfies all that applies.";
  CHECK(refusal(pattern("^a{19997}$")) == none);
  CHECK(refusal(pattern("^a{0,9998}$")) == "");
  CHECK(refusal(pattern("^a{0,9999}$")).find("The pattern is too large") != std::string::npos);
  CHECK(refusal(pattern(std::string(100, '(') + "a" + std::string(100, ')'))) == "");
  CHECK(refusal(pattern(std::string(101, '(') + "a" + std::string(101, ')'))) ==
        "/pattern: The pattern nests its groups too deeply (at character 102).");

  const Json types = {"null", "boolean", "number", "integer", "string", "array", "object"};
  CHECK(refusal({{"type", types}}) == "");
  for (const char* const taken :
       {R"({"$id":"x","type":"string"})", R"({"type":"string","minLength":2.0})",
        R"({"$ref":"#/$defs/a%20b","$defs":{"a b":{}}})", R"({"type":"string","format":"password"})",
        R"({"type":"string","format":"ulid","pattern":"^[0-9A-Z]{26}$"})", R"({"type":"array","items":false})",
        R"({"type":"string","if-not":1,"title":1})"})
    CHECK(refusal(Json::parse(taken)) == "");

  const auto nested = [](std::size_t levels) {
    Json schema = {{"type", "integer"}};
    for (std::size_t level = 0; level < levels; ++level)
      schema = {{"type", "array"}, {"minItems", 1}, {"items", std::move(schema)}};
    return schema;
  };
  CHECK(refusal(nested(64)) == "");
  CHECK(refusal(nested(65)).find("Every instance is nested too deeply.") != std::string::npos);

  const auto chain = [](std::size_t references) {
    Json schema = {{"$ref", "#/$defs/0"}, {"$defs", Json::object()}};
    for (std::size_t index = 0; index + 1 < references; ++index)
      schema["$defs"][std::to_string(index)] = {{"$ref", "#/$defs/" + std::to_string(index + 1)}};
    schema["$defs"][std::to_string(references - 1)] = {{"type", "integer"}};
    return schema;
  };
  CHECK(refusal(chain(398)) == "");
  CHECK(refusal(chain(399)) == ": Too many nested subschemas apply to one value.");
}

TEST_CASE("numbers about which validators disagree are not promised, those beside them are") {
  Gateway gateway;
  const Http http = Http(gateway).keep_alive();
  struct Row {
    const char* schema;
    bool is_taken;
  };
  const Row rows[] = {
      {R"({"const":999999999999999,"minimum":999999999999999.0})", true},
      {R"({"const":1000000000000000,"minimum":1000000000000000})", true},
      {R"({"const":1000000000000000,"minimum":1000000000000000.0})", false},
      {R"({"const":1000000000000001,"minimum":1000000000000000})", true},
      {R"({"const":999999999999999,"multipleOf":3})", true},
      {R"({"const":1000000000000000,"multipleOf":2})", false},
      {R"({"const":0.5,"multipleOf":0.25})", true},
      {R"({"const":0.6,"multipleOf":0.25})", false},
      {R"({"const":0.3,"multipleOf":0.1})", false},
      {R"({"const":0.000000000000001,"multipleOf":0.000000000000001})", true},
      {R"({"const":0.0000000000000001,"multipleOf":0.0000000000000001})", false},
      {R"({"const":9223372036854774784.0,"enum":[9223372036854774784.0]})", true},
      {R"({"const":9223372036854774784.0,"enum":[9223372036854774784]})", true},
      {R"({"const":9223372036854775808.0,"enum":[9223372036854775808.0]})", false},
      {R"({"const":-9223372036854775808.0,"enum":[-9223372036854775808.0]})", false},
      {R"({"const":[9223372036854775808.0],"enum":[[9223372036854775808.0]]})", false},
      {R"({"const":{"a":1,"b":[2.0]},"enum":[{"b":[2],"a":1.0}]})", true},
      {R"({"const":{"a":1},"enum":[[1]]})", false},
      {R"({"const":"1","enum":[1]})", false},
      {R"({"const":"abc","format":"date"})", false},
      {R"({"const":"2024-02-28","format":"date"})", true},
      {R"({"const":"2024-02-29","format":"date"})", false},
  };
  for (const Row& row : rows) {
    CAPTURE(row.schema);
    CHECK(ask(http, Json::parse(row.schema)).status == (row.is_taken ? 200 : 400));
  }
}

TEST_CASE("a refusal names the innermost subschema for which no value is found") {
  Gateway gateway(Options{}.profile(Profile::openai));
  const Http http = Http(gateway).keep_alive();
  const auto place_of = [&](const Json& inner) {
    const Json schema = {{"type", "object"}, {"properties", {{"a", {{"type", "string"}}}, {"b", inner}}}};
    return ask(http, {{"allOf", {schema}}, {"required", {"a", "b"}}}).json()["error"]["param"];
  };
  const std::string inner = "response_format.json_schema.schema/allOf/0/properties/b";
  CHECK(place_of({{"type", "string"}, {"pattern", "^a$"}, {"minLength", 2}}) == inner);
  CHECK(place_of({{"type", "integer"}, {"minimum", 2}, {"maximum", 1}}) == inner);
  CHECK(place_of({{"enum", {1, 2}}, {"type", "string"}}) == inner);
  CHECK(place_of({{"type", "array"}, {"minItems", 1}, {"items", {{"type", "string"}, {"enum", {1}}}}}) ==
        inner + "/items");
  CHECK(place_of({{"type", "object"}, {"minProperties", 1}, {"additionalProperties", false}}) == inner);
}

TEST_CASE("of oneOf an instance satisfies one alternative and no second") {
  Gateway gateway;
  const Http http = Http(gateway).keep_alive();
  const auto instance = [&](const Json& alternatives) {
    const Response response =
        ask(http, {{"type", "object"}, {"properties", {{"x", {{"oneOf", alternatives}}}}}, {"required", {"x"}}});
    REQUIRE(response.status == 200);
    return Json::parse(response.text())["x"];
  };
  for (const Json& first : {Json{{"type", "integer"}}, Json{{"type", "integer"}, {"minimum", 3}}}) {
    const Json x = instance({first, {{"type", "number"}}});
    CAPTURE(x);
    CHECK(x.is_number());
    CHECK((!x.is_number_integer() || x.get<int>() < 3));
    if (!first.contains("minimum")) CHECK_FALSE(x.is_number_integer());
  }
  const Json text = instance({{{"type", "string"}, {"maxLength", 5}}, {{"type", "string"}, {"minLength", 3}}});
  CAPTURE(text);
  CHECK((text.get<std::string>().size() < 3 || text.get<std::string>().size() > 5));
}

TEST_CASE("a value that two alternatives of oneOf take is an instance of its negation, and one that none takes too") {
  Gateway gateway;
  const Json schema = Json::parse(R"({"type": "object", "required": ["both", "none"], "properties": {
      "both": {"enum": [5], "not": {"oneOf": [{"type": "integer"}, {"minimum": 3}]}},
      "none": {"enum": ["a"], "not": {"oneOf": [{"type": "integer"}, {"type": "null"}]}}}})");
  const Response response = ask(Http(gateway), schema);
  REQUIRE(response.status == 200);
  CHECK(Json::parse(response.text()) == Json{{"both", 5}, {"none", "a"}});
}

TEST_CASE("a schema that asks for too much work is refused soon, however many choices are asked for") {
  Gateway gateway;
  const Http http = Http(gateway).keep_alive();
  for (const Json& schema : costly) {
    CAPTURE(schema.dump());
    Response response;
    const double seconds = test_support::processor_seconds_of([&] { response = ask(http, schema, {{"n", 128}}); });
    CHECK(response.status == 400);
    CHECK(response.error_code() == "unsupported_schema");
    CHECK(seconds < most_seconds);
  }
}

TEST_CASE("many choices of a large schema are all instances, and answered soon") {
  Gateway gateway;
  Json schema = {{"type", "object"}, {"properties", Json::object()}, {"required", Json::array()}};
  for (int place = 0; place < 40; ++place) {
    const std::string name = "field_" + std::to_string(place);
    schema["properties"][name] = {{"type", "string"}, {"format", place % 2 == 0 ? "email" : "date-time"}};
    schema["required"].push_back(name);
  }
  Response response;
  const double seconds = test_support::processor_seconds_of([&] {
    response = ask(Http(gateway), schema, {{"n", 128}});
  });
  CHECK(seconds < (test_support::sanitized ? 15 : 2.5));
  REQUIRE(response.status == 200);
  const Json choices = response.json()["choices"];
  CHECK(choices.size() == 128);
  CHECK(choices[0]["message"] != choices[1]["message"]);
  for (const Json& choice : choices) {
    const Json instance = Json::parse(choice["message"]["content"].get<std::string>());
    CHECK(instance.size() == 40);
    CHECK(instance["field_38"].get<std::string>().find('@') != std::string::npos);
  }
}

/// An object with this many required properties.
Json object_of(std::size_t properties, const Json& property) {
  Json schema = {{"type", "object"}, {"properties", Json::object()}, {"required", Json::array()}};
  auto& members = schema["properties"].get_ref<Json::object_t&>();
  for (std::size_t place = 0; place < properties; ++place) {
    const std::string name = "property_" + std::to_string(place);
    members.emplace_back(name, property);
    schema["required"].push_back(name);
  }
  schema["additionalProperties"] = false;
  return schema;
}

Json list_of(std::size_t items, const Json& item) { return {{"type", "array"}, {"minItems", items}, {"items", item}}; }

// With sanitizers only one wide and one deep schema: smaller ones run the same code in other tests.
TEST_CASE("a schema as large as OpenAI takes it gets an instance, in every shape") {
  const Json text = {{"type", "string"}};
  const Json number = {{"type", "integer"}};
  const Json mail = {{"type", "string"}, {"format", "email"}};
  Json references = object_of(2500, {{"$ref", "#/$defs/one"}});
  references["$defs"] = {{"one", {{"type", "object"}, {"properties", {{"of", text}}}, {"required", {"of"}}}}};
  Json optional = object_of(5000, text);
  optional.erase("required");
  const std::pair<const char*, Json> rows[] = {
      {"400 strings", object_of(400, text)},
      {"1,000 strings", object_of(1000, text)},
      {"5,000 strings", object_of(5000, text)},
      {"5,000 integers", object_of(5000, number)},
      {"5,000 booleans", object_of(5000, {{"type", "boolean"}})},
      {"10 of 75", object_of(10, object_of(75, text))},
      {"75 of 10", object_of(75, object_of(10, text))},
      {"70 of 70", object_of(70, object_of(70, text))},
      {"1,000 in five levels", object_of(4, object_of(4, object_of(4, object_of(4, object_of(4, text)))))},
      {"500 objects of one", object_of(500, object_of(1, text))},
      {"1,000 of unions", object_of(1000, {{"anyOf", {text, {{"type", "null"}}}}})},
      {"1,000 of enums", object_of(1000, {{"enum", {"a", "b", "c"}}})},
      {"200 of a format", object_of(200, mail)},
      {"references", references},
      {"5,000 that are optional", optional},
      {"a list of 10,000 integers", list_of(10000, number)},
      {"a list of 1,000 objects", list_of(1000, object_of(3, text))},
  };
  Gateway gateway;
  for (const auto& row : rows) {
    const std::string name = row.first;
    const auto& schema = row.second;
    if (test_support::sanitized && name != "5,000 integers" && name != "1,000 in five levels") continue;
    CAPTURE(name);
    Response response;
    const double seconds = test_support::processor_seconds_of([&] { response = ask(Http(gateway), schema); });
    REQUIRE(response.status == 200);
    CHECK(seconds < most_seconds);
    const Json instance = Json::parse(response.text());
    if (schema.contains("required")) {
      REQUIRE(instance.size() == schema["required"].size());
      std::set<std::string> names;
      for (const auto& member : instance.items()) names.insert(member.key());
      CHECK(names.size() == instance.size());
    } else if (schema["type"] == "array") {
      CHECK(instance.size() == schema["minItems"].get<std::size_t>());
    }
  }
}

TEST_CASE("the work on a schema grows as the schema does" * doctest::skip(test_support::sanitized)) {
  const Json text = {{"type", "string"}};
  const std::pair<const char*, std::function<Json(std::size_t)>> rows[] = {
      {"properties of one object", [&](std::size_t size) { return object_of(size, text); }},
      {"objects of one object", [&](std::size_t size) { return object_of(size / 2, object_of(1, text)); }},
      {"items",
       [](std::size_t size) {
         return list_of(2 * size, {{"type", "integer"}});
       }},
      {"properties that are optional",
       [&](std::size_t size) {
         Json schema = object_of(size, text);
         schema.erase("required");
         return schema;
       }},
  };
  Gateway gateway;
  for (const auto& row : rows) {
    const auto& name = row.first;
    const auto& make = row.second;
    CAPTURE(name);
    // In CPU time, which other programs do not lengthen.
    const auto least_time = [&](std::size_t size, int runs) {
      const Json schema = make(size);
      double least = 1e9;
      for (int run = 0; run < runs; ++run) {
        const double before = test_support::ProcessorTime::now().own;
        CHECK(ask(Http(gateway), schema).status == 200);
        least = std::min(least, test_support::ProcessorTime::now().own - before);
      }
      return least;
    };
    const double small = least_time(500, 7);
    const double large = least_time(4000, 3);
    // Eight times the size; quadratic work would take 64 times as long.
    CHECK(large < 24 * small);
  }
}

/// Stops a gateway that works on one schema for 60 parallel clients.
void stop_at(const Json& schema, int status) {
  Gateway gateway;
  const Http http(gateway);
  constexpr std::size_t clients = 60;
  std::list<test_support::RawConnection> connections;
  for (std::size_t client = 0; client < clients; ++client) {
    connections.emplace_back(gateway);
    REQUIRE(connections.back().send(http.format_chat()));
    REQUIRE(connections.back().receive_response().status == 200);
  }
  const auto work = test_support::time_of([&] { CHECK(ask(http, schema).status == status); });
  for (auto& connection : connections) REQUIRE(connection.send(http.format_chat(format_of(schema))));
  REQUIRE(gateway.journal().wait_for(clients + 2, 10s));  // the other requests are in progress
  // A busy machine takes longer for both. Finishing the work on two processors would take thirty times as long.
  CHECK(test_support::time_of([&] { gateway.stop(); }) < std::max<Duration>(500ms, 5 * work));
}

TEST_CASE("stopping the gateway ends the work on schemas") {
  stop_at(costly[0], 400);
  stop_at(object_of(5000, {{"type", "string"}}), 200);
}

TEST_CASE("a text for a pattern obeys its lookaheads") {
  Gateway gateway;
  const Http http = Http(gateway).keep_alive();
  const auto is_capital = [](char character) { return character >= 'A' && character <= 'Z'; };
  const auto is_digit = [](char character) { return character >= '0' && character <= '9'; };
  for (int seed = 0; seed < 10; ++seed) {
    const Json schema = {{"type", "string"}, {"pattern", "^(?=.*[A-Z])(?=.*\\d)(?!.*[aeiou]).{8,12}$"}};
    const Response response = ask(http, schema, {{"seed", seed}});
    REQUIRE(response.status == 200);
    const std::string text = Json::parse(response.text());
    CHECK(text.size() >= 8);
    CHECK(std::any_of(text.begin(), text.end(), is_capital));
    CHECK(std::any_of(text.begin(), text.end(), is_digit));
    CHECK(text.find_first_of("aeiou") == std::string::npos);
  }
}

TEST_CASE("a schema that leads back to itself without reading a value is refused") {
  Gateway gateway;
  const Json endless[] = {
      {{"$ref", "#"}},
      {{"anyOf", {{{"$ref", "#"}}, {{"type", "null"}}}}},
      {{"allOf", {{{"$ref", "#"}}}}, {"type", "object"}},
      {{"type", "object"}, {"required", {"next"}}, {"properties", {{"next", {{"$ref", "#"}}}}}},
  };
  for (const Json& schema : endless) {
    CAPTURE(schema.dump());
    CHECK(ask(Http(gateway), schema).error_code() == "unsupported_schema");
  }
}

}  // namespace schemas_test
