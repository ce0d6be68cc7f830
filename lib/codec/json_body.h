// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <rapidjson/document.h>

#include "base/error.h"
#include "codec/field_reader.h"

namespace tinker::codec {

// A small JSON request body, read field by field; all faults are gathered on the way (see FieldReader).
//
//   JsonBody body(text);
//   auto id = body.text("session_id");              // required
//   auto seq = body.optional_integer("seq_id");     // null or absent: nullopt
//   if (const auto error = body.error()) return call.reply.send(error_response(*error));
//
// One thread; `text` is not needed after construction.
class JsonBody {
 public:
  explicit JsonBody(std::string_view text);

  std::string text(std::string_view key) { return fields_.text(key); }
  std::optional<std::string> optional_text(std::string_view key) { return fields_.optional_text(key); }
  std::int64_t integer(std::string_view key) { return fields_.integer(key); }
  std::optional<bool> optional_boolean(std::string_view key) { return fields_.optional_boolean(key); }
  void literal(std::string_view key, std::string_view value) { fields_.literal(key, value); }
  // A list of strings, and an object, as JSON text; "[]" when the list is absent.
  std::string text_list_json(std::string_view key);
  std::optional<std::string> optional_object_json(std::string_view key);

  // An Error of Code::unprocessable with all faults so far, or nullopt.
  std::optional<base::Error> error() const;

 private:
  rapidjson::Document document_;
  std::vector<base::Fault> faults_;
  std::optional<base::Error> no_json_;
  FieldReader fields_;
};

}  // namespace tinker::codec
