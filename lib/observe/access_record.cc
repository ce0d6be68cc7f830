// SPDX-License-Identifier: Apache-2.0
#include "observe/access_record.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ctime>

namespace tinker::observe {
namespace {

using base::Code;
using base::fail;

constexpr std::size_t kMostPath = 1024;
constexpr std::size_t kMostText = 128;
constexpr double kMostMs = 1e12;  // thirty years

// At most `most` bytes, as they stand in the line.
void append_text(std::string_view text, std::size_t most, std::string& out) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  if (text.empty()) {
    out += '-';
    return;
  }
  const std::size_t end = out.size() + most;
  for (const char c : text) {
    if (out.size() + 3 > end) return;
    const auto byte = static_cast<unsigned char>(c);
    if (byte > ' ' && byte < 0x7F) {
      out += c;
    } else {
      out += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
}

template <class Number>
void append_number(Number number, std::string& out) {
  char buffer[24];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, number).ptr);
}

void append_two(int number, std::string& out) {
  out += static_cast<char>('0' + number / 10);
  out += static_cast<char>('0' + number % 10);
}

void append_time(base::Wall time, std::string& out) {
  const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
  const std::time_t seconds = static_cast<std::time_t>(since / 1000);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  append_number(utc.tm_year + 1900, out);
  out += '-';
  append_two(utc.tm_mon + 1, out);
  out += '-';
  append_two(utc.tm_mday, out);
  out += 'T';
  append_two(utc.tm_hour, out);
  out += ':';
  append_two(utc.tm_min, out);
  out += ':';
  append_two(utc.tm_sec, out);
  out += '.';
  const int ms = static_cast<int>(since % 1000);
  out += static_cast<char>('0' + ms / 100);
  append_two(ms % 100, out);
  out += 'Z';
}

// "2026-12-01T12:00:00.123Z"
std::optional<base::Wall> read_time(std::string_view text) {
  static constexpr std::string_view kForm = "dddd-dd-ddTdd:dd:dd.dddZ";
  if (text.size() != kForm.size()) return std::nullopt;
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    if (kForm[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != kForm[i]) return std::nullopt;
  }
  const auto number = [&](std::size_t at, std::size_t size) {
    int value = 0;
    for (const char c : text.substr(at, size)) value = value * 10 + (c - '0');
    return value;
  };
  std::tm utc{};
  utc.tm_year = number(0, 4) - 1900;
  utc.tm_mon = number(5, 2) - 1;
  utc.tm_mday = number(8, 2);
  utc.tm_hour = number(11, 2);
  utc.tm_min = number(14, 2);
  utc.tm_sec = number(17, 2);
  const int ms = number(20, 3);
  if (utc.tm_mon < 0 || utc.tm_mon > 11 || utc.tm_mday < 1 || utc.tm_mday > 31 || utc.tm_hour > 23 || utc.tm_min > 59 ||
      utc.tm_sec > 60)
    return std::nullopt;
  return base::Wall{std::chrono::seconds{timegm(&utc)} + std::chrono::milliseconds{ms}};
}

template <class Number>
std::optional<Number> read_number(std::string_view text) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && stop == end ? std::optional(number) : std::nullopt;
}

}  // namespace

void append_line(const AccessRecord& record, std::string& out) {
  append_time(record.time, out);
  out += ' ';
  append_text(record.client, kMostText, out);
  out += ' ';
  append_text(record.method, kMostText, out);
  out += ' ';
  append_text(record.path, kMostPath, out);
  out += ' ';
  append_number(record.status, out);
  out += ' ';
  append_number(record.bytes_in, out);
  out += ' ';
  append_number(record.bytes_out, out);
  out += ' ';
  const auto microseconds = static_cast<std::int64_t>(std::clamp(record.milliseconds, 0.0, kMostMs) * 1000 + 0.5);
  append_number(microseconds / 1000, out);
  out += '.';
  const int fraction = static_cast<int>(microseconds % 1000);
  out += static_cast<char>('0' + fraction / 100);
  append_two(fraction % 100, out);
  out += ' ';
  append_text(record.request_id, kMostText, out);
  out += '\n';
}

base::Result<AccessRecord> parse_line(std::string_view line) {
  std::array<std::string_view, kAccessFields.size()> fields;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::size_t space = line.find(' ');
    fields[i] = line.substr(0, space);
    if (fields[i].empty()) return fail(Code::invalid_argument, "an access-log line without " + std::string(kAccessFields[i]));
    line = space == std::string_view::npos ? std::string_view{} : line.substr(space + 1);
  }
  const auto wrong = [&](std::size_t i) {
    return fail(Code::invalid_argument,
                "an access-log line whose " + std::string(kAccessFields[i]) + " is '" + std::string(fields[i]) + "'");
  };
  const auto time = read_time(fields[0]);
  if (!time) return wrong(0);
  const auto status = read_number<int>(fields[4]);
  if (!status) return wrong(4);
  const auto bytes_in = read_number<std::uint64_t>(fields[5]);
  if (!bytes_in) return wrong(5);
  const auto bytes_out = read_number<std::uint64_t>(fields[6]);
  if (!bytes_out) return wrong(6);
  const auto ms = read_number<double>(fields[7]);
  if (!ms || !std::isfinite(*ms) || *ms < 0) return wrong(7);
  return AccessRecord{
      *time, std::string(fields[1]), std::string(fields[2]), std::string(fields[3]), *status, *bytes_in, *bytes_out,
      *ms,   std::string(fields[8])};
}

bool AccessFilter::takes(const AccessRecord& record) const {
  return record.status >= least_status && record.status <= most_status && record.path.starts_with(path_prefix) &&
         (!slower_than_ms || record.milliseconds >= *slower_than_ms);
}

base::Result<void> read_status(std::string_view text, AccessFilter& filter) {
  if (text.size() == 3 && text.ends_with("xx") && text[0] >= '1' && text[0] <= '5') {
    filter.least_status = (text[0] - '0') * 100;
    filter.most_status = filter.least_status + 99;
    return {};
  }
  const bool open = text.starts_with(">=");
  const auto status = read_number<int>(open ? text.substr(2) : text);
  if (!status || *status < 0 || *status > 999)
    return fail(Code::invalid_argument, "status '" + std::string(text) + "': expected 500, 5xx or >=400");
  filter.least_status = *status;
  filter.most_status = open ? 999 : *status;
  return {};
}

}  // namespace tinker::observe
