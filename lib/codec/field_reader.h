// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <rapidjson/document.h>

#include "base/error.h"

namespace tinker::codec {

// The bounds of a number, both taken.
struct Whole {
  std::int64_t least = std::numeric_limits<std::int64_t>::min();
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
};

// Where a value stands in a request, as the `loc` of a fault shows it: ["body","prompt","chunks",0].
class Location {
 public:
  Location() : json_("[\"body\"") {}
  Location at(std::string_view key) const;  // a name that needs no escape
  Location at(std::size_t index) const;
  std::string json() const { return json_ + "]"; }

 private:
  explicit Location(std::string json) : json_(std::move(json)) {}
  std::string json_;
};

// Parses JSON for a FieldReader: any depth without recursion. NaN, Infinity and numbers too large for a double are read as
// such, so that they can be refused by the name of their field. Errors: unprocessable with the peer's `json_invalid` or
// `missing` (an empty body).
std::optional<base::Error> parse_body(std::string_view text, rapidjson::Document& document);

// Reads the members of one JSON object with the peer's lax scalar rules and gathers every fault (server-contract.md §1.1): an
// integer may be an integral float, decimal text or a boolean, and so on. Of members that stand twice the last counts. null is
// absent for an optional one. Getters that met a fault return an empty value.
class FieldReader {
 public:
  // `object` may be anything: what is no object is a fault, and then every member is absent.
  FieldReader(const rapidjson::Value& object, Location location, std::vector<base::Fault>& faults);

  // The member, or nullptr when it is absent or null.
  const rapidjson::Value* find(std::string_view key) const;
  // The member, which may be null; nullptr with a fault when it is absent.
  const rapidjson::Value* required(std::string_view key);
  // The member with its fault when it is no array.
  const rapidjson::Value* array(std::string_view key);

  std::string text(std::string_view key);
  std::optional<std::string> optional_text(std::string_view key);
  std::int64_t integer(std::string_view key, Whole bounds = {});
  std::optional<std::int64_t> optional_integer(std::string_view key, Whole bounds = {});
  std::optional<double> optional_number(std::string_view key);
  std::optional<bool> optional_boolean(std::string_view key);
  // A member that is there must be exactly `value`.
  void literal(std::string_view key, std::string_view value);

  // One element of an array, of which `location` tells where it stands.
  std::optional<std::int64_t> integer_of(const rapidjson::Value& value, const Location& location, Whole bounds);
  std::optional<std::string> text_of(const rapidjson::Value& value, const Location& location);

  void fault(std::string type, const Location& location, std::string message, const rapidjson::Value& input,
             std::string context = "");
  Location at(std::string_view key) const { return location_.at(key); }
  const Location& location() const { return location_; }

 private:
  const rapidjson::Value* member(std::string_view key) const;

  const rapidjson::Value& object_;
  Location location_;
  std::vector<base::Fault>& faults_;
};

// An Error of Code::unprocessable whose text names the first fault.
base::Error unprocessable(std::vector<base::Fault> faults);

}  // namespace tinker::codec
