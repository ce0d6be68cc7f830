// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/tinker_calls.h"

#include <gtest/gtest.h>

#include <vector>

namespace tinker::load {
namespace {

TEST(TinkerCalls, WriteSamplesAsTheSdkDoes) {
  const std::vector<std::int32_t> prompt{1, 2, 3};

  EXPECT_EQ(AsampleBody("s-1", 2, 16).write(7, prompt),
            R"({"num_samples":2,"prompt":{"chunks":[{"tokens":[1,2,3],"type":"encoded_text"}]},"sampling_params":)"
            R"({"max_tokens":16,"temperature":1.0,"top_k":-1,"top_p":1.0},"sampling_session_id":"s-1","seq_id":7,)"
            R"("prompt_logprobs":false,"topk_prompt_logprobs":0,"type":"sample"})");
}

TEST(TinkerCalls, EscapeTheTextThatTheyAreGiven) {
  const std::string body = create_sampling_session_body("s", R"(models\a"b)");

  EXPECT_EQ(text_member(body, "base_model"), R"(models\a"b)");
  EXPECT_EQ(text_member(retrieve_future_body("r\n1"), "request_id"), "r\n1");
}

TEST(TextMember, IsReadFromAnyWayToWriteJson) {
  EXPECT_EQ(text_member(R"({"request_id":"s1"})", "request_id"), "s1");
  EXPECT_EQ(text_member("{ \"a\": {\"request_id\": \"no\"},\n \"request_id\" : \"s\\u0031\" }", "request_id"), "s1");
}

TEST(TextMember, IsEmptyWhereThereIsNone) {
  for (const char* json : {"", "x", "[]", "null", R"({"request_id":7})", R"({"other":"s1"})", R"({"request_id":"s1")"})
    EXPECT_EQ(text_member(json, "request_id"), "") << json;
}

}  // namespace
}  // namespace tinker::load
