// SPDX-License-Identifier: Apache-2.0
#include "control/client.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "base/percent.h"
#include "http/client_connection.h"
#include "loop/event_loop.h"
#include "loop/handles.h"

namespace tinker::control {
namespace {

namespace pb = google::protobuf;
using base::Code;
using base::fail;

// Why nobody can be reached there: said before HTTP begins, for only connect(2) tells the cases apart.
base::Result<void> reachable(const std::string& socket, const http::SocketAddress& address) {
  const loop::FileDescriptor probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (connect(probe.get(), address.get(), address.size) == 0) return {};
  switch (errno) {
    case ENOENT:
      return fail(Code::unavailable,
                  "tinkerd is not running: no socket " + socket + " (start it, or name its socket with --socket)");
    case ECONNREFUSED:
      return fail(Code::unavailable, "tinkerd is not running: nobody answers on " + socket +
                                         ", which an earlier run left behind (start it again)");
    case EACCES:
    case EPERM:
      return fail(Code::permission_denied,
                  "not allowed to use " + socket + " (run as root, as the daemon's user, or join the socket's group)");
    default:
      return fail(Code::unavailable, "cannot connect to " + socket + ": " + std::strerror(errno));
  }
}

// "{field}" segments from the request; the other fields go into the query of a GET, or into the body.
std::string head_of(const CallRow& row, const pb::Message& request, std::string& body) {
  std::string path = row.path;
  std::string query;
  const pb::Reflection& reflection = *request.GetReflection();
  std::vector<const pb::FieldDescriptor*> set;
  reflection.ListFields(request, &set);
  for (const pb::FieldDescriptor* field : set) {
    std::string text;
    switch (field->cpp_type()) {
      case pb::FieldDescriptor::CPPTYPE_STRING:
        text = reflection.GetString(request, field);
        break;
      case pb::FieldDescriptor::CPPTYPE_INT64:
        text = std::to_string(reflection.GetInt64(request, field));
        break;
      case pb::FieldDescriptor::CPPTYPE_BOOL:
        text = reflection.GetBool(request, field) ? "true" : "false";
        break;
      default:
        continue;
    }
    text = base::percent_encoded(text);
    if (in_path(row, *field)) {
      const std::string segment = "{" + field->name() + "}";
      path.replace(path.find(segment), segment.size(), text);
    } else if (row.http_method == "GET") {
      query += (query.empty() ? "?" : "&") + field->name() + "=" + text;
    }
  }
  if (row.http_method != "GET") body = to_json(request);
  return std::string(row.http_method) + " " + path + query +
         " HTTP/1.1\r\nHost: tinkerd\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n";
}

Code code_of(int status) {
  switch (status) {
    case 400:
    case 405:
      return Code::invalid_argument;
    case 403:
      return Code::permission_denied;
    case 404:
      return Code::not_found;
    case 503:
      return Code::unavailable;
    default:
      return Code::internal;
  }
}

}  // namespace

base::Result<std::unique_ptr<pb::Message>> ask(const std::string& socket, const CallRow& row, const pb::Message& request,
                                               base::Seconds patience) {
  const auto address = http::SocketAddress::unix_socket(socket);
  if (!address) return tl::unexpected(address.error());
  if (auto open = reachable(socket, *address); !open) return tl::unexpected(open.error());

  loop::EventLoop loop("ctl");
  http::ClientConnection connection(loop, *address, loop::Priority::client);
  std::string body;
  std::string head = head_of(row, request, body);
  std::optional<tl::expected<http::Answer, http::Broken>> answer;
  connection.send(std::move(head), base::SharedBytes(std::move(body)), {.connect = patience, .read = patience},
                  [&](tl::expected<http::Answer, http::Broken> got) {
                    answer = std::move(got);
                    loop.stop();
                  });
  loop.run();

  if (!*answer) {
    const http::Broken& broken = answer->error();
    const bool late = broken.kind == http::Breakage::read_timed_out || broken.kind == http::Breakage::connect_timed_out;
    return fail(late ? Code::timed_out : Code::unavailable, "no answer from tinkerd on " + socket + ": " + broken.text);
  }
  const std::string_view text = (*answer)->body.view();
  if ((*answer)->status != 200) {
    CallError refused;
    if (!from_json(text, refused)) refused.set_error("tinkerd answered " + std::to_string((*answer)->status));
    return fail(code_of((*answer)->status), refused.error());
  }
  std::unique_ptr<pb::Message> reply = new_message(*row.method->output_type());
  if (auto read = from_json(text, *reply); !read) {
    return fail(Code::internal,
                "tinkerd's answer is not understood (another version? see `tinkerctl version`): " + read.error().text);
  }
  return reply;
}

}  // namespace tinker::control
