// SPDX-License-Identifier: Apache-2.0
#include "tinkerctl/text_table.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <utility>

namespace tinker::ctl {
namespace {

// Columns that a cell takes on a terminal: its characters, not its bytes.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

template <class... Args>
std::string format(const char* pattern, Args... args) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, pattern, args...);
  return buffer;
}

}  // namespace

TextTable::TextTable(std::vector<std::string> columns) {
  for (std::string& column : columns) {
    right_.push_back(column.starts_with('>'));
    if (right_.back()) column.erase(0, 1);
  }
  rows_.push_back(std::move(columns));
}

void TextTable::row(std::vector<std::string> cells) {
  cells.resize(right_.size());
  rows_.push_back(std::move(cells));
}

std::string TextTable::text() const {
  std::vector<std::size_t> widths(right_.size());
  for (const auto& cells : rows_) {
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], width(cells[i]));
  }
  std::string text;
  for (const auto& cells : rows_) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string padding(widths[i] - width(cells[i]), ' ');
      line += right_[i] ? padding + cells[i] : cells[i] + padding;
      line += "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string bytes_text(std::int64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (amount >= 1024 && unit + 1 < std::size(kUnits)) {
    amount /= 1024;
    ++unit;
  }
  return unit == 0 ? format("%lld B", static_cast<long long>(bytes)) : format("%.1f %s", amount, kUnits[unit]);
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<long long>(seconds);
  if (seconds >= 86400) return format("%lld d %lld h", whole / 86400, whole % 86400 / 3600);
  if (seconds >= 3600) return format("%lld h %lld m", whole / 3600, whole % 3600 / 60);
  if (seconds >= 60) return format("%lld m %lld s", whole / 60, whole % 60);
  if (seconds >= 1) return format("%.2f s", seconds);
  return format("%.1f ms", seconds * 1000);
}

}  // namespace tinker::ctl
