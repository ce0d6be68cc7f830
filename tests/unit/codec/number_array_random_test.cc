// SPDX-License-Identifier: Apache-2.0
// Arrays of numbers with random faults, cut short at random, against RapidJSON and strtof: what one takes the other takes, with
// the same numbers and the same end.
#include <gtest/gtest.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <bit>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "codec/number_array.h"
#include "support/vectors.h"
#include "unit/codec/every_simd.h"

namespace tinker::codec {
namespace {

constexpr int kRounds = 40'000;

struct Array {
  std::string bytes;     // as the wire has them
  std::size_t size = 0;  // of the text, bracket included

  void append(const void* number) { bytes.append(static_cast<const char*>(number), 4); }
  bool operator==(const Array&) const = default;
};

// Takes an array of numbers by RapidJSON's grammar.
template <class Number>
struct Reference : rapidjson::BaseReaderHandler<rapidjson::UTF8<>, Reference<Number>> {
  Array array;

  bool Default() { return false; }
  bool StartArray() { return array.size++ == 0; }  // none within
  bool EndArray(rapidjson::SizeType) { return true; }
  bool RawNumber(const char* text, rapidjson::SizeType size, bool) {
    const std::string number(text, size);
    if constexpr (std::is_same_v<Number, float>) {
      const float value = std::strtof(number.c_str(), nullptr);
      array.append(&value);
      return true;
    } else {
      std::int32_t value = 0;
      const auto [behind, error] = std::from_chars(number.data(), number.data() + size, value);
      array.append(&value);
      return error == std::errc{} && behind == number.data() + size;
    }
  }
  bool Null() {
    const float value = std::numeric_limits<float>::quiet_NaN();
    array.append(&value);
    return std::is_same_v<Number, float>;
  }
};

// What stands behind '[' in `text`; `decided` is false for a number that RapidJSON has no room for.
template <class Number>
std::optional<Array> reference(const std::string& text, bool& decided) {
  const std::string whole = "[" + text;
  rapidjson::MemoryStream stream(whole.data(), whole.size());
  rapidjson::Reader reader;
  Reference<Number> handler;
  const auto result = reader.Parse<rapidjson::kParseNumbersAsStringsFlag | rapidjson::kParseStopWhenDoneFlag>(stream, handler);
  decided = result.Code() != rapidjson::kParseErrorNumberTooBig;
  if (result.IsError()) return std::nullopt;
  handler.array.size = stream.Tell() - 1;
  return handler.array;
}

template <class Number>
std::optional<Array> scanned(const std::string& text) {
  const base::Buffer json = support::buffer_of(text);
  base::Buffer out;
  const auto end = std::is_same_v<Number, float> ? scan_float_array(json.view(), out) : scan_int32_array(json.view(), out);
  if (!end) {
    EXPECT_NE(end.error().text.find("at byte "), std::string::npos);
    return std::nullopt;
  }
  return Array{std::string(out.view()), static_cast<std::size_t>(*end - json.data())};
}

template <class Number>
std::string random_array(std::mt19937_64& random) {
  std::string text;
  for (std::size_t count = random() % 40; count > 0; --count) {
    char number[64];
    char* end = number;
    if (std::is_same_v<Number, std::int32_t>) {
      end = std::to_chars(number, number + sizeof number, static_cast<std::int32_t>(random()) >> random() % 32).ptr;
    } else if (random() % 16 == 0) {
      end = std::copy_n("null", 4, number);
    } else {
      const auto value = -static_cast<double>(static_cast<float>(random() >> random() % 64) * 0x1p-60F);
      end = random() % 2 ? std::to_chars(number, number + sizeof number, value).ptr
                         : std::to_chars(number, number + sizeof number, value, std::chars_format::fixed, random() % 30).ptr;
    }
    text.append(number, end);
    text += count > 1 ? "," : "";
    if (random() % 8 == 0) text += ' ';
  }
  return text + "]";
}

std::string with_faults(std::string text, std::mt19937_64& random) {
  static constexpr std::string_view kTelling = "0123456789.eE+-,]} \n\"\\[n";
  for (std::size_t faults = random() % 3; faults > 0 && !text.empty(); --faults) {
    const std::size_t at = random() % text.size();
    switch (random() % 5) {
      case 0:
        text[at] = static_cast<char>(random());
        break;
      case 1:
        text[at] = kTelling[random() % kTelling.size()];
        break;
      case 2:
        text.insert(at, 1 + random() % 3, kTelling[random() % kTelling.size()]);
        break;
      case 3:
        text.erase(at, 1 + random() % 3);
        break;
      default:
        text.resize(at);
    }
  }
  return text;
}

template <class Number>
void expect_as_reference(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  int taken = 0;
  for (int round = 0; round < kRounds; ++round) {
    const std::string text = with_faults(random_array<Number>(random), random) + (random() % 2 ? "" : "}],\"more\":[1,2]");
    bool decided = false;
    const auto expected = reference<Number>(text, decided);
    if (!decided) continue;

    const auto got = scanned<Number>(text);

    ASSERT_EQ(got.has_value(), expected.has_value()) << text;
    ASSERT_EQ(got, expected) << text;
    taken += got.has_value();
  }
  EXPECT_GT(taken, kRounds / 4);
  EXPECT_LT(taken, kRounds * 3 / 4);
}

class RandomArrays : public EverySimd {};

TEST_P(RandomArrays, OfInt32AreTakenAsRapidJsonDoes) { expect_as_reference<std::int32_t>(31); }

TEST_P(RandomArrays, OfFloatsAreTakenAsRapidJsonDoesWithStrtof) { expect_as_reference<float>(32); }

EVERY_SIMD(RandomArrays);

}  // namespace
}  // namespace tinker::codec
