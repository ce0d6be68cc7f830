// SPDX-License-Identifier: Apache-2.0
#include "http/response_head.h"

#include <charconv>
#include <cstdio>
#include <ctime>

namespace tinker::http {
namespace {

// "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110 §5.6.7), made once a second. Not strftime: names must not follow the locale.
std::string_view date_now() {
  static constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  thread_local std::time_t made_for = -1;
  thread_local char text[64];
  thread_local int size = 0;
  timespec now{};
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  if (now.tv_sec != made_for) {
    made_for = now.tv_sec;
    std::tm parts{};
    gmtime_r(&made_for, &parts);
    size = std::snprintf(text, sizeof text, "%s, %02d %s %04d %02d:%02d:%02d GMT", kDays[parts.tm_wday], parts.tm_mday,
                         kMonths[parts.tm_mon], parts.tm_year + 1900, parts.tm_hour, parts.tm_min, parts.tm_sec);
  }
  return {text, static_cast<std::size_t>(size)};
}

void append_number(std::string& out, std::size_t number) {
  char digits[20];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, number);
  out.append(digits, end);
}

void append_clean(std::string& out, std::string_view text) {
  const std::size_t at = out.size();
  out.append(text);
  for (std::size_t i = at; i < out.size(); ++i)
    if (out[i] == '\r' || out[i] == '\n' || out[i] == '\0') out[i] = ' ';
}

void append_field(std::string& out, std::string_view name, std::string_view value) {
  append_clean(out, name);
  out += ": ";
  append_clean(out, value);
  out += "\r\n";
}

}  // namespace

std::string_view reason_phrase(int status) {
  switch (status) {
    case 100:
      return "Continue";
    case 101:
      return "Switching Protocols";
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 206:
      return "Partial Content";
    case 301:
      return "Moved Permanently";
    case 302:
      return "Found";
    case 303:
      return "See Other";
    case 304:
      return "Not Modified";
    case 307:
      return "Temporary Redirect";
    case 308:
      return "Permanent Redirect";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 402:
      return "Payment Required";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 411:
      return "Length Required";
    case 412:
      return "Precondition Failed";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 416:
      return "Range Not Satisfiable";
    case 417:
      return "Expectation Failed";
    case 421:
      return "Misdirected Request";
    case 422:
      return "Unprocessable Content";
    case 425:
      return "Too Early";
    case 426:
      return "Upgrade Required";
    case 428:
      return "Precondition Required";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
    case 507:
      return "Insufficient Storage";
    default:
      return "Unknown";
  }
}

bool is_bodiless(int status) { return status / 100 == 1 || status == 204 || status == 304; }

void append_response_head(std::string& out, const Response& response, Persistence persistence) {
  out += "HTTP/1.1 ";
  append_number(out, static_cast<std::size_t>(response.status));
  out += ' ';
  out += reason_phrase(response.status);
  out += "\r\nserver: tinkerd\r\ndate: ";
  out += date_now();
  out += "\r\n";
  if (!is_bodiless(response.status)) {
    if (!response.content_type.empty()) append_field(out, "content-type", response.content_type);
    out += "content-length: ";
    append_number(out, response.content_type.empty() ? 0 : response.body.size());
    out += "\r\n";
  }
  for (const auto& [name, value] : response.fields) append_field(out, name, value);
  switch (persistence) {
    case Persistence::keep:
      break;
    case Persistence::keep_said:
      out += "connection: keep-alive\r\n";
      break;
    case Persistence::close:
      out += "connection: close\r\n";
      break;
  }
  out += "\r\n";
}

Response detail_answer(int status, std::string_view detail) {
  std::string body = "{\"detail\":\"";
  body += detail;
  body += "\"}";
  return {.status = status, .body = base::SharedBytes(std::move(body))};
}

}  // namespace tinker::http
