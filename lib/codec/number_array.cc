// SPDX-License-Identifier: Apache-2.0
#include "codec/number_array.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

#include "codec/byte_block.h"
#include "codec/decimals.h"
#include "codec/digits.h"
#include "codec/json_number.h"
#include "codec/simd.h"

namespace tinker::codec {
namespace {

const char* skip_space(const char* p, const char* end) {
  while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')) ++p;
  return p;
}

// What stands between two commas.
struct Int32 {
  using Number = std::int32_t;
  static constexpr std::string_view kName = "int32";

  // A token: one to eight digits.
  template <class Block>
  [[gnu::always_inline]] static bool quick(const char* first, const char* last, Number& value) {
    const auto missing = static_cast<std::uint64_t>(8 - (last - first));
    if (missing >= 8) return false;
    const std::uint64_t values = (load8(first) ^ kZeros) << (8 * missing);
    if (others(values) != 0 || (*first == '0' && missing < 7)) return false;
    value = static_cast<Number>(eight_digits(values));
    return true;
  }
  static const char* any(const char* p, const char* last, Number& value) { return scan_int32(p, last, value); }
};

struct Float {
  using Number = float;
  static constexpr std::string_view kName = "number";

  // A logprob: perhaps a minus, a digit, a point, 1 … 24 digits, perhaps an exponent of e-00 … e-19. Which of these there are
  // differs from logprob to logprob, so that no branch asks for it.
  template <class Block>
  [[gnu::always_inline]] static bool quick(const char* first, const char* last, Number& value) {
    static constexpr double kPowers[] = {1e-16, 1e-17, 1e-18, 1e-19, 1e-20, 1e-21, 1e-22, 1e-23, 1e-24, 1e-25,
                                         1e-26, 1e-27, 1e-28, 1e-29, 1e-30, 1e-31, 1e-32, 1e-33, 1e-34, 1e-35};
    const std::uint32_t negative = *first == '-';
    const char* fraction = first + negative + 2;
    std::uint32_t tail;
    std::memcpy(&tail, std::max(first, last - 4), sizeof tail);
    const std::uint32_t tens = (tail >> 16 & 0xFF) - '0';
    const std::uint32_t ones = (tail >> 24) - '0';
    const bool small = ((tail & 0xFFDF) == ('E' | '-' << 8)) & (tens < 2) & (ones < 10);
    const auto count = static_cast<std::uint64_t>(last - fraction - 4 * small);
    if (count - 1 >= kMostPlaces) return false;

    const std::uint32_t unit = static_cast<unsigned char>(fraction[-2]) - '0';
    std::uint64_t places;
    if (!sixteen_places<Block>(fraction, count, places) || unit > 9 || fraction[-1] != '.') return false;
    const auto mantissa = static_cast<std::int64_t>(unit * 10'000'000'000'000'000 + places);
    if (count > 16 && mantissa < 1'000'000'000'000) return false;
    if (!near_float(static_cast<double>(mantissa) * kPowers[small ? 10 * tens + ones : 0], value)) return false;
    value = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | negative << 31);
    return true;
  }
  static const char* any(const char* p, const char* last, Number& value) {
    if (std::memcmp(p, "null", 4) != 0) return scan_float(p, last, value);
    value = std::numeric_limits<float>::quiet_NaN();
    return p + 4;
  }
};

// What `quick` does not take, white space around it included.
template <class Element>
[[gnu::noinline]] bool take_any(const char* first, const char* last, typename Element::Number& value) {
  const char* behind = Element::any(skip_space(first, last), last, value);
  return behind != nullptr && skip_space(behind, last) == last;
}

// The commas are found 64 bytes at a time, so that no number waits until the length of the one before it is known.
template <class Block, class Element>
[[gnu::always_inline]] inline base::Result<const char*> scan_array(std::string_view json, base::Buffer& out) {
  const char* begin = json.data();
  const char* end = begin + json.size();
  if (const char* p = skip_space(begin, end); p < end && *p == ']') return p + 1;
  const char* first = begin;
  std::size_t size = out.size();
  bool good = true;
  for (const char* at = begin; at < end && good; at += kBlockBytes) {
    if (out.size() < size + 4 * kBlockBytes) out.resize(2 * size + 4 * kBlockBytes);
    const Block block(at);
    for (auto lasts = (block.equal(',') | block.equal(']')) & bits_before(end - at); lasts != 0; lasts &= lasts - 1) {
      const char* last = at + std::countr_zero(lasts);
      typename Element::Number value{};
      good = Element::template quick<Block>(first, last, value) || take_any<Element>(first, last, value);
      if (!good) break;
      std::memcpy(out.data() + size, &value, sizeof value);
      size += sizeof value;
      first = last + 1;
      if (*last == ']') {
        out.resize(size);
        return first;
      }
    }
  }
  out.resize(size);
  return base::fail(base::Code::unavailable, "no " + std::string(Element::kName) + " at byte " +
                                                 std::to_string(skip_space(first, end) - begin) + " of the array");
}

#if defined(__x86_64__)
template <class Element>
[[TINKER_AVX2, gnu::flatten]] base::Result<const char*> scan_array_avx2(std::string_view json, base::Buffer& out) {
  return scan_array<Avx2Block, Element>(json, out);
}
#endif

template <class Element>
base::Result<const char*> scan(std::string_view json, base::Buffer& out) {
  switch (simd_in_use()) {
    case Simd::plain:
      return scan_array<PlainBlock, Element>(json, out);
    case Simd::baseline:
      return scan_array<BaselineBlock, Element>(json, out);
#if defined(__x86_64__)
    case Simd::avx2:
      return scan_array_avx2<Element>(json, out);
#endif
  }
  __builtin_unreachable();
}

}  // namespace

base::Result<const char*> scan_int32_array(std::string_view json, base::Buffer& out) { return scan<Int32>(json, out); }

base::Result<const char*> scan_float_array(std::string_view json, base::Buffer& out) { return scan<Float>(json, out); }

}  // namespace tinker::codec
