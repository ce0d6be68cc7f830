// SPDX-License-Identifier: Apache-2.0
#include "http/message.h"

namespace tinker::http {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

}  // namespace

bool same_token(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (lower(a[i]) != lower(b[i])) return false;
  return true;
}

void Fields::add(std::string_view name, std::string_view value) {
  Span span;
  span.name_at = static_cast<std::uint32_t>(text_.size());
  span.name_size = static_cast<std::uint32_t>(name.size());
  text_.append(name);
  span.value_at = static_cast<std::uint32_t>(text_.size());
  span.value_size = static_cast<std::uint32_t>(value.size());
  text_.append(value);
  spans_.push_back(span);
}

std::optional<std::string_view> Fields::find(std::string_view name) const {
  for (std::size_t i = 0; i < spans_.size(); ++i) {
    const auto [field, value] = at(i);
    if (same_token(field, name)) return value;
  }
  return std::nullopt;
}

std::size_t Fields::count(std::string_view name) const {
  std::size_t found = 0;
  for (std::size_t i = 0; i < spans_.size(); ++i) found += same_token(at(i).first, name);
  return found;
}

std::pair<std::string_view, std::string_view> Fields::at(std::size_t index) const {
  const Span& span = spans_[index];
  const std::string_view text = text_;
  return {text.substr(span.name_at, span.name_size), text.substr(span.value_at, span.value_size)};
}

void Fields::reserve(std::size_t bytes, std::size_t fields) {
  text_.reserve(bytes);
  spans_.reserve(fields);
}

void Fields::clear() {
  text_.clear();
  spans_.clear();
}

}  // namespace tinker::http
