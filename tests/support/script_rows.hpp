#pragma once

// Coverage of script documents: the keys and words that a table of test documents uses. A test fails if one is missing.

#include <initializer_list>
#include <set>
#include <string>
#include <string_view>

#include "mock_gateway.hpp"

namespace test_support {

/// The set of places in the script schema that documents use. "sse.done" is a key, "effect=truncate" is a word used as
/// a value. A place starts with the name of its definition. Places of the document itself start with "script", such as
/// "script.gateway.seed".
class ScriptRows {
 public:
  using Json = mock_gateway::Json;
  using Places = std::set<std::string>;

  ScriptRows() : schema_(mock_gateway::script_schema()) { walk(schema_, nullptr, "script", known_); }

  /// Adds the places that a document uses.
  void add(const Json& document) { walk(schema_, &document, "script", seen_); }

  /// Returns the places below `parts` that neither a document nor `elsewhere` contains.
  Places missing(std::initializer_list<std::string_view> parts, const Places& elsewhere = {}) const {
    Places missing;
    for (const std::string& place : known_) {
      for (const std::string_view part : parts) {
        if (is_below(place, part) && seen_.count(place) == 0 && elsewhere.count(place) == 0) missing.insert(place);
      }
    }
    return missing;
  }

 private:
  static bool is_below(std::string_view place, std::string_view part) {
    return place.size() > part.size() && place.substr(0, part.size()) == part &&
           (place[part.size()] == '.' || place[part.size()] == '=');
  }

  /// Collects the places of a schema that the value uses, or all places if there is no value.
  void walk(const Json& schema, const Json* value, const std::string& place, Places& places) {
    if (!schema.is_object()) return;
    if (const auto reference = schema.find("$ref"); reference != schema.end()) {
      const std::string target = reference->get<std::string>().substr(1);
      const std::string name = target.substr(target.rfind('/') + 1);
      if (value || walked_.insert(name).second) walk(schema_.at(Json::json_pointer(target)), value, name, places);
    }
    for (const Json& word : schema.value("enum", Json::array())) {
      if (!value || *value == word)
        places.insert(place + "=" + (word.is_string() ? word.get<std::string>() : word.dump()));
    }
    for (const char* const key : {"anyOf", "allOf", "oneOf"}) {
      for (const Json& one : schema.value(key, Json::array())) walk(one, value, place, places);
    }
    if (const auto items = schema.find("items"); items != schema.end()) {
      if (!value) walk(*items, nullptr, place, places);
      if (value && value->is_array()) {
        for (const Json& element : *value) walk(*items, &element, place, places);
      }
    }
    const Json properties = schema.value("properties", Json::object());
    for (const auto& [key, below] : properties.items()) {
      if (key == "comment" || key == "$schema") continue;
      if (value && (!value->is_object() || !value->contains(key))) continue;
      const std::string its_place = place + "." + key;
      places.insert(its_place);
      walk(below, value ? &value->at(key) : nullptr, its_place, places);
    }
  }

  Json schema_;
  Places known_;
  Places seen_;
  Places walked_;
};

inline std::string listed(const ScriptRows::Places& places) {
  std::string text;
  for (const std::string& place : places) text += (text.empty() ? "" : ", ") + place;
  return text;
}

}  // namespace test_support
