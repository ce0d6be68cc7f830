// SPDX-License-Identifier: Apache-2.0
#include "codec/json_number.h"

#include <fast_float/fast_float.h>

#include "codec/digits.h"

namespace tinker::codec {
namespace {

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

bool scaled_float(std::uint64_t mantissa, int exponent, float& value) {
  if (exponent < -kMostPower || exponent > kMostPower) return false;
  const double number = static_cast<double>(mantissa) * kPowers[exponent + kMostPower];
  return (number == 0 || (number > 1.2e-38 && number < 3.4e38)) && near_float(number, value);
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
  if (digits.count <= Digits::kMost && scaled_float(digits.mantissa, exponent, value)) {
    if (negative) value = -value;
    return p;
  }
  const auto [behind, error] = fast_float::from_chars(begin, p, value);
  return behind == p && (error == std::errc{} || error == std::errc::result_out_of_range) ? p : nullptr;
}

const char* scan_int32(const char* p, const char* end, std::int32_t& value) {
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
  return value == number && p <= end ? p : nullptr;
}

}  // namespace tinker::codec
