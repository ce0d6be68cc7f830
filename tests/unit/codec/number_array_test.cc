// SPDX-License-Identifier: Apache-2.0
#include "codec/number_array.h"

#include <gtest/gtest.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "support/vectors.h"
#include "unit/codec/every_simd.h"

namespace tinker::codec {
namespace {

using support::buffer_of;

template <class Number>
std::vector<Number> numbers_in(const base::Buffer& bytes) {
  std::vector<Number> numbers(bytes.size() / sizeof(Number));
  if (!bytes.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

base::Result<std::vector<std::int32_t>> ints(std::string_view json) {
  const base::Buffer text = buffer_of(json);
  base::Buffer out;
  const auto end = scan_int32_array(text.view(), out);
  if (!end) return tl::unexpected(end.error());
  EXPECT_EQ(*end, text.data() + json.find(']') + 1);
  return numbers_in<std::int32_t>(out);
}

base::Result<std::vector<float>> floats(std::string_view json) {
  const base::Buffer text = buffer_of(json);
  base::Buffer out;
  const auto end = scan_float_array(text.view(), out);
  if (!end) return tl::unexpected(end.error());
  EXPECT_EQ(*end, text.data() + json.find(']') + 1);
  return numbers_in<float>(out);
}

void expect_as_strtof(const std::string& text) {
  const auto got = floats(text + "]");
  ASSERT_TRUE(got) << text;
  const float expected = std::strtof(text.c_str(), nullptr);
  ASSERT_EQ(std::bit_cast<std::uint32_t>((*got)[0]), std::bit_cast<std::uint32_t>(expected)) << text;
}

class Int32Array : public EverySimd {};
class FloatArray : public EverySimd {};
EVERY_SIMD(Int32Array);
EVERY_SIMD(FloatArray);

TEST_P(Int32Array, TakesEveryLengthAndSign) {
  EXPECT_EQ(*ints("]"), std::vector<std::int32_t>{});
  EXPECT_EQ(*ints(" ]"), std::vector<std::int32_t>{});
  EXPECT_EQ(*ints("0,1,12,123,1234,12345,123456,1234567,12345678,123456789,1234567890]"),
            (std::vector<std::int32_t>{0, 1, 12, 123, 1234, 12345, 123456, 1234567, 12345678, 123456789, 1234567890}));
  EXPECT_EQ(*ints(" -1 ,\n2\t, -0 ] , 5]"), (std::vector<std::int32_t>{-1, 2, 0}));
  EXPECT_EQ(*ints("2147483647,-2147483648]"), (std::vector<std::int32_t>{2147483647, -2147483647 - 1}));
}

TEST_P(Int32Array, U9_RefusesWhatIsNoInt32) {
  for (const char* json : {"", "1", "1,", "1 2]", "1,]", ",1]", "2147483648]", "-2147483649]", "99999999999]", "01]", "-]",
                           "1.0]", "1e3]", "null]", "\"1\"]", "+1]"}) {
    EXPECT_FALSE(ints(json)) << json;
  }
}

TEST_P(Int32Array, NamesTheByteOfTheFirstFault) { EXPECT_NE(ints("12,x]").error().text.find("byte 3"), std::string::npos); }

TEST_P(Int32Array, NeverTakesWhatStandsBehindTheEnd) {
  const base::Buffer text = buffer_of("12,345]");
  base::Buffer out;

  EXPECT_FALSE(scan_int32_array(text.view().substr(0, 5), out));
  EXPECT_FALSE(scan_int32_array(text.view().substr(0, 6), out));
}

TEST_P(FloatArray, TakesWhatVllmWrites) {
  for (const char* text : {"-2.970458507537842", "-4.541770613286644e-05", "-1.1920928244535389e-07", "0.0", "-9999.0", "-0.0",
                           "0", "-1", "1e3", "1E+3", "1.5e-3"}) {
    expect_as_strtof(text);
  }
}

TEST_P(FloatArray, NullIsNan) {
  const auto got = floats("null,-0.5, null ]");

  ASSERT_TRUE(got);
  EXPECT_EQ(std::bit_cast<std::uint32_t>((*got)[0]), 0x7FC00000u);
  EXPECT_EQ((*got)[1], -0.5F);
  EXPECT_TRUE(std::isnan((*got)[2]));
}

TEST_P(FloatArray, RefusesWhatIsNoJsonNumber) {
  for (const char* json : {"",     "1",    "1,",        ".5]",        "1.]",  "-]",     "+1]",    "01]",  "-01.5]", "1e]",
                           "1e+]", "NaN]", "Infinity]", "-Infinity]", "nul]", "nullx]", "\"1\"]", "1 2]", "0x1]",   "1.5.5]"}) {
    EXPECT_FALSE(floats(json)) << json;
  }
}

TEST_P(FloatArray, EqualsStrtofForFloatsAsVllmWidensThem) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 300'000; ++i) {
    const auto bits = static_cast<std::uint32_t>(random());
    const float value = std::bit_cast<float>(bits);
    if (!std::isfinite(value)) continue;
    char text[64];
    *std::to_chars(text, text + sizeof text, static_cast<double>(value)).ptr = '\0';
    expect_as_strtof(text);
  }
}

TEST_P(FloatArray, EqualsStrtofNearTheMiddleBetweenTwoFloats) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 100'000; ++i) {
    const auto bits = static_cast<std::uint32_t>(random() & 0x7FFFFFFF);
    const float value = std::bit_cast<float>(bits);
    if (!std::isfinite(value)) continue;
    const double middle = (static_cast<double>(value) + static_cast<double>(std::nextafterf(value, INFINITY))) / 2;
    for (const double near : {middle, std::nextafter(middle, 0.0), std::nextafter(middle, INFINITY)}) {
      if (!std::isfinite(near)) continue;
      char text[64];
      *std::to_chars(text, text + sizeof text, near).ptr = '\0';
      expect_as_strtof(text);
    }
  }
}

TEST_P(FloatArray, EqualsStrtofForAnyDigits) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 200'000; ++i) {
    std::string text = random() % 2 ? "-" : "";
    text += std::to_string(random() % 10);
    if (random() % 8) {
      text += '.';
      for (std::size_t digits = 1 + random() % 30; digits > 0; --digits) text += static_cast<char>('0' + random() % 10);
    }
    if (random() % 3 == 0) text += "e" + std::to_string(static_cast<int>(random() % 120) - 70);
    expect_as_strtof(text);
  }
}

TEST_P(FloatArray, EqualsStrtofAtTheEdges) {
  for (const char* text : {"1e-45",
                           "7e-46",
                           "1.4012984643e-45",
                           "1.17549435e-38",
                           "1.1754942e-38",
                           "3.4028234663852886e38",
                           "3.5e38",
                           "1e400",
                           "1e-400",
                           "0e999999",
                           "123456789012345678901234567890",
                           "0.000000000000000000000000000000000000000000001",
                           "9007199254740993",
                           "1.8446744073709551616",
                           "18446744073709551616",
                           "0.18446744073709551616",
                           "36.893488147419103232",
                           "1844674407370955161600000e-20",
                           "16777217",
                           "16777219.0",
                           "0.1e1",
                           "0.00000000000000000001e20"}) {
    expect_as_strtof(text);
  }
}

}  // namespace
}  // namespace tinker::codec
