// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <rapidjson/document.h>

#include "base/error.h"

namespace tinker::codec {

// A JSON request body read field by field with the peer's lax scalar rules, gathering every fault on the way
// (server-contract.md §1.1).
//
//   JsonBody body(text);
//   auto id = body.text("session_id");              // required
//   auto tags = body.optional_integer("seq_id");    // null or absent: nullopt
//   if (auto faults = body.faults()) return *faults;
//
// A required getter that met a fault returns an empty value. One thread; `text` must outlive it only during construction.
class JsonBody {
 public:
  explicit JsonBody(std::string_view text);

  std::string text(std::string_view key);
  std::optional<std::string> optional_text(std::string_view key);
  std::int64_t integer(std::string_view key);
  std::optional<std::int64_t> optional_integer(std::string_view key);
  std::optional<bool> optional_boolean(std::string_view key);
  // `key`, when present and not null, must be exactly `value` (the `type` fields).
  void literal(std::string_view key, std::string_view value);
  // A list of strings / any object, as compact JSON text in the form the peer stores (server-contract.md §2.3: ", " and ": ",
  // ASCII-escaped).
  std::string text_list_json(std::string_view key);
  std::optional<std::string> optional_object_json(std::string_view key);

  // An Error of Code::unprocessable with all faults so far, or nullopt.
  std::optional<base::Error> error() const;

 private:
  rapidjson::Document document_;
  std::vector<base::Fault> faults_;
};

}  // namespace tinker::codec
