// SPDX-License-Identifier: Apache-2.0
#include "codec/json_body.h"

#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <functional>
#include <string>
#include <vector>

namespace tinker::codec {
namespace {

// Reads a body and gives the only fault: type, loc, msg, input, ctx, one a line.
std::string fault(
    const std::string& text, const std::function<void(JsonBody&)>& read = [](JsonBody&) {}) {
  JsonBody body(text);
  read(body);
  const auto error = body.error();
  if (!error) return "none";
  EXPECT_EQ(error->code, base::Code::unprocessable);
  EXPECT_EQ(error->faults.size(), 1u);
  const base::Fault& only = error->faults[0];
  return only.type + "\n" + only.loc + "\n" + only.msg + "\n" + only.input + "\n" + only.ctx;
}

const auto kText = [](JsonBody& body) { body.text("k"); };
const auto kInteger = [](JsonBody& body) { body.integer("k"); };

TEST(JsonBody, ReadsMembers) {
  JsonBody body(R"({"a":"x\u00e9","n":-7,"yes":true,"tags":["p","q"],"meta":{"k":[1,2.5,null]},"none":null})");

  EXPECT_EQ(body.text("a"), "xé");
  EXPECT_EQ(body.optional_text("a"), "xé");
  EXPECT_EQ(body.optional_text("none"), std::nullopt);
  EXPECT_EQ(body.optional_text("absent"), std::nullopt);
  EXPECT_EQ(body.integer("n"), -7);
  EXPECT_EQ(body.optional_boolean("yes"), true);
  EXPECT_EQ(body.text_list_json("tags"), R"(["p","q"])");
  EXPECT_EQ(body.text_list_json("absent"), "[]");
  EXPECT_EQ(body.optional_object_json("meta"), R"({"k":[1,2.5,null]})");
  EXPECT_EQ(body.optional_object_json("none"), std::nullopt);
  EXPECT_EQ(body.error(), std::nullopt);
}

// Each row of the table in server-contract.md §1.1.
TEST(JsonBody, SaysWhatIsWrongInTheWordsOfThePeer) {
  EXPECT_EQ(fault(R"({"other":[1]})", kText), "missing\n[\"body\",\"k\"]\nField required\n{\"other\":[1]}\n");
  EXPECT_EQ(fault("", kText), "missing\n[\"body\"]\nField required\nnull\n");
  EXPECT_EQ(fault("[1]", kText),
            "model_attributes_type\n[\"body\"]\nInput should be a valid dictionary or object to extract fields from\n[1]\n");
  EXPECT_EQ(fault(R"({"k":7})", kText), "string_type\n[\"body\",\"k\"]\nInput should be a valid string\n7\n");
  EXPECT_EQ(fault(R"({"k":null})", kText), "string_type\n[\"body\",\"k\"]\nInput should be a valid string\nnull\n");
  EXPECT_EQ(fault(R"({"k":"x"})", kInteger),
            "int_parsing\n[\"body\",\"k\"]\nInput should be a valid integer, unable to parse string as an integer\n\"x\"\n");
  EXPECT_EQ(fault(R"({"k":1.5})", kInteger),
            "int_from_float\n[\"body\",\"k\"]\nInput should be a valid integer, got a number with a fractional part\n1.5\n");
  EXPECT_EQ(fault(R"({"k":[]})", kInteger), "int_type\n[\"body\",\"k\"]\nInput should be a valid integer\n[]\n");
  EXPECT_EQ(fault(R"({"k":7})", [](JsonBody& body) { body.text_list_json("k"); }),
            "list_type\n[\"body\",\"k\"]\nInput should be a valid list\n7\n");
  EXPECT_EQ(fault(R"({"k":["a",2]})", [](JsonBody& body) { body.text_list_json("k"); }),
            "string_type\n[\"body\",\"k\",1]\nInput should be a valid string\n2\n");
  EXPECT_EQ(fault(R"({"k":7})", [](JsonBody& body) { body.optional_object_json("k"); }),
            "dict_type\n[\"body\",\"k\"]\nInput should be a valid dictionary\n7\n");
  EXPECT_EQ(fault(R"({"k":"b"})", [](JsonBody& body) { body.literal("k", "a"); }),
            "literal_error\n[\"body\",\"k\"]\nInput should be 'a'\n\"b\"\n{\"expected\":\"'a'\"}");
}

TEST(JsonBody, SaysWhereTheJsonIsBroken) {
  const std::string text = fault(R"({"k":1,})");

  EXPECT_TRUE(text.starts_with("json_invalid\n[\"body\",7]\nJSON decode error\n{}\n{\"error\":\"")) << text;
}

TEST(JsonBody, GathersAllFaultsOfABody) {
  JsonBody body(R"({"b":1,"c":"x"})");
  body.text("a");
  body.text("b");
  body.integer("c");

  const auto error = body.error();

  ASSERT_TRUE(error);
  ASSERT_EQ(error->faults.size(), 3u);
  EXPECT_EQ(error->faults[0].loc, R"(["body","a"])");
  EXPECT_EQ(error->faults[1].loc, R"(["body","b"])");
  EXPECT_EQ(error->faults[2].loc, R"(["body","c"])");
  EXPECT_NE(error->text.find(R"(["body","a"]: Field required)"), std::string::npos);
}

TEST(JsonBody, IntegersAreLax) {
  for (const char* integer : {"12", "12.0", "1.2e1", R"("12")", R"(" 12 ")", R"("+12")"}) {
    JsonBody body("{\"k\":" + std::string(integer) + "}");
    EXPECT_EQ(body.integer("k"), 12) << integer;
    EXPECT_EQ(body.error(), std::nullopt) << integer;
  }
  JsonBody yes(R"({"k":true})");
  EXPECT_EQ(yes.integer("k"), 1);
}

TEST(JsonBody, BooleansAreLax) {
  for (const char* word : {"true", "1", "1.0", R"("yes")", R"("on")", R"("TRUE")", R"("t")", R"("Y")", R"("1")"}) {
    JsonBody body("{\"k\":" + std::string(word) + "}");
    EXPECT_EQ(body.optional_boolean("k"), true) << word;
  }
  for (const char* word : {"false", "0", R"("no")", R"("Off")", R"("false")", R"("f")", R"("n")", R"("0")"}) {
    JsonBody body("{\"k\":" + std::string(word) + "}");
    EXPECT_EQ(body.optional_boolean("k"), false) << word;
  }
  const auto boolean = [](JsonBody& body) { body.optional_boolean("k"); };
  EXPECT_TRUE(fault(R"({"k":"maybe"})", boolean).starts_with("bool_parsing\n"));
  EXPECT_TRUE(fault(R"({"k":2})", boolean).starts_with("bool_parsing\n"));
  EXPECT_TRUE(fault(R"({"k":[]})", boolean).starts_with("bool_type\n"));
}

TEST(JsonBody, IsNotHarmedByWhatItCannotKeep) {
  const auto object = [](JsonBody& body) { body.optional_object_json("k"); };
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');

  EXPECT_TRUE(fault("{\"k\":{\"a\":" + deep + "}}", object).starts_with("value_error\n[\"body\",\"k\"]\n"));
  EXPECT_TRUE(fault(R"({"k":{"a":NaN}})", object).starts_with("finite_number\n[\"body\",\"k\"]\n"));
  EXPECT_TRUE(fault("{\"k\":\"\xED\xA0\x80\"}", kText).starts_with("json_invalid\n"));
  EXPECT_TRUE(fault(R"({"k":"\ud800"})", kText).starts_with("json_invalid\n"));
  EXPECT_TRUE(fault("{\"k\":\"\xF0", kText).starts_with("json_invalid\n"));
  EXPECT_TRUE(fault("{\"k\":\"\xE2\x82", kText).starts_with("json_invalid\n"));
  EXPECT_TRUE(fault(std::string("{}\0{}", 5), [](JsonBody&) {}).starts_with("json_invalid\n"));
}

// A fault goes back to the client: as JSON, and not larger than it has to be.
TEST(JsonBody, ShowsABoundedInput) {
  for (const std::string& value :
       {std::string(200'000, '[') + std::string(200'000, ']'), "\"" + std::string(100'000, 'x') + "\"",
        [] {
          std::string text = "\"";
          for (int i = 0; i < 50'000; ++i) text += "é\\n";
          return text + "\"";
        }(),
        std::string("[NaN,Infinity]")}) {
    JsonBody body("{\"k\":" + value + "}");
    body.integer("k");

    const auto error = body.error();

    ASSERT_TRUE(error);
    EXPECT_LT(error->faults[0].input.size(), 5000u);
    rapidjson::Document input;
    input.Parse<rapidjson::kParseValidateEncodingFlag>(error->faults[0].input.c_str());
    EXPECT_FALSE(input.HasParseError()) << error->faults[0].input;
  }
}

TEST(JsonBody, ShowsABoundedNumberOfFaults) {
  std::string list = "[0";
  for (int i = 0; i < 5000; ++i) list += ",0";
  JsonBody body("{\"k\":" + list + "]}");
  body.text_list_json("k");

  const auto error = body.error();

  ASSERT_TRUE(error);
  EXPECT_EQ(error->faults.size(), 100u);
}

}  // namespace
}  // namespace tinker::codec
