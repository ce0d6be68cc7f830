// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace tinker::codec {

// Walks through a JSON text without building anything: what is wanted is read in place, the rest is skipped at memory speed.
//
// What is read is checked as RFC 8259 says. Of a value that is skipped, the strings, the balance of brackets and the end are
// checked, so that no text inside a string is taken for structure (cases.md U8) and a text that was cut short is noticed.
//
// `end` has base::Buffer::kPadding readable bytes behind it. One thread. Functions that return bool give false at a text that
// is no JSON; at() is then near the place.
class JsonCursor {
 public:
  JsonCursor(const char* begin, const char* end) : begin_(begin), at_(begin), end_(end) {}

  const char* at() const { return at_; }
  const char* end() const { return end_; }
  std::size_t offset() const { return static_cast<std::size_t>(at_ - begin_); }
  void move_to(const char* at) { at_ = at; }

  // The next character that is no white space, not taken; '\0' at the end.
  char peek() {
    skip_white_space();
    return at_ < end_ ? *at_ : '\0';
  }
  // Takes `c` if it is next.
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  // Takes a string. `raw` is what stands between the quotes, escapes and all.
  bool take_string(std::string_view& raw);
  // Takes a key with its colon. Escapes are resolved into `storage`, if there are any.
  bool take_key(std::string_view& key, std::string& storage);
  // Takes null.
  bool take_null();
  bool skip_value();

  // Calls `each(key)` at the value of every member of the object that is next; `each` takes the value and returns whether it
  // was good.
  template <class Each>
  bool each_member(Each each) {
    if (!take('{')) return false;
    if (take('}')) return true;
    std::string storage;
    do {
      std::string_view key;
      if (!take_key(key, storage) || !each(key)) return false;
    } while (take(','));
    return take('}');
  }
  // Calls `each()` at every element of the array that is next.
  template <class Each>
  bool each_element(Each each) {
    if (!take('[')) return false;
    if (take(']')) return true;
    do {
      if (!each()) return false;
    } while (take(','));
    return take(']');
  }

 private:
  void skip_white_space() {
    while (at_ < end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
  }
  bool skip_container();
  bool skip_scalar();

  const char* begin_;
  const char* at_;
  const char* end_;
};

// A raw string with its escapes resolved (RFC 8259 §7); lone surrogates become U+FFFD. False for a broken escape.
bool unescape(std::string_view raw, std::string& text);

}  // namespace tinker::codec
