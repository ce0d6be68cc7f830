// SPDX-License-Identifier: Apache-2.0
#include "codec/json_cursor.h"

#include <bit>
#include <cstdint>

#include "base/utf8.h"
#include "codec/byte_block.h"
#include "codec/digits.h"
#include "codec/simd.h"

namespace tinker::codec {
namespace {

// The bytes of a block that a backslash before them takes away. `carry`, 0 or 1, is whether the first one is, and becomes
// whether the next block's first is. Without a branch: texts have escapes at random.
std::uint64_t escaped_bytes(std::uint64_t backslashes, std::uint64_t& carry) {
  constexpr std::uint64_t kEven = 0x5555555555555555;
  backslashes &= ~carry;  // one that is escaped escapes nothing
  const std::uint64_t behind = backslashes << 1 | carry;
  // A run of backslashes that is added to its first bit leaves a bit behind its end; runs from an odd bit on are added only, so
  // that what is left tells whether the byte behind a run has the parity of an escaped one.
  const std::uint64_t odd_runs = backslashes & ~kEven & ~behind;
  const std::uint64_t sum = odd_runs + backslashes;
  carry = static_cast<std::uint64_t>(sum < odd_runs);
  return (kEven ^ (sum << 1)) & behind;
}

// The bracket that closes the one at `p`, or nullptr: the last of its kind, when those of the other kind are balanced. Blocks
// without a closing bracket of the kind, which are most, are only counted.
template <class Block>
[[gnu::always_inline]] inline const char* closing_bracket(const char* p, const char* end) {
  const bool array = *p == '[';
  const char open = array ? '[' : '{';
  const char close = array ? ']' : '}';
  const char other_open = array ? '{' : '[';
  const char other_close = array ? '}' : ']';
  std::uint64_t carry = 0;
  std::uint64_t in_string = 0;  // all ones while a string goes on from the block before
  std::int64_t depth = 0;
  std::int64_t other_depth = 0;
  for (; p < end; p += kBlockBytes) {
    const Block block(p);
    const std::uint64_t within = bits_before(end - p);
    const std::uint64_t escaped = escaped_bytes(block.equal('\\') & within, carry);
    const std::uint64_t strings = Block::parity_up_to(block.equal('"') & ~escaped & within) ^ in_string;
    in_string = static_cast<std::uint64_t>(static_cast<std::int64_t>(strings) >> 63);
    const std::uint64_t structure = within & ~strings;
    const std::uint64_t opens = block.equal(open) & structure;
    const std::uint64_t closes = block.equal(close) & structure;
    const std::uint64_t other_opens = block.equal(other_open) & structure;
    const std::uint64_t other_closes = block.equal(other_close) & structure;
    if (const int count = std::popcount(closes); depth <= count) {
      // The depth after each closing bracket, in order.
      std::int64_t closed = 0;
      for (std::uint64_t left = closes; left != 0; left &= left - 1) {
        const std::uint64_t before = (left & -left) - 1;
        if (depth + std::popcount(opens & before) != ++closed) continue;
        other_depth += std::popcount(other_opens & before) - std::popcount(other_closes & before);
        return other_depth == 0 ? p + std::countr_zero(left) : nullptr;
      }
    }
    depth += std::popcount(opens) - std::popcount(closes);
    other_depth += std::popcount(other_opens) - std::popcount(other_closes);
  }
  return nullptr;
}

#if defined(__x86_64__)
[[TINKER_AVX2, gnu::flatten]] const char* closing_bracket_avx2(const char* p, const char* end) {
  return closing_bracket<Avx2Block>(p, end);
}
#endif

const char* find_closing_bracket(const char* p, const char* end) {
  switch (simd_in_use()) {
    case Simd::plain:
      return closing_bracket<PlainBlock>(p, end);
    case Simd::baseline:
      return closing_bracket<BaselineBlock>(p, end);
#if defined(__x86_64__)
    case Simd::avx2:
      return closing_bracket_avx2(p, end);
#endif
  }
  __builtin_unreachable();
}

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Four hex digits, or -1.
int code_unit(std::string_view digits) {
  if (digits.size() < 4) return -1;
  int value = 0;
  for (int i = 0; i < 4; ++i) {
    const int digit = hex_digit(digits[static_cast<std::size_t>(i)]);
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

}  // namespace

bool JsonCursor::take_string(std::string_view& raw) {
  if (!take('"')) return false;
  const char* begin = at_;
  std::uint64_t carry = 0;
  for (const char* p = begin; p < end_; p += kBlockBytes) {
    const BaselineBlock block(p);
    const std::uint64_t escaped = escaped_bytes(block.equal('\\'), carry);
    const std::uint64_t quotes = block.equal('"') & ~escaped;
    if (quotes == 0) continue;
    const char* quote = p + std::countr_zero(quotes);
    if (quote >= end_) return false;
    raw = {begin, static_cast<std::size_t>(quote - begin)};
    at_ = quote + 1;
    return true;
  }
  return false;
}

bool JsonCursor::take_key(std::string_view& key, std::string& storage) {
  if (!take_string(key)) return false;
  if (key.find('\\') != std::string_view::npos) {
    if (!unescape(key, storage)) return false;
    key = storage;
  }
  return take(':');
}

bool JsonCursor::take_null() {
  if (peek() != 'n' || end_ - at_ < 4 || std::string_view(at_, 4) != "null") return false;
  at_ += 4;
  return true;
}

bool JsonCursor::skip_value() {
  switch (peek()) {
    case '"': {
      std::string_view raw;
      return take_string(raw);
    }
    case '{':
    case '[':
      return skip_container();
    default:
      return skip_scalar();
  }
}

bool JsonCursor::skip_container() {
  const char* bracket = find_closing_bracket(at_, end_);
  if (bracket == nullptr) return false;
  at_ = bracket + 1;
  return true;
}

// A number, true, false or null.
bool JsonCursor::skip_scalar() {
  const char* begin = at_;
  while (at_ < end_ && !is_space(*at_) && *at_ != ',' && *at_ != '}' && *at_ != ']') ++at_;
  const std::string_view word(begin, static_cast<std::size_t>(at_ - begin));
  if (word == "null" || word == "true" || word == "false") return true;
  const char* p = begin;
  if (p < at_ && *p == '-') ++p;
  if (p == at_ || !is_digit(*p)) return false;
  if (*p++ != '0') {
    while (p < at_ && is_digit(*p)) ++p;
  }
  if (p < at_ && *p == '.') {
    if (++p == at_ || !is_digit(*p)) return false;
    while (p < at_ && is_digit(*p)) ++p;
  }
  if (p < at_ && (*p == 'e' || *p == 'E')) {
    if (++p < at_ && (*p == '+' || *p == '-')) ++p;
    if (p == at_ || !is_digit(*p)) return false;
    while (p < at_ && is_digit(*p)) ++p;
  }
  return p == at_;
}

bool unescape(std::string_view raw, std::string& text) {
  text.clear();
  while (!raw.empty()) {
    const std::size_t plain = raw.find('\\');
    text += raw.substr(0, plain);
    if (plain == std::string_view::npos) return true;
    if (plain + 1 >= raw.size()) return false;
    const char escape = raw[plain + 1];
    raw.remove_prefix(plain + 2);
    switch (escape) {
      case '"':
      case '\\':
      case '/':
        text += escape;
        break;
      case 'b':
        text += '\b';
        break;
      case 'f':
        text += '\f';
        break;
      case 'n':
        text += '\n';
        break;
      case 'r':
        text += '\r';
        break;
      case 't':
        text += '\t';
        break;
      case 'u': {
        const int high = code_unit(raw);
        if (high < 0) return false;
        raw.remove_prefix(4);
        std::uint32_t code = static_cast<std::uint32_t>(high);
        const int low = high >= 0xD800 && high < 0xDC00 && raw.starts_with("\\u") ? code_unit(raw.substr(2)) : -1;
        if (low >= 0xDC00 && low < 0xE000) {
          code = 0x10000 + ((code - 0xD800) << 10) + (static_cast<std::uint32_t>(low) - 0xDC00);
          raw.remove_prefix(6);
        } else if (high >= 0xD800 && high < 0xE000) {
          code = 0xFFFD;
        }
        base::append_utf8(code, text);
        break;
      }
      default:
        return false;
    }
  }
  return true;
}

}  // namespace tinker::codec
