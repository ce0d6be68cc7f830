// SPDX-License-Identifier: Apache-2.0
#include "control/dispatcher.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include "api/error_reply.h"
#include "base/percent.h"

namespace tinker::control {
namespace {

namespace pb = google::protobuf;
using base::Code;
using base::fail;

http::Response refusal(const base::Error& error) {
  CallError body;
  body.set_error(error.text);
  return api::json_response(to_json(body), api::status_of(error.code));
}

// The next part of `text` up to `separator`, which is taken off.
std::string_view next_part(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  return part;
}

// The segments that stand for fields, by name, when `path` has the form of `pattern`.
std::optional<std::vector<std::pair<std::string_view, std::string_view>>> match(std::string_view pattern,
                                                                                std::string_view path) {
  std::vector<std::pair<std::string_view, std::string_view>> fields;
  // "/futures/" asks for a future without a name, not for the list.
  if (std::ranges::count(pattern, '/') != std::ranges::count(path, '/')) return std::nullopt;
  while (!pattern.empty() || !path.empty()) {
    const std::string_view expected = next_part(pattern, '/');
    const std::string_view segment = next_part(path, '/');
    if (expected.starts_with('{') && !segment.empty()) {
      fields.emplace_back(expected.substr(1, expected.size() - 2), segment);
    } else if (expected != segment) {
      return std::nullopt;
    }
  }
  return fields;
}

base::Result<void> set_encoded(pb::Message& message, std::string_view name, std::string_view value) {
  const pb::FieldDescriptor* field = message.GetDescriptor()->FindFieldByName(std::string(name));
  if (field == nullptr) return fail(Code::invalid_argument, "'" + std::string(name) + "' is no parameter of this call");
  const auto text = base::percent_decoded(value);
  if (!text) return fail(Code::invalid_argument, std::string(name) + ": a '%' must stand before two hex digits");
  return set_field(message, *field, *text);
}

base::Result<std::unique_ptr<pb::Message>> read_request(
    const CallRow& row, const http::Request& request,
    const std::vector<std::pair<std::string_view, std::string_view>>& in_path) {
  std::unique_ptr<pb::Message> message = new_message(*row.method->input_type());
  if (!request.body.empty()) {
    if (auto read = from_json(request.body, *message); !read) return tl::unexpected(read.error());
  }
  std::string_view query = request.query;
  while (!query.empty()) {
    std::string_view value = next_part(query, '&');
    const std::string_view name = next_part(value, '=');
    if (auto set = set_encoded(*message, name, value); !set) return tl::unexpected(set.error());
  }
  for (const auto& [name, value] : in_path) {
    if (auto set = set_encoded(*message, name, value); !set) return tl::unexpected(set.error());
  }
  return message;
}

}  // namespace

std::vector<std::string> Dispatcher::missing() const {
  std::vector<std::string> names;
  for (const CallRow& row : calls()) {
    if (!handlers_.contains(row.method)) names.push_back(row.method->name());
  }
  return names;
}

void Dispatcher::add(std::string_view method, const pb::Descriptor* request, const pb::Descriptor* reply, AnyHandler handler) {
  for (const CallRow& row : calls()) {
    if (row.method->name() != method) continue;
    if (row.method->input_type() != request || row.method->output_type() != reply) break;
    handlers_[row.method] = std::move(handler);
    return;
  }
  throw std::logic_error("no call " + std::string(method) + " of these types in control.proto");
}

void Dispatcher::handle(const http::Request& request, bool may_change, http::Reply reply) const {
  bool path_known = false;
  for (const CallRow& row : calls()) {
    const auto fields = match(row.path, request.path);
    if (!fields) continue;
    path_known = true;
    if (row.http_method != request.method) continue;
    if (row.access == Access::CHANGE && !may_change) {
      return reply.send(
          refusal({Code::permission_denied,
                   "'" + row.command + "' may be called by root, the daemon's user and members of the socket's group only"}));
    }
    auto message = read_request(row, request, *fields);
    if (!message) return reply.send(refusal(message.error()));
    const auto handler = handlers_.find(row.method);
    if (handler == handlers_.end()) return reply.send(refusal({Code::internal, "'" + row.command + "' has no handler"}));
    return handler->second(**message, [reply](base::Result<const pb::Message*> answer) mutable {
      reply.send(answer ? api::json_response(to_json(**answer)) : refusal(answer.error()));
    });
  }
  if (path_known) return reply.send(refusal({Code::method_not_allowed, request.method + " is not taken at " + request.path}));
  reply.send(refusal({Code::not_found, "no call at " + request.path + "; proto/tinkerd/control.proto lists them"}));
}

}  // namespace tinker::control
