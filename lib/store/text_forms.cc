// SPDX-License-Identifier: Apache-2.0
#include "store/text_forms.h"

#include <charconv>
#include <cstdint>
#include <cstdio>

namespace tinker::store {
namespace {

using namespace std::chrono;

// Reads `width` decimal digits at `at`.
std::optional<int> digits(std::string_view text, std::size_t at, std::size_t width) {
  int value = 0;
  for (const char c : text.substr(at, width)) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

void append_escape(std::string& out, std::uint32_t unit) {
  char escape[8];
  std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(unit));
  out += escape;
}

// Appends the character at the front of `text`, which starts above ASCII, as one or two \u escapes. Returns the bytes it took,
// 0 when they are not UTF-8.
std::size_t escape_character(std::string_view text, std::string& out) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::size_t length = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  static constexpr std::uint32_t kFirst[] = {0, 0, 0x80, 0x800, 0x10000};
  if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < length) return 0;
  std::uint32_t point = byte(0) & (0x7f >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    point = point << 6 | (byte(i) & 0x3f);
  }
  if (point < kFirst[length] || point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) return 0;
  if (point < 0x10000) {
    append_escape(out, point);
  } else {
    append_escape(out, 0xd800 + ((point - 0x10000) >> 10));
    append_escape(out, 0xdc00 + ((point - 0x10000) & 0x3ff));
  }
  return length;
}

// Appends the string that starts with the quote at `at`. Returns the position after it, npos when it is not one.
std::size_t append_string(std::string_view json, std::size_t at, std::string& out) {
  out += json[at++];
  while (at < json.size()) {
    const char c = json[at];
    if (static_cast<signed char>(c) < 0) {
      const std::size_t length = escape_character(json.substr(at), out);
      if (length == 0) return json.npos;
      at += length;
      continue;
    }
    if (c == '\x7f')
      append_escape(out, 0x7f);
    else
      out += c;
    ++at;
    if (c == '"') return at;
    if (c == '\\' && at < json.size()) out += json[at++];
  }
  return json.npos;
}

}  // namespace

std::string datetime_text(base::Wall time) {
  const auto us = floor<microseconds>(time);
  const auto day = floor<days>(us);
  const year_month_day date(day);
  const hh_mm_ss clock(us - day);
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02u-%02u %02d:%02d:%02d.%06d", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), static_cast<int>(clock.hours().count()),
                static_cast<int>(clock.minutes().count()), static_cast<int>(clock.seconds().count()),
                static_cast<int>(clock.subseconds().count()));
  return text;
}

std::optional<base::Wall> parse_datetime(std::string_view text) {
  static constexpr std::string_view kForm = "0000-00-00 00:00:00.000000";
  if (text.size() != kForm.size()) return std::nullopt;
  for (std::size_t i = 0; i < kForm.size(); ++i)
    if (kForm[i] != '0' && text[i] != kForm[i]) return std::nullopt;
  const auto y = digits(text, 0, 4), mo = digits(text, 5, 2), d = digits(text, 8, 2), h = digits(text, 11, 2),
             mi = digits(text, 14, 2), s = digits(text, 17, 2), us = digits(text, 20, 6);
  if (!y || !mo || !d || !h || !mi || !s || !us || *h > 23 || *mi > 59 || *s > 59) return std::nullopt;
  const year_month_day date(year(*y), month(static_cast<unsigned>(*mo)), day(static_cast<unsigned>(*d)));
  if (!date.ok()) return std::nullopt;
  return sys_days(date) + hours(*h) + minutes(*mi) + seconds(*s) + microseconds(*us);
}

base::Result<std::string> json_text(std::string_view json) {
  std::string out;
  out.reserve(json.size() + json.size() / 8);
  for (std::size_t at = 0; at < json.size();) {
    switch (json[at]) {
      case ' ':
      case '\t':
      case '\r':
      case '\n':
        ++at;
        break;
      case ',':
        out += ", ", ++at;
        break;
      case ':':
        out += ": ", ++at;
        break;
      case '"':
        at = append_string(json, at, out);
        if (at == json.npos)
          return base::fail(base::Code::invalid_argument, "JSON text to be stored is not valid UTF-8 or cut short");
        break;
      default:
        out += json[at++];
    }
  }
  return out;
}

}  // namespace tinker::store
