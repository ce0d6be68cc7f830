// SPDX-License-Identifier: Apache-2.0
#include "codec/json_body.h"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <algorithm>

namespace tinker::codec {
namespace {

constexpr unsigned kMostDepth = 100;

// How deep arrays and objects lie in one another, up to `most` + 1.
unsigned depth_of(const rapidjson::Value& value, unsigned most) {
  if (most == 0 || !(value.IsArray() || value.IsObject())) return value.IsArray() || value.IsObject() ? 1 : 0;
  unsigned deepest = 0;
  if (value.IsArray()) {
    for (const auto& element : value.GetArray()) deepest = std::max(deepest, depth_of(element, most - 1));
  } else {
    for (const auto& member : value.GetObject()) deepest = std::max(deepest, depth_of(member.value, most - 1));
  }
  return deepest + 1;
}

// nullopt when a number in it is not finite, which JSON cannot hold.
std::optional<std::string> json_text(const rapidjson::Value& value) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  if (!value.Accept(writer)) return std::nullopt;
  return std::string(buffer.GetString(), buffer.GetSize());
}

}  // namespace

JsonBody::JsonBody(std::string_view text)
    : no_json_(parse_body(text, document_)), fields_(no_json_ ? document_.SetObject() : document_, {}, faults_) {}

std::string JsonBody::text_list_json(std::string_view key) {
  if (fields_.find(key) == nullptr) return "[]";
  const rapidjson::Value* list = fields_.array(key);
  if (list == nullptr) return "[]";
  for (rapidjson::SizeType i = 0; i < list->Size(); ++i) fields_.text_of((*list)[i], fields_.at(key).at(i));
  return faults_.empty() ? json_text(*list).value_or("[]") : "[]";
}

std::optional<std::string> JsonBody::optional_object_json(std::string_view key) {
  const rapidjson::Value* object = fields_.find(key);
  if (object == nullptr) return std::nullopt;
  if (!object->IsObject()) {
    fields_.fault("dict_type", fields_.at(key), "Input should be a valid dictionary", *object);
    return std::nullopt;
  }
  if (depth_of(*object, kMostDepth) > kMostDepth) {
    fields_.fault("value_error", fields_.at(key), "Value error, nested deeper than " + std::to_string(kMostDepth) + " levels",
                  *object);
    return std::nullopt;
  }
  std::optional<std::string> json = json_text(*object);
  if (!json) fields_.fault("finite_number", fields_.at(key), "Input should hold finite numbers only", *object);
  return json;
}

std::optional<base::Error> JsonBody::error() const {
  if (no_json_) return no_json_;
  if (faults_.empty()) return std::nullopt;
  return unprocessable(faults_);
}

}  // namespace tinker::codec
