// SPDX-License-Identifier: Apache-2.0
#include "config/toml_file.h"

#include "base/utf8.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>

namespace tinker::config {
namespace {

using base::Code;
using base::fail;
using base::Result;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_key_char(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-'; }
bool is_control(char c) { return (static_cast<unsigned char>(c) < ' ' && c != '\t') || c == 0x7F; }

// Goes over the text of a file once, a key and its values at a time. Errors say what is wrong; where() says in which line.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {
    if (rest_.starts_with("\xEF\xBB\xBF")) rest_.remove_prefix(3);
  }

  std::size_t line() const { return line_; }

  // The next key; nullopt at the end.
  Result<std::optional<std::string>> key() {
    skip_lines();
    if (rest_.empty()) return std::nullopt;
    if (peek() == '[') return wrong("a section; settings stand at the top, without sections");
    const auto end = std::ranges::find_if_not(rest_, is_key_char);
    const std::string key(rest_.begin(), end);
    if (key.empty()) return wrong("expected NAME = VALUE");
    rest_.remove_prefix(key.size());
    skip_spaces();
    if (!take('=')) return wrong("expected " + key + " = VALUE");
    skip_spaces();
    return key;
  }

  // The values after a key, to the end of the line.
  Result<std::vector<std::string>> values() {
    std::vector<std::string> values;
    if (take('[')) {
      for (skip_lines(); !take(']'); skip_lines()) {
        auto item = value();
        if (!item) return tl::unexpected(item.error());
        values.push_back(std::move(*item));
        skip_lines();
        if (!take(',') && peek() != ']') return wrong("expected , or ] in the array");
      }
    } else {
      auto item = value();
      if (!item) return tl::unexpected(item.error());
      values.push_back(std::move(*item));
    }
    skip_spaces();
    skip_comment();
    if (!rest_.empty() && peek() != '\n') return wrong("expected nothing more after the value");
    return values;
  }

 private:
  char peek() const { return rest_.empty() ? '\0' : rest_.front(); }
  bool take(char c) {
    if (peek() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void skip_spaces() {
    while (peek() == ' ' || peek() == '\t' || rest_.starts_with("\r\n")) rest_.remove_prefix(1);
  }
  void skip_comment() {
    if (peek() == '#') rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
  }
  // Spaces, comments and ends of lines.
  void skip_lines() {
    for (;;) {
      skip_spaces();
      skip_comment();
      if (!take('\n')) return;
      ++line_;
    }
  }
  static tl::unexpected<base::Error> wrong(std::string what) { return fail(Code::invalid_argument, std::move(what)); }

  Result<std::string> value() {
    if (take('"')) return basic_string();
    if (take('\'')) return literal_string();
    return word();
  }

  Result<std::string> literal_string() {
    const std::string text(rest_.substr(0, std::min(rest_.find_first_of("'\n"), rest_.size())));
    rest_.remove_prefix(text.size());
    if (!take('\'')) return wrong("a string without its closing '");
    return text;
  }

  Result<std::string> basic_string() {
    std::string text;
    while (!take('"')) {
      if (rest_.empty() || is_control(peek())) return wrong("a string without its closing \"");
      if (!take('\\')) {
        text += peek();
        rest_.remove_prefix(1);
      } else if (!escape(text)) {
        return wrong("an unknown escape in a string; use 'single quotes' for a text with backslashes");
      }
    }
    return text;
  }

  bool escape(std::string& text) {
    const char c = peek();
    if (rest_.empty()) return false;
    rest_.remove_prefix(1);
    if (c == 'u' || c == 'U') return rune(c == 'u' ? 4 : 8, text);
    static constexpr std::string_view kLetters = "btnfr\"\\";
    static constexpr std::string_view kMeant = "\b\t\n\f\r\"\\";
    const std::size_t at = kLetters.find(c);
    if (at == std::string_view::npos) return false;
    text += kMeant[at];
    return true;
  }

  bool rune(std::size_t digits, std::string& text) {
    const std::string_view hex = rest_.substr(0, digits);
    std::uint32_t rune = 0;
    const auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), rune, 16);
    if (error != std::errc{} || hex.size() != digits || end != hex.data() + digits) return false;
    if (rune > 0x10FFFF || (rune >= 0xD800 && rune < 0xE000)) return false;
    rest_.remove_prefix(digits);
    base::append_utf8(rune, text);
    return true;
  }

  // A number or a boolean, whose _ between digits is dropped. The setting checks the rest.
  Result<std::string> word() {
    const std::string_view word = rest_.substr(0, std::min(rest_.find_first_of(" \t\r\n,]#"), rest_.size()));
    if (word.empty()) return wrong("expected a value: a number, or a \"text\" in quotes");
    if (!is_digit(word.front()) && word.front() != '-' && word.front() != '+' && word != "true" && word != "false")
      return wrong("a text needs quotes: \"" + std::string(word.substr(0, 128)) + "\"");
    rest_.remove_prefix(word.size());
    std::string text;
    for (std::size_t i = 0; i < word.size(); ++i) {
      const bool between = i > 0 && i + 1 < word.size() && is_digit(word[i - 1]) && is_digit(word[i + 1]);
      if (word[i] != '_' || !between) text += word[i];
    }
    return text;
  }

  std::string_view rest_;
  std::size_t line_ = 1;
};

std::string quoted(std::string_view text) {
  std::string toml = "\"";
  for (const char c : text) {
    if (is_control(c) || c == '\t') {
      static constexpr char kHex[] = "0123456789ABCDEF";
      toml += {'\\', 'u', '0', '0', kHex[c >> 4 & 15], kHex[c & 15]};
    } else {
      if (c == '"' || c == '\\') toml += '\\';
      toml += c;
    }
  }
  return toml + "\"";
}

}  // namespace

Result<std::vector<Entry>> read_toml(const Settings& settings, const std::string& path) {
  std::ifstream file(path);
  std::ostringstream content;
  if (!file || (file.peek() != std::ifstream::traits_type::eof() && !(content << file.rdbuf())) || file.bad()) {
    return fail(Code::not_found,
                "cannot read " + path + ": " + std::strerror(errno) + " (is the path right, and may this user read it?)");
  }
  const std::string text = content.str();
  Scanner scanner(text);
  std::vector<Entry> entries;
  for (;;) {
    const auto where = [&] { return path + ":" + std::to_string(scanner.line()); };
    const auto key = scanner.key();
    if (!key) return tl::unexpected(base::within(where(), key.error()));
    if (!*key) return entries;
    const auto setting = settings.all.require(**key);
    if (!setting) return tl::unexpected(base::within(where(), setting.error()));
    if (std::ranges::find(entries, *setting, &Entry::setting) != entries.end())
      return fail(Code::invalid_argument, where() + ": " + **key + " stands twice; leave one");
    const std::string at = where();
    auto values = scanner.values();
    if (!values) return tl::unexpected(base::within(where(), base::within(**key, values.error())));
    entries.push_back({*setting, std::move(*values), at});
  }
}

std::string toml_line(const AnySetting& setting, const std::vector<std::string>& values) {
  const std::string start = setting.about().name + " = ";
  if (!setting.is_list()) return start + (setting.is_text() ? quoted(values.front()) : values.front());
  std::string list;
  for (const std::string& value : values) list += (list.empty() ? "" : ", ") + quoted(value);
  return start + "[" + list + "]";
}

}  // namespace tinker::config
