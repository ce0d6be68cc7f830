// SPDX-License-Identifier: Apache-2.0
#include "control/calls.h"

#include <google/protobuf/util/json_util.h>

#include <charconv>
#include <vector>

namespace tinker::control {
namespace {

namespace pb = google::protobuf;
using base::Code;
using base::fail;

std::pair<std::string_view, std::string> route_of(const Call& option) {
  switch (option.route_case()) {
    case Call::kGet:
      return {"GET", option.get()};
    case Call::kPut:
      return {"PUT", option.put()};
    case Call::kPost:
      return {"POST", option.post()};
    case Call::kDelete:
      return {"DELETE", option.delete_()};
    case Call::ROUTE_NOT_SET:
      return {"", ""};
  }
  __builtin_unreachable();
}

std::vector<CallRow> read_calls() {
  std::vector<CallRow> rows;
  const pb::ServiceDescriptor* service = GetStatusRequest::descriptor()->file()->FindServiceByName("Control");
  for (int i = 0; i < service->method_count(); ++i) {
    const pb::MethodDescriptor* method = service->method(i);
    const Call& option = method->options().GetExtension(call);
    auto [http_method, path] = route_of(option);
    rows.push_back({method, http_method, std::move(path), option.access(), option.command(), option.help()});
  }
  return rows;
}

}  // namespace

std::span<const CallRow> calls() {
  static const std::vector<CallRow> rows = read_calls();
  return rows;
}

bool in_path(const CallRow& row, const pb::FieldDescriptor& field) {
  return row.path.find("{" + field.name() + "}") != std::string::npos;
}

base::Result<void> set_field(pb::Message& message, const pb::FieldDescriptor& field, std::string_view text) {
  const pb::Reflection& reflection = *message.GetReflection();
  const auto refuse = [&](std::string_view expected) {
    return fail(Code::invalid_argument,
                field.name() + " '" + std::string(text.substr(0, 64)) + "': expected " + std::string(expected));
  };
  switch (field.cpp_type()) {
    case pb::FieldDescriptor::CPPTYPE_STRING:
      reflection.SetString(&message, &field, std::string(text));
      return {};
    case pb::FieldDescriptor::CPPTYPE_INT64: {
      std::int64_t number = 0;
      const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
      if (error != std::errc{} || stop != text.data() + text.size()) return refuse("a whole number");
      reflection.SetInt64(&message, &field, number);
      return {};
    }
    case pb::FieldDescriptor::CPPTYPE_BOOL:
      if (text != "true" && text != "false") return refuse("true or false");
      reflection.SetBool(&message, &field, text == "true");
      return {};
    default:
      return fail(Code::internal, "requests have no fields of the type of " + field.full_name());
  }
}

std::unique_ptr<pb::Message> new_message(const pb::Descriptor& type) {
  return std::unique_ptr<pb::Message>(pb::MessageFactory::generated_factory()->GetPrototype(&type)->New());
}

std::string to_json(const pb::Message& message, bool indented) {
  pb::util::JsonPrintOptions options;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;
  options.add_whitespace = indented;
  std::string json;
  // Fails only for messages of unknown types, which are not used here.
  (void)pb::util::MessageToJsonString(message, &json, options);
  return json;
}

base::Result<void> from_json(std::string_view json, pb::Message& message) {
  const auto status = pb::util::JsonStringToMessage(pb::StringPiece(json.data(), json.size()), &message);
  if (!status.ok())
    return fail(Code::invalid_argument, "body is no " + message.GetDescriptor()->name() + ": " + std::string(status.message()));
  return {};
}

}  // namespace tinker::control
