// SPDX-License-Identifier: Apache-2.0
#include "codec/json_cursor.h"

#include <gtest/gtest.h>
#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <functional>
#include <random>

#include "support/vectors.h"
#include "unit/codec/every_simd.h"

namespace tinker::codec {
namespace {

using support::buffer_of;

// True when the whole text is one value.
bool skips(std::string_view json) {
  const base::Buffer text = buffer_of(json);
  JsonCursor cursor(text.data(), text.data() + text.size());
  return cursor.skip_value() && cursor.peek() == '\0' && cursor.at() == cursor.end();
}

class SkippedValue : public EverySimd {};
EVERY_SIMD(SkippedValue);

TEST_P(SkippedValue, SkipsEveryKindOfValue) {
  for (const char* json : {"null", " true ", "false", "0", "-1.5e+10", "\"\"", "\"a\\\"b\"", "[]", "{}", "[[[]],{}]",
                           R"({"a":[1,{"b":"]}"}],"c":"\\"})", R"(["\\\\\\\"]"])"}) {
    EXPECT_TRUE(skips(json)) << json;
  }
}

TEST_P(SkippedValue, RefusesWhatIsCutShortOrNoValue) {
  for (const char* json : {"",    " ",       "nul", "tru", "-",  "01",  "1.",        "1e", ".5",   "\"",
                           "\"a", "\"a\\\"", "[",   "{",   "[1", "[[]", "{\"a\":[}", "]",  "[\"]", "x"})
    EXPECT_FALSE(skips(json)) << json;
}

TEST_P(SkippedValue, FindsEveryCutOfALongText) {
  std::string json = R"({"text":"a \"quoted\" [ { text \\","list":[1,2,{"deep":[[[["]]]]"]]]]}]})";
  json = "[" + json + "," + json + "]";

  EXPECT_TRUE(skips(json));
  for (std::size_t size = 0; size < json.size(); ++size) EXPECT_FALSE(skips(json.substr(0, size))) << size;
}

TEST_P(SkippedValue, SkipsStringsWithBackslashesAcrossBlocks) {
  for (std::size_t before = 0; before < 140; ++before) {
    for (std::size_t slashes = 0; slashes < 6; ++slashes) {
      const std::string inside = std::string(before, 'x') + std::string(2 * slashes, '\\');
      EXPECT_TRUE(skips("\"" + inside + "\"")) << before << " " << slashes;
      EXPECT_TRUE(skips("[\"" + inside + "\\\"]\"]")) << before << " " << slashes;
      EXPECT_FALSE(skips("[\"" + inside + "\\\"]")) << before << " " << slashes;
    }
  }
}

TEST_P(SkippedValue, BalancesBracketsAcrossBlocks) {
  for (std::size_t depth = 1; depth < 300; ++depth) {
    const std::string json = std::string(depth, '[') + std::string(depth, ']');
    EXPECT_TRUE(skips(json));
    EXPECT_FALSE(skips(json.substr(1)));
    EXPECT_FALSE(skips("[" + json));
  }
}

TEST_P(SkippedValue, AgreesWithRapidJsonOnRandomTexts) {
  std::mt19937_64 random(5);
  using Writer = rapidjson::Writer<rapidjson::StringBuffer>;
  const std::function<void(Writer&, int)> value = [&](Writer& json, int depth) {
    switch (random() % (depth > 0 ? 6 : 4)) {
      case 0:
        json.Int64(static_cast<std::int64_t>(random()));
        break;
      case 1:
        json.Bool(random() % 2);
        break;
      case 2: {
        std::string text;
        for (std::size_t i = random() % 90; i > 0; --i) text += "ab\\\"[]{},:\n"[random() % 11];
        json.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
        break;
      }
      case 3:
        json.Null();
        break;
      case 4:
        json.StartArray();
        for (std::size_t i = random() % 6; i > 0; --i) value(json, depth - 1);
        json.EndArray();
        break;
      default:
        json.StartObject();
        for (std::size_t i = random() % 6; i > 0; --i) {
          json.Key("k\"[");
          value(json, depth - 1);
        }
        json.EndObject();
    }
  };
  for (int i = 0; i < 3000; ++i) {
    rapidjson::StringBuffer buffer;
    Writer writer(buffer);
    value(writer, 6);
    ASSERT_TRUE(skips(buffer.GetString())) << buffer.GetString();
  }
}

// The end of the array or object that `json` starts with, a byte at a time; 0 when it has none. A backslash takes a quote or
// backslash behind it away, wherever it stands.
std::size_t end_of_container(std::string_view json) {
  const char kind = json[0];
  std::ptrdiff_t arrays = 0, objects = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '\\') {
      i += json.substr(i + 1, 1) == "\"" || json.substr(i + 1, 1) == "\\";
    } else if (c == '"') {
      in_string = !in_string;
    } else if (!in_string) {
      arrays += (c == '[') - (c == ']');
      objects += (c == '{') - (c == '}');
      if ((kind == '[' ? arrays : objects) == 0) return (kind == '[' ? objects : arrays) == 0 ? i + 1 : 0;
    }
  }
  return 0;
}

TEST_P(SkippedValue, EndsWhereAWalkByBytesEndsInAnyText) {
  static constexpr std::string_view kAlphabets[] = {"[]{}\"\\", "[]{}\"\\,::aaaaaaaaaaaa0123456789 ", "[[]]{{}}aaaaaaaa"};
  std::mt19937_64 random(6);
  int ended = 0;
  constexpr int kRounds = 100'000;
  for (int round = 0; round < kRounds; ++round) {
    const std::string_view alphabet = kAlphabets[random() % std::size(kAlphabets)];
    std::string json(1, random() % 2 ? '[' : '{');
    for (std::size_t size = random() % 300; size > 0; --size) json += alphabet[random() % alphabet.size()];
    const base::Buffer text = buffer_of(json);
    JsonCursor cursor(text.data(), text.data() + text.size());

    const std::size_t end = cursor.skip_value() ? cursor.offset() : 0;

    ASSERT_EQ(end, end_of_container(json)) << json;
    ended += end > 64;
  }
  EXPECT_GT(ended, kRounds / 100);
}

TEST(JsonCursor, ReadsKeysWithEscapes) {
  const base::Buffer text = buffer_of(R"({"token\u005fids" : 1, "b":2})");
  JsonCursor cursor(text.data(), text.data() + text.size());
  std::vector<std::string> keys;

  EXPECT_TRUE(cursor.each_member([&](std::string_view key) {
    keys.emplace_back(key);
    return cursor.skip_value();
  }));

  EXPECT_EQ(keys, (std::vector<std::string>{"token_ids", "b"}));
}

TEST(Unescape, ResolvesAllEscapes) {
  std::string text;

  EXPECT_TRUE(unescape(R"(\"\\\/\b\f\n\r\t\u00e9\ud83c\udf89\ud800x)", text));

  EXPECT_EQ(text, "\"\\/\b\f\n\r\té🎉\xEF\xBF\xBDx");
  for (const char* broken : {"\\", "\\x", "\\u12", "\\u12g4"}) EXPECT_FALSE(unescape(broken, text)) << broken;
}

}  // namespace
}  // namespace tinker::codec
