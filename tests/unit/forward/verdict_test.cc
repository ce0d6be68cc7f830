// SPDX-License-Identifier: Apache-2.0
#include "forward/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "unit/forward/capture.h"

namespace tinker::forward {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const UpstreamUrl kUrl = *UpstreamUrl::parse("http://router:8000/x");

http::Answer answer(int status, std::string_view body, std::string_view content_type = "application/json") {
  http::Answer made{.status = status};
  made.fields.add("Content-Type", content_type);
  made.body.append(body);
  return made;
}
Verdict judged(const http::Answer& given) { return judge(given, {}, kUrl); }
Verdict judged(http::Breakage kind, bool reused = false) {
  return judge(http::Broken{kind, reused, "words of the connection"}, kUrl, base::Seconds{2048});
}

struct Refusal {
  std::string capture;
  Next next;
  Blame blame;
};
void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.capture; }

class VllmRefusal : public testing::TestWithParam<Refusal> {};

TEST_P(VllmRefusal, IsJudgedByStatusAndText) {
  const http::Answer given = captured_answer(GetParam().capture);

  const Verdict verdict = judged(given);

  EXPECT_EQ(verdict.next, GetParam().next);
  EXPECT_EQ(verdict.failure.blame, GetParam().blame);
  EXPECT_THAT(verdict.failure.text, StartsWith("vLLM /v1/completions returned " + std::to_string(given.status) + ": " +
                                               std::string(given.body.view().substr(0, 1024))));
}

INSTANTIATE_TEST_SUITE_P(
    Captures, VllmRefusal,
    testing::Values(
        // vLLM's own checks of what the user sent
        Refusal{"direct/err-temperature-over-2", Next::fail, Blame::user},
        Refusal{"direct/err-stop-too-many", Next::fail, Blame::user},
        Refusal{"direct/err-prompt-too-long", Next::fail, Blame::user}, Refusal{"direct/err-n-huge", Next::fail, Blame::user},
        Refusal{"direct/err-prompt-id-out-of-vocab", Next::fail, Blame::user},
        Refusal{"router/err-empty-prompt", Next::fail, Blame::user},
        Refusal{"router/err-max-tokens-0", Next::fail, Blame::user},
        Refusal{"router-scripted/seed-big", Next::fail, Blame::user},
        Refusal{"router-scripted/payload-too-big", Next::fail, Blame::user},
        Refusal{"router-scripted/status400", Next::fail, Blame::user},
        // the operator's
        Refusal{"direct/err-unknown-model", Next::fail, Blame::server},
        Refusal{"direct/err-unknown-lora", Next::fail, Blame::server},
        Refusal{"router/err-unknown-model", Next::fail, Blame::server},
        Refusal{"direct/get-unknown-404", Next::fail, Blame::server},
        Refusal{"direct/get-completions-405", Next::fail, Blame::server},
        Refusal{"router-scripted/wrong-ctype", Next::fail, Blame::server},
        // overload
        Refusal{"router-scripted/queue-timeout-408", Next::fail, Blame::server},
        Refusal{"router-scripted/status408", Next::fail, Blame::server},
        Refusal{"router-scripted/status429", Next::fail, Blame::server},
        // tried once more
        Refusal{"direct/engine-killed", Next::retry, Blame::server},
        Refusal{"router/engine-killed", Next::retry, Blame::server}, Refusal{"lora/broken-dir", Next::retry, Blame::server},
        Refusal{"router-scripted/status500", Next::retry, Blame::server},
        Refusal{"router-scripted/status502", Next::retry, Blame::server},
        Refusal{"router-scripted/status503", Next::retry, Blame::server},
        Refusal{"router-scripted/status504", Next::retry, Blame::server},
        Refusal{"router-scripted/close", Next::retry, Blame::server},
        Refusal{"router-scripted/partial", Next::retry, Blame::server},
        Refusal{"router-scripted/request-timeout", Next::retry, Blame::server},
        // U7
        Refusal{"nan/sampled", Next::fail, Blame::server}, Refusal{"nan/temp0", Next::fail, Blame::server}));

TEST(Verdict, U7_NanInTheModelIsTheServersFault) {
  const Verdict verdict = judged(captured_answer("nan/sampled"));

  EXPECT_EQ(verdict.next, Next::fail);
  EXPECT_EQ(verdict.failure.blame, Blame::server);
  EXPECT_THAT(verdict.failure.text, HasSubstr("Out of range float values are not JSON compliant"));
}

TEST(Verdict, ARequestThatUvicornDidNotUnderstandIsOurs) {
  const Verdict verdict = judged(answer(400, "Invalid HTTP request received.", "text/plain; charset=utf-8"));

  EXPECT_EQ(verdict.failure.blame, Blame::server);
}

TEST(Verdict, ASampleIsDelivered) {
  const Verdict verdict = judged(captured_answer("direct/ok-n1-max64"));

  EXPECT_EQ(verdict.next, Next::deliver);
  EXPECT_EQ(verdict.completion.tokens, 64u);
  EXPECT_FALSE(verdict.completion.sample_response.empty());
}

TEST(Verdict, U6_AnAbortedGenerationIsNoSample) {
  for (const char* name : {"direct/shutdown-sigterm", "direct/drain-new-request-abort-empty"}) {
    const Verdict verdict = judged(captured_answer(name));

    EXPECT_EQ(verdict.next, Next::regenerate) << name;
    EXPECT_EQ(verdict.failure.blame, Blame::server);
    EXPECT_THAT(verdict.failure.text, HasSubstr("aborted"));
  }
}

TEST(Verdict, U9_WhatIsNoJsonIsShownWithStatusAndType) {
  EXPECT_EQ(judged(captured_answer("router-scripted/text")).failure.text,
            "vLLM /v1/completions returned non-JSON (200, content-type='text/plain'): hello not json");
  EXPECT_EQ(judged(captured_answer("router-scripted/badjson")).failure.text,
            "vLLM /v1/completions returned non-JSON (200, content-type='application/json'): {\"a\":");
  EXPECT_EQ(judged(captured_answer("router-scripted/chunked")).failure.text,
            "vLLM /v1/completions returned non-JSON (200, content-type='application/json'): [000],[001],[002],[003],[004],");
}

TEST(Verdict, U9_TheTextOfAFailureIsBounded) {
  const std::string huge = "<html>" + std::string(100'000, 'x');

  const Verdict not_json = judged(answer(200, huge, std::string(10'000, 't')));
  const Verdict refused = judged(answer(400, huge));

  EXPECT_EQ(not_json.next, Next::fail);
  EXPECT_LT(not_json.failure.text.size(), 800u);
  EXPECT_THAT(refused.failure.text, AllOf(HasSubstr("returned 400: <html>xxx")));
  EXPECT_LT(refused.failure.text.size(), 1100u);
}

TEST(Verdict, U9_JsonThatIsNoCompletionIsTheServersFault) {
  const std::string choice = R"("finish_reason":"stop","index":0)";
  for (const std::string& body :
       {std::string(R"({"choices":[]})"), std::string(R"({"ok":true})"), std::string("[]"), std::string("null"),
        R"({"choices":[{"token_ids":null,"logprobs":{"token_logprobs":[-1]},)" + choice + "}]}",
        R"({"choices":[{"token_ids":[1,2],"logprobs":{"token_logprobs":[-1]},)" + choice + "}]}",
        R"({"choices":[{"token_ids":[2147483648],"logprobs":{"token_logprobs":[-1]},)" + choice + "}]}"}) {
    const Verdict verdict = judged(answer(200, body));

    EXPECT_EQ(verdict.next, Next::fail) << body;
    EXPECT_EQ(verdict.failure.blame, Blame::server);
    EXPECT_THAT(verdict.failure.text, StartsWith("vLLM /v1/completions returned 200 with a body that is no completion: "));
  }
}

TEST(Verdict, U9_AMissingListOfLogprobsBecomesZeros) {
  const Verdict verdict =
      judged(answer(200, R"({"choices":[{"index":0,"token_ids":[1,2],"logprobs":null,"finish_reason":"stop"}]})"));

  EXPECT_EQ(verdict.next, Next::deliver);
  EXPECT_TRUE(verdict.completion.logprobs_missing);
}

TEST(Verdict, U8_TextThatLooksLikeAKeyDoesNotMislead) {
  const Verdict verdict = judged(answer(200, R"({"choices":[{"text":"\"token_ids\":[9,9,9],\"finish_reason\":\"abort\"",)"
                                             R"("finish_reason":"stop","logprobs":{"tokens":["\"token_logprobs\":[0]"],)"
                                             R"("token_logprobs":[-1.5]},"index":0,"token_ids":[7]}]})"));

  EXPECT_EQ(verdict.next, Next::deliver);
  EXPECT_EQ(verdict.completion.tokens, 1u);
}

TEST(Verdict, ARedirectIsNamedAndNotFollowed) {
  http::Answer given = answer(307, "");
  given.fields.add("Location", "http://elsewhere/v1/completions");

  const Verdict verdict = judged(given);

  EXPECT_EQ(verdict.next, Next::fail);
  EXPECT_EQ(verdict.failure.blame, Blame::server);
  EXPECT_THAT(verdict.failure.text, AllOf(HasSubstr("returned 307"), HasSubstr("http://elsewhere/v1/completions"),
                                          HasSubstr("http://router:8000/x")));
}

TEST(Verdict, OnlyAnUpstreamThatWasNotReachedIsTriedAgain) {
  using http::Breakage;
  for (const auto kind : {Breakage::connect_failed, Breakage::connect_timed_out}) EXPECT_EQ(judged(kind).next, Next::retry);
  for (const auto kind : {Breakage::write_failed, Breakage::closed_early, Breakage::cut_short, Breakage::read_timed_out,
                          Breakage::malformed, Breakage::too_large}) {
    const Verdict verdict = judged(kind);

    EXPECT_EQ(verdict.next, Next::fail);
    EXPECT_EQ(verdict.failure.blame, Blame::server);
    EXPECT_THAT(verdict.failure.text, HasSubstr("http://router:8000/x/v1/completions"));
  }
}

TEST(Verdict, U5_AReusedConnectionThatGaveNoByteIsReplaced) {
  using http::Breakage;
  for (const auto kind : {Breakage::write_failed, Breakage::closed_early}) {
    EXPECT_EQ(judged(kind, /*reused=*/true).next, Next::reconnect);
  }
  for (const auto kind : {Breakage::cut_short, Breakage::read_timed_out, Breakage::malformed}) {
    EXPECT_EQ(judged(kind, /*reused=*/true).next, Next::fail);
  }
}

TEST(Verdict, AReadTimeoutNamesUrlSecondsAndSetting) {
  EXPECT_THAT(
      judged(http::Breakage::read_timed_out).failure.text,
      AllOf(HasSubstr("http://router:8000/x/v1/completions"), HasSubstr("words of the connection"), HasSubstr("is 2048 s"),
            HasSubstr("forwarding_inference_timeout_sec"), HasSubstr("TINKERD_FORWARDING_INFERENCE_TIMEOUT_SEC")));
}

}  // namespace
}  // namespace tinker::forward
