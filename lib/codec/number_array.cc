// SPDX-License-Identifier: Apache-2.0
#include "codec/number_array.h"

#include <fast_float/fast_float.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

#include "codec/byte_block.h"
#include "codec/simd.h"

namespace tinker::codec {
namespace {

static_assert(std::endian::native == std::endian::little,
              "the wire form is little-endian, and so is every machine that we build for");

constexpr std::uint64_t kZeros = 0x3030303030303030ull;

std::uint64_t load8(const char* p) {
  std::uint64_t bytes;
  std::memcpy(&bytes, p, sizeof bytes);
  return bytes;
}

// Of eight bytes with kZeros taken away (0 … 9 where there was a digit): bits at those that were none, from the first such on.
std::uint64_t others(std::uint64_t values) { return (values | (values + 0x7676767676767676ull)) & 0x8080808080808080ull; }

// How many of the eight bytes, from the first on, are digits.
int leading_digits(std::uint64_t bytes) {
  const std::uint64_t not_digits = others(bytes ^ kZeros);
  return not_digits == 0 ? 8 : std::countr_zero(not_digits) / 8;
}

// The number of eight digits: pairs, then fours, then all at once.
std::uint32_t eight_digits(std::uint64_t values) {
  values = values * 10 + (values >> 8);
  constexpr std::uint64_t kPairs = 0x000000FF000000FFull;
  return static_cast<std::uint32_t>(
      ((values & kPairs) * (100 + (1000000ull << 32)) + ((values >> 16) & kPairs) * (1 + (10000ull << 32))) >> 32);
}

// The number that the first `count` bytes (0 … 8), all digits, stand for.
std::uint32_t digits_value(std::uint64_t bytes, int count) {
  const int half = 4 * (8 - count);  // a shift by 64 at once is undefined
  return eight_digits((bytes ^ kZeros) << half << half);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

const char* skip_space(const char* p, const char* end) {
  while (p < end && is_space(*p)) ++p;
  return p;
}

// Appends numbers to a Buffer, of which the size is set once, at the end: a call a number would cost more than scanning it.
template <class Number>
class Appender {
 public:
  explicit Appender(base::Buffer& out) : out_(out), at_(out.size()) {}
  Appender(const Appender&) = delete;
  ~Appender() { out_.resize(at_); }

  void append(Number number) {
    if (at_ + sizeof number > out_.size()) out_.resize(std::max<std::size_t>(kLeast, at_ + at_ / 2));
    std::memcpy(out_.data() + at_, &number, sizeof number);
    at_ += sizeof number;
  }

 private:
  static constexpr std::size_t kLeast = 256;
  base::Buffer& out_;
  std::size_t at_;
};

// Calls `take(first, last)` with the text of every element, and what white space there is around it. The commas are found 64
// bytes at a time, so that no number waits until the length of the one before it is known (5.0 → 1.7 ns a token).
template <class Block, class Take>
[[gnu::always_inline]] inline base::Result<const char*> each_number(std::string_view json, std::string_view wanted, Take take) {
  const char* begin = json.data();
  const char* end = begin + json.size();
  if (const char* p = skip_space(begin, end); p < end && *p == ']') return p + 1;
  const char* first = begin;
  bool good = true;
  for (const char* at = begin; at < end && good; at += kBlockBytes) {
    const Block block(at);
    for (auto lasts = (block.equal(',') | block.equal(']')) & bits_before(end - at); lasts != 0; lasts &= lasts - 1) {
      const char* last = at + std::countr_zero(lasts);
      if (good = take(first, last); !good) break;
      first = last + 1;
      if (*last == ']') return first;
    }
  }
  return base::fail(base::Code::unavailable, "no " + std::string(wanted) + " at byte " +
                                                 std::to_string(skip_space(first, end) - begin) + " of the array");
}

// 10^-60 … 10^60, each the double nearest to it.
constexpr int kMostPower = 60;
constexpr double kPowers[2 * kMostPower + 1] = {
    1e-60, 1e-59, 1e-58, 1e-57, 1e-56, 1e-55, 1e-54, 1e-53, 1e-52, 1e-51, 1e-50, 1e-49, 1e-48, 1e-47, 1e-46, 1e-45,
    1e-44, 1e-43, 1e-42, 1e-41, 1e-40, 1e-39, 1e-38, 1e-37, 1e-36, 1e-35, 1e-34, 1e-33, 1e-32, 1e-31, 1e-30, 1e-29,
    1e-28, 1e-27, 1e-26, 1e-25, 1e-24, 1e-23, 1e-22, 1e-21, 1e-20, 1e-19, 1e-18, 1e-17, 1e-16, 1e-15, 1e-14, 1e-13,
    1e-12, 1e-11, 1e-10, 1e-9,  1e-8,  1e-7,  1e-6,  1e-5,  1e-4,  1e-3,  1e-2,  1e-1,  1e0,   1e1,   1e2,   1e3,
    1e4,   1e5,   1e6,   1e7,   1e8,   1e9,   1e10,  1e11,  1e12,  1e13,  1e14,  1e15,  1e16,  1e17,  1e18,  1e19,
    1e20,  1e21,  1e22,  1e23,  1e24,  1e25,  1e26,  1e27,  1e28,  1e29,  1e30,  1e31,  1e32,  1e33,  1e34,  1e35,
    1e36,  1e37,  1e38,  1e39,  1e40,  1e41,  1e42,  1e43,  1e44,  1e45,  1e46,  1e47,  1e48,  1e49,  1e50,  1e51,
    1e52,  1e53,  1e54,  1e55,  1e56,  1e57,  1e58,  1e59,  1e60};

// The float nearest to mantissa · 10^exponent, when a double computed with three roundings decides it: its distance from the
// middle between two floats is larger than what the roundings can have moved it, each at most half a unit in the last of 53
// places, and than 10^-12 of it, which a cut mantissa may lack. False when it does not decide.
bool near_float(double mantissa, int exponent, float& value) {
  if (exponent < -kMostPower || exponent > kMostPower) return false;
  const double number = mantissa * kPowers[exponent + kMostPower];
  // Normal floats only: below them the place that is rounded at moves.
  if (number != 0 && (number < 1.2e-38 || number > 3.4e38)) return false;
  constexpr std::int64_t kDoubt = 10'000;  // 2^53 · 10^-12, and the roundings
  const auto below =
      static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(number) & 0x1FFFFFFF);  // the 29 places a float lacks
  const std::int64_t from_middle = below - 0x10000000;
  if (from_middle >= -kDoubt && from_middle <= kDoubt) return false;
  value = static_cast<float>(number);
  return true;
}

struct Digits {
  static constexpr int kMost = 19;  // that fit
  std::uint64_t mantissa = 0;       // means nothing once there are more
  int count = 0;                    // of the mantissa; eight zeros in front are not counted

  // The first `more` (0 … 8) of `bytes`.
  void add(std::uint64_t bytes, int more) {
    static constexpr std::uint64_t kScale[9] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    mantissa = mantissa * kScale[more] + digits_value(bytes, more);
    if (count != 0 || mantissa != 0) count += more;  // count first: the mantissa of too many digits may be 0 by chance
  }
};

// Takes a run of digits into `digits`. How many of 16 digits behind the first eight there are differs from logprob to logprob,
// so that no branch asks for it (33 → 21 ns a logprob).
[[gnu::always_inline]] inline const char* take_digits(const char* p, Digits& digits) {
  for (;;) {
    const std::uint64_t first = load8(p);
    const int count = leading_digits(first);
    digits.add(first, count);
    if (count < 8) return p + count;
    const std::uint64_t second = load8(p + 8);
    const std::uint64_t third = load8(p + 16);
    const int seconds = leading_digits(second);
    const int thirds = leading_digits(third) * static_cast<int>(seconds == 8);
    digits.add(second, seconds);
    digits.add(third, thirds);
    p += 8 + seconds + thirds;
    if (thirds < 8) return p;
  }
}

}  // namespace

const char* scan_float(const char* p, const char* end, float& value) {
  const char* begin = p;
  const bool negative = *p == '-';
  if (negative) ++p;
  if (!is_digit(*p) || (*p == '0' && is_digit(p[1]))) return nullptr;
  Digits digits;
  if (is_digit(p[1])) {
    p = take_digits(p, digits);
  } else {
    digits.mantissa = static_cast<std::uint64_t>(*p++ - '0');
    digits.count = digits.mantissa != 0;
  }
  int exponent = 0;
  if (*p == '.') {
    const char* fraction = ++p;
    p = take_digits(p, digits);
    if (p == fraction) return nullptr;
    exponent = static_cast<int>(fraction - p);
  }
  if (*p == 'e' || *p == 'E') {
    ++p;
    const bool down = *p == '-';
    if (*p == '-' || *p == '+') ++p;
    if (!is_digit(*p)) return nullptr;
    int shown = 0;
    for (; is_digit(*p); ++p) shown = shown < 10000 ? shown * 10 + (*p - '0') : shown;
    exponent += down ? -shown : shown;
  }
  if (p > end) return nullptr;
  if (digits.count <= Digits::kMost && near_float(static_cast<double>(digits.mantissa), exponent, value)) {
    if (negative) value = -value;
    return p;
  }
  const auto [behind, error] = fast_float::from_chars(begin, p, value);
  return behind == p && (error == std::errc{} || error == std::errc::result_out_of_range) ? p : nullptr;
}

namespace {

// What the quick ways below do not take, white space around it included.
template <class Scan>
[[gnu::noinline]] bool take_any(const char* first, const char* last, Scan scan) {
  const char* behind = scan(skip_space(first, last));
  return behind != nullptr && skip_space(behind, last) == last;
}

const char* scan_int32(const char* p, std::int32_t& value) {
  const bool negative = *p == '-';
  if (negative) ++p;
  const char* begin = p;
  std::int64_t number = 0;
  for (; is_digit(*p); ++p) {
    if (p - begin >= 10) return nullptr;
    number = number * 10 + (*p - '0');
  }
  if (p == begin || (*begin == '0' && p - begin > 1)) return nullptr;
  if (negative) number = -number;
  value = static_cast<std::int32_t>(number);
  return value == number ? p : nullptr;
}

// A token: one to eight digits.
[[gnu::always_inline]] inline bool quick_int32(const char* first, const char* last, std::int32_t& value) {
  const auto missing = static_cast<std::uint64_t>(8 - (last - first));
  if (missing >= 8) return false;
  const std::uint64_t values = (load8(first) ^ kZeros) << (8 * missing);
  if (others(values) != 0 || (*first == '0' && missing < 7)) return false;
  value = static_cast<std::int32_t>(eight_digits(values));
  return true;
}

// A logprob: perhaps a minus, a digit, a point, 1 … 24 digits, perhaps an exponent of the form e-05. Which of these there are
// differs from logprob to logprob, so that no branch asks for it.
[[gnu::always_inline]] inline bool quick_float(const char* first, const char* last, float& value) {
  constexpr std::uint64_t kMostDigits = 24;
  static constexpr unsigned char kKept[2 * kMostDigits] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
                                                           0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
                                                           0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
  const std::uint32_t negative = *first == '-';
  const char* fraction = first + negative + 2;
  std::uint32_t tail;
  std::memcpy(&tail, std::max(first, last - 4), sizeof tail);
  const std::uint32_t tens = (tail >> 16 & 0xFF) - '0';
  const std::uint32_t ones = (tail >> 24) - '0';
  const int small = static_cast<int>((tail & 0xFFDF) == ('E' | '-' << 8)) & static_cast<int>(tens < 10) &
                    static_cast<int>(ones < 10);
  const auto count = static_cast<std::uint64_t>(last - fraction - 4 * small);
  if (count - 1 >= kMostDigits) return false;

  const std::uint32_t unit = static_cast<std::uint32_t>(fraction[-2]) - '0';
  const unsigned char* kept = kKept + kMostDigits - count;
  std::uint64_t values[3];  // the digits, zeros behind them
  std::uint64_t wrong = static_cast<std::uint64_t>(unit > 9) | static_cast<std::uint64_t>(fraction[-1] != '.');
  for (int i = 0; i < 3; ++i) {
    values[i] = (load8(fraction + 8 * i) ^ kZeros) & load8(reinterpret_cast<const char*>(kept) + 8 * i);
    wrong |= others(values[i]);
  }
  if (wrong != 0) return false;

  // Cut behind 16 places.
  const std::int64_t mantissa = unit * 10'000'000'000'000'000 + eight_digits(values[0]) * std::int64_t{100'000'000} +
                                eight_digits(values[1]);
  if (count > 16 && mantissa < 1'000'000'000'000) return false;
  const int exponent = -16 - small * static_cast<int>(10 * tens + ones);
  if (!near_float(static_cast<double>(mantissa), exponent, value)) return false;
  value = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | negative << 31);
  return true;
}

template <class Block>
[[gnu::always_inline]] inline base::Result<const char*> int32_array(std::string_view json, base::Buffer& out) {
  Appender<std::int32_t> tokens(out);
  return each_number<Block>(json, "int32", [&](const char* first, const char* last) {
    std::int32_t value = 0;
    if (!quick_int32(first, last, value) &&
        !take_any(first, last, [&](const char* p) { return scan_int32(p, value); }))
      return false;
    tokens.append(value);
    return true;
  });
}

template <class Block>
[[gnu::always_inline]] inline base::Result<const char*> float_array(std::string_view json, base::Buffer& out) {
  Appender<float> numbers(out);
  return each_number<Block>(json, "number", [&](const char* first, const char* last) {
    float value = std::numeric_limits<float>::quiet_NaN();
    const auto scan = [&](const char* p) { return std::memcmp(p, "null", 4) == 0 ? p + 4 : scan_float(p, last, value); };
    if (!quick_float(first, last, value) && !take_any(first, last, scan)) return false;
    numbers.append(value);
    return true;
  });
}

#if defined(__x86_64__)
[[TINKER_AVX2, gnu::flatten]] base::Result<const char*> int32_array_avx2(std::string_view json, base::Buffer& out) {
  return int32_array<Avx2Block>(json, out);
}
[[TINKER_AVX2, gnu::flatten]] base::Result<const char*> float_array_avx2(std::string_view json, base::Buffer& out) {
  return float_array<Avx2Block>(json, out);
}
#endif

}  // namespace

base::Result<const char*> scan_int32_array(std::string_view json, base::Buffer& out) {
  switch (simd_in_use()) {
    case Simd::plain:
      return int32_array<PlainBlock>(json, out);
    case Simd::baseline:
      return int32_array<BaselineBlock>(json, out);
#if defined(__x86_64__)
    case Simd::avx2:
      return int32_array_avx2(json, out);
#endif
  }
  __builtin_unreachable();
}

base::Result<const char*> scan_float_array(std::string_view json, base::Buffer& out) {
  switch (simd_in_use()) {
    case Simd::plain:
      return float_array<PlainBlock>(json, out);
    case Simd::baseline:
      return float_array<BaselineBlock>(json, out);
#if defined(__x86_64__)
    case Simd::avx2:
      return float_array_avx2(json, out);
#endif
  }
  __builtin_unreachable();
}

}  // namespace tinker::codec
