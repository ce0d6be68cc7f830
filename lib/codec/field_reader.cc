// SPDX-License-Identifier: Apache-2.0
#include "codec/field_reader.h"

#include <rapidjson/error/en.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace tinker::codec {
namespace {

using Json = rapidjson::Value;
using Writer = rapidjson::Writer<rapidjson::StringBuffer, rapidjson::UTF8<>, rapidjson::UTF8<>, rapidjson::CrtAllocator,
                                 rapidjson::kWriteNanAndInfFlag>;

constexpr int kMostTooBig = 8;  // numbers beyond a double that one body may hold and still have them named
constexpr int kShownDepth = 16;
constexpr std::size_t kShownBytes = 4096;

std::string_view view_of(const Json& text) { return {text.GetString(), text.GetStringLength()}; }

void write_text(Writer& writer, std::string_view text) {
  writer.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}

// As Value::Accept, but of bounded depth: what lies deeper is "…".
void write(Writer& writer, const Json& value, int depth) {
  if ((value.IsArray() || value.IsObject()) && depth == 0) return write_text(writer, "…");
  if (value.IsArray()) {
    writer.StartArray();
    for (const Json& element : value.GetArray()) write(writer, element, depth - 1);
    writer.EndArray();
  } else if (value.IsObject()) {
    writer.StartObject();
    for (const auto& member : value.GetObject()) {
      writer.Key(member.name.GetString(), member.name.GetStringLength());
      write(writer, member.value, depth - 1);
    }
    writer.EndObject();
  } else if (value.IsDouble() && !std::isfinite(value.GetDouble())) {
    write_text(writer, std::isnan(value.GetDouble()) ? "NaN" : value.GetDouble() > 0 ? "Infinity" : "-Infinity");
  } else {
    value.Accept(writer);
  }
}

// The start of a JSON text, as a JSON string: cut where no escape and no character is torn.
std::string shortened(std::string_view json) {
  std::size_t size = kShownBytes / 4;
  while (size > 0 && (static_cast<unsigned char>(json[size]) & 0xC0) == 0x80) --size;
  rapidjson::StringBuffer buffer;
  Writer writer(buffer);
  write_text(writer, std::string(json.substr(0, size)) + "…");
  return {buffer.GetString(), buffer.GetSize()};
}

std::string json_of(const Json& value) {
  rapidjson::StringBuffer buffer;
  Writer writer(buffer);
  write(writer, value, kShownDepth);
  const std::string_view json(buffer.GetString(), buffer.GetSize());
  return json.size() <= kShownBytes ? std::string(json) : shortened(json);
}

template <class Number>
std::optional<Number> number_in(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  if (text.starts_with('+') && text.size() > 1 && text[1] != '-') text.remove_prefix(1);
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() && !text.empty() ? std::optional(number) : std::nullopt;
}

// Puts a word in the place of the number at `offset`, whose sign stays.
void replace_number(std::string& json, std::size_t offset, std::string_view word) {
  if (json[offset] == '-') ++offset;
  const std::size_t end = json.find_first_not_of("0123456789.eE+-", offset);
  json.replace(offset, end == std::string::npos ? end : end - offset, word);
}

base::Error json_invalid(std::size_t offset, const std::string& why) {
  return unprocessable({{"json_invalid", "[\"body\"," + std::to_string(offset) + "]", "JSON decode error", "{}",
                         "{\"error\":\"" + why + "\"}"}});
}

std::string lower(std::string_view text) {
  std::string low(text);
  for (char& c : low) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return low;
}

}  // namespace

Location Location::at(std::string_view key) const {
  std::string json;
  json.reserve(json_.size() + key.size() + 4);
  json.append(json_).append(",\"").append(key).append("\"");
  return Location(std::move(json));
}

Location Location::at(std::size_t index) const { return Location(json_ + "," + std::to_string(index)); }

std::optional<base::Error> parse_body(std::string_view text, rapidjson::Document& document) {
  if (text.empty()) return unprocessable({{"missing", R"(["body"])", "Field required", "null", ""}});
  constexpr unsigned kFlags = rapidjson::kParseIterativeFlag | rapidjson::kParseNanAndInfFlag |
                              rapidjson::kParseFullPrecisionFlag | rapidjson::kParseValidateEncodingFlag;
  // RapidJSON takes a NUL for the end.
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) return json_invalid(nul, "Invalid character.");
  // By length: of a text that ends in NUL, RapidJSON reads up to three bytes more when a UTF-8 character is cut off there.
  document.Parse<kFlags>(text.data(), text.size());
  std::string json;
  for (int too_big = 0; document.GetParseError() == rapidjson::kParseErrorNumberTooBig && too_big < kMostTooBig; ++too_big) {
    if (json.empty()) json = text;
    replace_number(json, document.GetErrorOffset(), "Infinity");
    document.Parse<kFlags>(json.data(), json.size());
  }
  if (!document.HasParseError()) return std::nullopt;
  return json_invalid(document.GetErrorOffset(), rapidjson::GetParseError_En(document.GetParseError()));
}

FieldReader::FieldReader(const Json& object, Location location, std::vector<base::Fault>& faults)
    : object_(object), location_(std::move(location)), faults_(faults) {
  if (object.IsObject()) return;
  fault("model_attributes_type", location_, "Input should be a valid dictionary or object to extract fields from", object);
}

const Json* FieldReader::member(std::string_view key) const {
  if (!object_.IsObject()) return nullptr;
  const Json* found = nullptr;
  for (const auto& member : object_.GetObject()) {
    if (view_of(member.name) == key) found = &member.value;
  }
  return found;
}

const Json* FieldReader::find(std::string_view key) const {
  const Json* found = member(key);
  return found == nullptr || found->IsNull() ? nullptr : found;
}

const Json* FieldReader::required(std::string_view key) {
  const Json* value = member(key);
  if (value == nullptr && object_.IsObject()) fault("missing", at(key), "Field required", object_);
  return value;
}

const Json* FieldReader::array(std::string_view key) {
  const Json* value = required(key);
  if (value == nullptr || value->IsArray()) return value;
  fault("list_type", at(key), "Input should be a valid list", *value);
  return nullptr;
}

std::string FieldReader::text(std::string_view key) {
  const Json* value = required(key);
  return value == nullptr ? std::string() : text_of(*value, at(key)).value_or("");
}

std::optional<std::string> FieldReader::optional_text(std::string_view key) {
  const Json* value = find(key);
  return value == nullptr ? std::nullopt : text_of(*value, at(key));
}

std::int64_t FieldReader::integer(std::string_view key, Whole bounds) {
  const Json* value = required(key);
  return value == nullptr ? 0 : integer_of(*value, at(key), bounds).value_or(0);
}

std::optional<std::int64_t> FieldReader::optional_integer(std::string_view key, Whole bounds) {
  const Json* value = find(key);
  return value == nullptr ? std::nullopt : integer_of(*value, at(key), bounds);
}

std::optional<double> FieldReader::optional_number(std::string_view key) {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  std::optional<double> number;
  if (value->IsNumber()) {
    number = value->GetDouble();
  } else if (value->IsBool()) {
    number = value->GetBool() ? 1 : 0;
  } else if (value->IsString()) {
    number = number_in<double>(view_of(*value));
    if (!number) fault("float_parsing", at(key), "Input should be a valid number, unable to parse string as a number", *value);
  } else {
    fault("float_type", at(key), "Input should be a valid number", *value);
  }
  if (!number) return std::nullopt;
  if (std::isfinite(*number)) return number;
  fault("finite_number", at(key), "Input should be a finite number", *value);
  return std::nullopt;
}

std::optional<bool> FieldReader::optional_boolean(std::string_view key) {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->IsBool()) return value->GetBool();
  if (value->IsNumber() && (value->GetDouble() == 0 || value->GetDouble() == 1)) return value->GetDouble() == 1;
  if (value->IsString()) {
    const std::string word = lower(view_of(*value));
    for (const char* yes : {"yes", "on", "true", "t", "y", "1"}) {
      if (word == yes) return true;
    }
    for (const char* no : {"no", "off", "false", "f", "n", "0"}) {
      if (word == no) return false;
    }
  }
  if (value->IsString() || value->IsNumber()) {
    fault("bool_parsing", at(key), "Input should be a valid boolean, unable to interpret input", *value);
  } else {
    fault("bool_type", at(key), "Input should be a valid boolean", *value);
  }
  return std::nullopt;
}

void FieldReader::literal(std::string_view key, std::string_view value) {
  const Json* found = find(key);
  if (found == nullptr || (found->IsString() && view_of(*found) == value)) return;
  const std::string expected = "'" + std::string(value) + "'";
  fault("literal_error", at(key), "Input should be " + expected, *found, "{\"expected\":\"" + expected + "\"}");
}

std::optional<std::int64_t> FieldReader::integer_of(const Json& value, const Location& location, Whole bounds) {
  std::optional<std::int64_t> number;
  bool above = false;  // beyond int64: out of any bounds
  bool below = false;
  if (value.IsInt64()) {
    number = value.GetInt64();
  } else if (value.IsUint64()) {
    above = true;
  } else if (value.IsBool()) {
    number = value.GetBool() ? 1 : 0;
  } else if (value.IsDouble()) {
    const double real = value.GetDouble();
    if (!std::isfinite(real)) {
      fault("finite_number", location, "Input should be a finite number", value);
      return std::nullopt;
    }
    if (real != std::floor(real)) {
      fault("int_from_float", location, "Input should be a valid integer, got a number with a fractional part", value);
      return std::nullopt;
    }
    above = real >= 0x1p63;
    below = real < -0x1p63;
    if (!above && !below) number = static_cast<std::int64_t>(real);
  } else if (value.IsString()) {
    number = number_in<std::int64_t>(view_of(value));
    if (!number) fault("int_parsing", location, "Input should be a valid integer, unable to parse string as an integer", value);
  } else {
    fault("int_type", location, "Input should be a valid integer", value);
  }
  if (above || (number && *number > bounds.most)) {
    const std::string most = std::to_string(bounds.most);
    fault("less_than_equal", location, "Input should be less than or equal to " + most, value, "{\"le\":" + most + "}");
    return std::nullopt;
  }
  if (below || (number && *number < bounds.least)) {
    const std::string least = std::to_string(bounds.least);
    fault("greater_than_equal", location, "Input should be greater than or equal to " + least, value, "{\"ge\":" + least + "}");
    return std::nullopt;
  }
  return number;
}

std::optional<std::string> FieldReader::text_of(const Json& value, const Location& location) {
  if (value.IsString()) return std::string(view_of(value));
  fault("string_type", location, "Input should be a valid string", value);
  return std::nullopt;
}

void FieldReader::fault(std::string type, const Location& location, std::string message, const Json& input,
                        std::string context) {
  constexpr std::size_t kMostFaults = 100;
  if (faults_.size() >= kMostFaults) return;
  faults_.push_back({std::move(type), location.json(), std::move(message), json_of(input), std::move(context)});
}

base::Error unprocessable(std::vector<base::Fault> faults) {
  base::Error error{base::Code::unprocessable, "request body: " + faults.front().loc + ": " + faults.front().msg};
  error.faults = std::move(faults);
  return error;
}

}  // namespace tinker::codec
