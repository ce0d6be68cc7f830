// SPDX-License-Identifier: Apache-2.0
#include "api/error_reply.h"

#include <gtest/gtest.h>

namespace tinker::api {
namespace {

TEST(ErrorReply, IsADetailText) {
  const http::Response response = error_response({base::Code::not_found, "Session not found"});

  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.body.view(), R"({"detail":"Session not found"})");
}

TEST(ErrorReply, IsAListOfFaultsInThePeersShape) {
  base::Error error{base::Code::unprocessable, "body is wrong"};
  error.faults.push_back({"missing", R"(["body","prompt"])", "Field required", R"({"a":1})", ""});
  error.faults.push_back(
      {"greater_than_equal", R"(["body","n"])", "Input should be greater than or equal to 0", "-1", R"({"ge":0})"});

  const http::Response response = error_response(error);

  EXPECT_EQ(response.status, 422);
  EXPECT_EQ(
      response.body.view(),
      R"({"detail":[{"type":"missing","loc":["body","prompt"],"msg":"Field required","input":{"a":1}},)"
      R"({"type":"greater_than_equal","loc":["body","n"],"msg":"Input should be greater than or equal to 0","input":-1,"ctx":{"ge":0}}]})");
}

TEST(ErrorReply, TellsWhenToComeBack) {
  for (base::Code code : {base::Code::exhausted, base::Code::unavailable}) {
    const http::Response response = error_response({code, "later"});

    ASSERT_EQ(response.fields.size(), 1u);
    EXPECT_EQ(response.fields[0].first, "retry-after");
  }
}

TEST(JsonText, EscapesWhatJsonCannotHold) {
  EXPECT_EQ(json_text("a\"b\\c\n\x01"), R"("a\"b\\c\n\u0001")");
  EXPECT_EQ(json_text("é日🎉"), "\"é日🎉\"");
}

TEST(JsonText, ReplacesBytesThatAreNoUtf8) {
  EXPECT_EQ(json_text("a\xff"
                      "b"),
            "\"a\xEF\xBF\xBD"
            "b\"");
  EXPECT_EQ(json_text("\xC0\xAF"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");      // overlong
  EXPECT_EQ(json_text("\xED\xA0\x80").find("\xED"), std::string::npos);  // surrogate
  EXPECT_EQ(json_text("\xE6\x97"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");      // cut short
}

}  // namespace
}  // namespace tinker::api
