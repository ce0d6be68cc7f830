// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <google/protobuf/message.h>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "tinkerd/control.pb.h"

namespace tinker::control {

// One operator's call, as proto/tinkerd/control.proto declares it.
struct CallRow {
  const google::protobuf::MethodDescriptor* method;
  std::string_view http_method;  // "GET", "PUT", "POST", "DELETE"
  std::string path;              // with "{field}" segments
  Access access;
  std::string command;  // tinkerctl's words, e.g. "futures count"
  std::string help;
};

// All calls, in the order of the file.
std::span<const CallRow> calls();

// The fields of a request that stand in the call's path.
bool in_path(const CallRow& row, const google::protobuf::FieldDescriptor& field);

// Sets a field from text. Errors (invalid_argument) name the field, the text and what is expected.
base::Result<void> set_field(google::protobuf::Message& message, const google::protobuf::FieldDescriptor& field,
                             std::string_view text);

// A new, empty message of a type.
std::unique_ptr<google::protobuf::Message> new_message(const google::protobuf::Descriptor& type);

// protobuf's JSON mapping with the names of control.proto and every field shown.
std::string to_json(const google::protobuf::Message& message, bool indented = false);
base::Result<void> from_json(std::string_view json, google::protobuf::Message& message);

}  // namespace tinker::control
