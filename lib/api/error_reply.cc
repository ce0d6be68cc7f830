// SPDX-License-Identifier: Apache-2.0
#include "api/error_reply.h"

#include "base/utf8.h"

#include <rapidjson/encodings.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

namespace tinker::api {
namespace {

using Writer = rapidjson::Writer<rapidjson::StringBuffer>;

void write_text(Writer& json, std::string_view text) {
  const std::string valid = base::valid_utf8(text);
  json.String(valid.data(), static_cast<rapidjson::SizeType>(valid.size()));
}

// A part of a fault that is JSON text already; null when there is none.
void write_raw(Writer& json, const std::string& text) {
  if (text.empty()) {
    json.Null();
    return;
  }
  json.RawValue(text.data(), text.size(), rapidjson::kObjectType);
}

void write_fault(Writer& json, const base::Fault& fault) {
  json.StartObject();
  json.Key("type");
  write_text(json, fault.type);
  json.Key("loc");
  write_raw(json, fault.loc);
  json.Key("msg");
  write_text(json, fault.msg);
  json.Key("input");
  write_raw(json, fault.input);
  if (!fault.ctx.empty()) {
    json.Key("ctx");
    write_raw(json, fault.ctx);
  }
  json.EndObject();
}

}  // namespace

int status_of(base::Code code) {
  switch (code) {
    case base::Code::invalid_argument:
      return 400;
    case base::Code::permission_denied:
      return 403;
    case base::Code::not_found:
      return 404;
    case base::Code::method_not_allowed:
      return 405;
    case base::Code::timed_out:
      return 408;
    case base::Code::conflict:
      return 409;
    case base::Code::gone:
      return 410;
    case base::Code::too_large:
      return 413;
    case base::Code::unsupported_media:
      return 415;
    case base::Code::unprocessable:
      return 422;
    case base::Code::too_early:
      return 425;
    case base::Code::exhausted:
      return 429;
    case base::Code::internal:
      return 500;
    case base::Code::unavailable:
      return 503;
  }
  __builtin_unreachable();
}

http::Response error_response(const base::Error& error) {
  const int status = status_of(error.code);
  rapidjson::StringBuffer text;
  Writer json(text);
  json.StartObject();
  json.Key("detail");
  if (error.faults.empty()) {
    write_text(json, error.text);
  } else {
    json.StartArray();
    for (const base::Fault& fault : error.faults) write_fault(json, fault);
    json.EndArray();
  }
  json.EndObject();
  http::Response response = json_response({text.GetString(), text.GetSize()}, status);
  if (status == 429 || status == 503) response.fields.emplace_back("retry-after", "1");
  return response;
}

http::Response detail_response(int status, std::string_view text) {
  return json_response("{\"detail\":" + json_text(text) + "}", status);
}

http::Response json_response(std::string body, int status) {
  return {.status = status, .body = base::SharedBytes(std::move(body))};
}

std::string json_text(std::string_view text) {
  rapidjson::StringBuffer buffer;
  Writer json(buffer);
  write_text(json, text);
  return {buffer.GetString(), buffer.GetSize()};
}

}  // namespace tinker::api
