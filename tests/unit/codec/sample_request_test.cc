// SPDX-License-Identifier: Apache-2.0
#include "codec/sample_request.h"

#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "support/vectors.h"

namespace tinker::codec {
namespace {

using support::read_vector;

// A body that is accepted; `params` and `more` are members to add to sampling_params and to the body.
std::string body(const std::string& params = "", const std::string& more = "",
                 const std::string& chunk = R"({"tokens":[1,2]})") {
  return R"({"prompt":{"chunks":[)" + chunk + R"(]},"sampling_params":{"max_tokens":8)" + params +
         R"(},"sampling_session_id":"sampling_1","seq_id":3)" + more + "}";
}

SampleRequest accepted(const std::string& text) {
  auto request = parse_sample_request(text);
  EXPECT_TRUE(request) << request.error().text << " for " << text;
  return request ? std::move(*request) : SampleRequest{};
}

// `loc` of the only fault of a 422, then its type.
std::string fault_of(const std::string& text) {
  const auto request = parse_sample_request(text);
  if (request) return "accepted";
  if (request.error().code != base::Code::unprocessable) return "refused: " + request.error().text;
  EXPECT_EQ(request.error().faults.size(), 1u) << text;
  return request.error().faults[0].loc + " " + request.error().faults[0].type;
}

// The text of a 400.
std::string refusal_of(const std::string& text) {
  const auto request = parse_sample_request(text);
  if (request) return "accepted";
  return request.error().code == base::Code::invalid_argument ? request.error().text : "422: " + request.error().text;
}

std::string in_params(const std::string& name) { return "[\"body\",\"sampling_params\",\"" + name + "\"]"; }

TEST(SampleRequest, FillsInDefaults) {
  const SampleRequest request = accepted(body());

  EXPECT_EQ(request.sampling_session_id, "sampling_1");
  EXPECT_EQ(request.seq_id, 3);
  EXPECT_EQ(request.prompt_tokens, (std::vector<std::int32_t>{1, 2}));
  EXPECT_EQ(request.num_samples, 1u);
  EXPECT_EQ(request.max_tokens, 8u);
  EXPECT_EQ(request.seed, std::nullopt);
  EXPECT_EQ(request.temperature, 1.0);
  EXPECT_EQ(request.top_k, -1);
  EXPECT_EQ(request.top_p, 1.0);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(request.stop));
  EXPECT_FALSE(request.ignore_eos);
  EXPECT_FALSE(request.prompt_logprobs);
  EXPECT_EQ(request.topk_prompt_logprobs, 0u);
  EXPECT_EQ(request.prompt_logprobs_last_n, std::nullopt);
}

TEST(SampleRequest, TakesEveryParameter) {
  const SampleRequest request = accepted(
      body(R"(,"seed":-7,"stop":["\n\n","END"],"temperature":0.7,"top_k":50,"top_p":0.95)",
           R"(,"num_samples":4,"prompt_logprobs":true,"topk_prompt_logprobs":5,"prompt_logprobs_last_n":2,"type":"sample")"));

  EXPECT_EQ(request.num_samples, 4u);
  EXPECT_EQ(request.seed, "-7");
  EXPECT_EQ(std::get<std::vector<std::string>>(request.stop), (std::vector<std::string>{"\n\n", "END"}));
  EXPECT_EQ(request.temperature, 0.7);
  EXPECT_EQ(request.top_k, 50);
  EXPECT_EQ(request.top_p, 0.95);
  EXPECT_TRUE(request.prompt_logprobs);
  EXPECT_EQ(request.topk_prompt_logprobs, 5u);
  EXPECT_EQ(request.prompt_logprobs_last_n, 2u);
}

TEST(SampleRequest, StopIsOneTextSeveralTextsTokensOrNothingAtAll) {
  EXPECT_EQ(std::get<std::vector<std::string>>(accepted(body(R"(,"stop":"é")")).stop), std::vector<std::string>{"é"});
  EXPECT_EQ(std::get<std::vector<std::int32_t>>(accepted(body(R"(,"stop":[5,128009])")).stop),
            (std::vector<std::int32_t>{5, 128009}));
  const SampleRequest nothing = accepted(body(R"(,"stop":[])"));
  EXPECT_TRUE(nothing.ignore_eos);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(nothing.stop));
  EXPECT_FALSE(accepted(body(R"(,"stop":null)")).ignore_eos);
  EXPECT_EQ(fault_of(body(R"(,"stop":[1,"a"])")), R"(["body","sampling_params","stop",1] int_type)");
  EXPECT_EQ(fault_of(body(R"(,"stop":["a",1])")), R"(["body","sampling_params","stop",1] string_type)");
  EXPECT_EQ(fault_of(body(R"(,"stop":[2147483648])")), R"(["body","sampling_params","stop",0] less_than_equal)");
  EXPECT_EQ(fault_of(body(R"(,"stop":7)")), in_params("stop") + " list_type");
}

TEST(SampleRequest, SeedIsAnyInteger) {
  for (const char* seed :
       {"0", "-7", "9223372036854775807", "-9223372036854775808", "9223372036854775813", "18446744073709551615",
        "18446744073709551616", "-9223372036854775809", "123456789012345678901234567890123456789"}) {
    EXPECT_EQ(accepted(body(",\"seed\":" + std::string(seed))).seed, seed);
  }
  const std::string huge = "1" + std::string(400, '0');
  EXPECT_EQ(accepted(body(",\"seed\":" + huge)).seed, huge);
  EXPECT_EQ(accepted(body(R"(,"seed":"12")")).seed, "12");
  EXPECT_EQ(accepted(body(R"(,"seed":12.0)")).seed, "12");
  EXPECT_EQ(accepted(R"({"seed":1,"x":{"sampling_params":{"seed":"18446744073709551617"}},)" +
                     body(",\"seed\":18446744073709551616").substr(1))
                .seed,
            "18446744073709551616");
  EXPECT_EQ(fault_of(body(",\"seed\":1.5")), in_params("seed") + " int_from_float");
  EXPECT_EQ(fault_of(body(",\"seed\":1e30")), in_params("seed") + " int_parsing_size");
  EXPECT_EQ(fault_of(body(R"(,"seed":"x")")), in_params("seed") + " int_parsing");
  EXPECT_EQ(fault_of(body(",\"seed\":NaN")), in_params("seed") + " finite_number");
  EXPECT_EQ(fault_of(body(",\"seed\":[]")), in_params("seed") + " int_type");
}

TEST(SampleRequest, JoinsTextChunksInOrder) {
  EXPECT_EQ(accepted(body("", "", R"({"tokens":[1,2],"type":"encoded_text"},{"tokens":[]},{"tokens":[3]})")).prompt_tokens,
            (std::vector<std::int32_t>{1, 2, 3}));
  EXPECT_TRUE(accepted(body("", "", "")).prompt_tokens.empty());
  EXPECT_EQ(accepted(body("", "", R"({"tokens":["5",6.0,true]})")).prompt_tokens, (std::vector<std::int32_t>{5, 6, 1}));
}

TEST(SampleRequest, NamesTheTokenThatIsNone) {
  const std::string tokens = R"(["body","prompt","chunks",0,"tokens",1] )";
  EXPECT_EQ(fault_of(body("", "", R"({"tokens":[1,-1]})")), tokens + "greater_than_equal");
  EXPECT_EQ(fault_of(body("", "", R"({"tokens":[1,2147483648]})")), tokens + "less_than_equal");
  EXPECT_EQ(fault_of(body("", "", R"({"tokens":[1,99999999999999999999]})")), tokens + "less_than_equal");
  EXPECT_EQ(fault_of(body("", "", R"({"tokens":[1,1.5]})")), tokens + "int_from_float");
  EXPECT_EQ(fault_of(body("", "", R"({"tokens":[1,null]})")), tokens + "int_type");
  EXPECT_EQ(fault_of(body("", "", R"({"tokens":[1,"x"]})")), tokens + "int_parsing");
  EXPECT_EQ(fault_of(body("", "", R"({"tokens":7})")), R"(["body","prompt","chunks",0,"tokens"] list_type)");
}

TEST(SampleRequest, TellsTheKindOfAChunkByItsKeys) {
  EXPECT_EQ(fault_of(body("", "", "{}")), R"(["body","prompt","chunks",0,"tokens"] missing)");
  EXPECT_EQ(fault_of(body("", "", "7")), R"(["body","prompt","chunks",0] model_attributes_type)");
  EXPECT_EQ(fault_of(body("", "", R"({"tokens":[1],"data":"x"})")), R"(["body","prompt","chunks",0] union_tag_not_found)");
  EXPECT_EQ(fault_of(body("", "", R"({"type":"audio"})")), R"(["body","prompt","chunks",0] union_tag_invalid)");
  EXPECT_EQ(accepted(body("", "", R"({"type":"encoded_text","tokens":[1],"data":"x"})")).prompt_tokens.size(), 1u);
}

TEST(SampleRequest, U11_RefusesChunksThatAreNotForwarded) {
  for (const auto& [chunk, kind] : std::vector<std::pair<std::string, std::string>>{
           {R"({"type":"image","data":"AAAA","format":"png"})", "'image'"},
           {R"({"data":"AAAA","format":"png"})", "'image'"},
           {R"({"type":"image_asset_pointer","location":"tinker://a","format":"png"})", "'image_asset_pointer'"},
           {R"({"location":"tinker://a","format":"png"})", "'image_asset_pointer'"},
           {R"({"type":"dmel","dmel":"AAAA"})", "'dmel'"},
           {R"({"dmel":"AAAA"})", "'dmel'"}}) {
    const std::string refusal = refusal_of(body("", "", R"({"tokens":[1]},)" + chunk));
    EXPECT_NE(refusal.find("prompt.chunks[1]"), std::string::npos) << refusal;
    EXPECT_NE(refusal.find(kind), std::string::npos) << refusal;
  }
}

TEST(SampleRequest, RefusesOptionsThatItCannotForwardByName) {
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{
           {"topk_sample_logprobs", "3"},
           {"prompt_alt_tokens_k", "2"},
           {"target_prompt_logprobs", R"({"data":[9],"dtype":"int64","shape":[1,1]})"},
           {"record_stability_info", "true"}}) {
    EXPECT_TRUE(refusal_of(body("", ",\"" + name + "\":" + value)).starts_with(name)) << name;
    EXPECT_EQ(refusal_of(body("", ",\"" + name + "\":null")), "accepted");
  }
  EXPECT_EQ(refusal_of(body("", R"(,"topk_sample_logprobs":0,"prompt_alt_tokens_k":0,"record_stability_info":false)")),
            "accepted");
}

TEST(SampleRequest, C10_NumbersThatAreNoneAreRefusedByName) {
  for (const char* name : {"temperature", "top_p"}) {
    for (const char* value : {"NaN", "Infinity", "-Infinity", "1e400", "-1e999", R"("NaN")", R"("inf")", R"("-Infinity")"}) {
      EXPECT_EQ(fault_of(body(",\"" + std::string(name) + "\":" + value)), in_params(name) + " finite_number") << value;
    }
    EXPECT_EQ(fault_of(body(",\"" + std::string(name) + "\":\"warm\"")), in_params(name) + " float_parsing");
    EXPECT_EQ(fault_of(body(",\"" + std::string(name) + "\":{}")), in_params(name) + " float_type");
  }
  EXPECT_EQ(fault_of(body(",\"top_k\":NaN")), in_params("top_k") + " finite_number");
  EXPECT_EQ(fault_of(body("", ",\"num_samples\":Infinity")), R"(["body","num_samples"] finite_number)");
  EXPECT_EQ(fault_of(body("", ",\"seq_id\":1e400").replace(body().find(",\"seq_id\":3"), 11, "")),
            R"(["body","seq_id"] finite_number)");
}

TEST(SampleRequest, C10_NumbersAsTextAreTaken) {
  const SampleRequest request = accepted(body(R"(,"temperature":"0.5","top_k":"40","top_p":" 0.5 ")", R"(,"num_samples":"2")"));

  EXPECT_EQ(request.temperature, 0.5);
  EXPECT_EQ(request.top_k, 40);
  EXPECT_EQ(request.top_p, 0.5);
  EXPECT_EQ(request.num_samples, 2u);
}

TEST(SampleRequest, C10_NumbersOutOfRangeAreRefusedByName) {
  const std::string num_samples = R"(["body","num_samples"] )";
  EXPECT_EQ(fault_of(body("", ",\"num_samples\":0")), num_samples + "greater_than_equal");
  EXPECT_EQ(fault_of(body("", ",\"num_samples\":-1")), num_samples + "greater_than_equal");
  EXPECT_EQ(fault_of(body("", ",\"num_samples\":1000000000")), num_samples + "less_than_equal");
  EXPECT_EQ(fault_of(body("", ",\"num_samples\":16385")), num_samples + "less_than_equal");
  EXPECT_EQ(accepted(body("", ",\"num_samples\":16384")).num_samples, 16384u);
  EXPECT_EQ(fault_of(body(",\"temperature\":-0.1")), in_params("temperature") + " greater_than_equal");
  EXPECT_EQ(fault_of(body(",\"top_p\":0")), in_params("top_p") + " greater_than");
  EXPECT_EQ(fault_of(body(",\"top_p\":1.1")), in_params("top_p") + " less_than_equal");
  EXPECT_EQ(fault_of(body(",\"top_k\":-2")), in_params("top_k") + " greater_than_equal");
  EXPECT_EQ(fault_of(body("", ",\"topk_prompt_logprobs\":-1")), R"(["body","topk_prompt_logprobs"] greater_than_equal)");
  EXPECT_EQ(fault_of(body("", ",\"prompt_logprobs\":true,\"prompt_logprobs_last_n\":0")),
            R"(["body","prompt_logprobs_last_n"] greater_than_equal)");
  EXPECT_EQ(fault_of(body("", ",\"prompt_logprobs_last_n\":2")), R"(["body","prompt_logprobs_last_n"] value_error)");
}

TEST(SampleRequest, C10_MaxTokensIsRequiredAndPositive) {
  const auto with = [](const std::string& max_tokens) {
    return body().replace(body().find("\"max_tokens\":8"), 14, max_tokens);
  };

  EXPECT_EQ(refusal_of(with("")), "max_tokens is currently required");
  EXPECT_EQ(refusal_of(with("\"max_tokens\":null")), "max_tokens is currently required");
  EXPECT_EQ(refusal_of(with("\"max_tokens\":0")), "max_tokens must be a positive number");
  EXPECT_EQ(refusal_of(with("\"max_tokens\":-5")), "max_tokens must be a positive number");
  EXPECT_EQ(fault_of(with("\"max_tokens\":2147483648")), in_params("max_tokens") + " less_than_equal");
  EXPECT_EQ(fault_of(with("\"max_tokens\":8.5")), in_params("max_tokens") + " int_from_float");
}

TEST(SampleRequest, NeedsASequenceNumberOrOneModel) {
  const auto target = [](const std::string& members) {
    return R"({"prompt":{"chunks":[]},"sampling_params":{"max_tokens":1})" + members + "}";
  };
  const std::string seq_id = R"(,"sampling_session_id":"s1","seq_id":)";

  EXPECT_EQ(fault_of(target(R"(,"sampling_session_id":"s1")")), R"(["body"] value_error)");
  EXPECT_EQ(fault_of(target("")), R"(["body"] value_error)");
  EXPECT_EQ(fault_of(target(R"(,"base_model":"m","model_path":"p")")), R"(["body"] value_error)");
  EXPECT_EQ(fault_of(target(R"(,"base_model":"")")), R"(["body","base_model"] string_too_short)");
  EXPECT_EQ(accepted(target(R"(,"base_model":"m")")).base_model, "m");
  EXPECT_EQ(accepted(target(R"(,"model_path":"tinker://m/ck","base_model":null)")).model_path, "tinker://m/ck");
  EXPECT_EQ(accepted(target(seq_id + "9223372036854775807")).seq_id, 9223372036854775807);
  EXPECT_EQ(fault_of(target(seq_id + "9223372036854775808")), R"(["body","seq_id"] less_than_equal)");
  EXPECT_EQ(fault_of(target(seq_id + "-1")), R"(["body","seq_id"] greater_than_equal)");
  EXPECT_EQ(refusal_of(target(R"(,"sampling_session_id":"a:b","seq_id":0)")),
            "sampling_session_id must not contain ':' (the routing-key delimiter)");
}

// The spellings that cases.md C3 lists, for the number that a body holds.
TEST(SampleRequest, C3_SequenceNumbersAsTextAreDecimalOrRefused) {
  const auto with = [](const std::string& seq_id) { return body().replace(body().find("3}"), 1, seq_id); };

  EXPECT_EQ(accepted(with(R"("12")")).seq_id, 12);
  EXPECT_EQ(accepted(with(R"(" +12 ")")).seq_id, 12);
  for (const char* text : {R"("")", R"(" ")", R"("1_0")", R"("+-1")", R"("0x1")", R"("１２")", R"("12a")", R"("1 2")"})
    EXPECT_EQ(fault_of(with(text)), R"(["body","seq_id"] int_parsing)") << text;
  EXPECT_NE(fault_of(with(R"("99999999999999999999")")), "accepted");
}

TEST(SampleRequest, GathersAllFaults) {
  const auto request =
      parse_sample_request(R"({"num_samples":0,"sampling_params":{"temperature":"x","top_p":2},"type":"other"})");

  ASSERT_FALSE(request);
  std::vector<std::string> places;
  for (const base::Fault& fault : request.error().faults) places.push_back(fault.loc);
  EXPECT_EQ(places, (std::vector<std::string>{R"(["body","num_samples"])", R"(["body","prompt"])", in_params("temperature"),
                                              in_params("top_p"), R"(["body","type"])"}));
}

TEST(SampleRequest, RefusesWhatIsNoObjectOfTheRightShape) {
  EXPECT_EQ(fault_of(""), R"(["body"] missing)");
  EXPECT_TRUE(fault_of("{").ends_with("json_invalid"));
  EXPECT_TRUE(fault_of("{} x").ends_with("json_invalid"));
  EXPECT_TRUE(fault_of("{\"\xFF\":1}").ends_with("json_invalid"));
  EXPECT_TRUE(fault_of(std::string(1'000'000, '[')).ends_with("json_invalid"));
  EXPECT_EQ(fault_of(R"({"prompt":null,"sampling_params":{"max_tokens":1},"base_model":"m"})"),
            R"(["body","prompt"] model_attributes_type)");
  EXPECT_EQ(fault_of(R"({"prompt":{"chunks":{}},"sampling_params":{"max_tokens":1},"base_model":"m"})"),
            R"(["body","prompt","chunks"] list_type)");
  EXPECT_EQ(fault_of(R"({"prompt":{"chunks":[]},"sampling_params":[],"base_model":"m"})"),
            R"(["body","sampling_params"] model_attributes_type)");
}

TEST(SampleRequest, SurvivesDeepNestingInWhatItIgnores) {
  const std::string deep = std::string(500'000, '[') + std::string(500'000, ']');

  EXPECT_EQ(refusal_of(body("", ",\"extra\":" + deep)), "accepted");
  EXPECT_EQ(fault_of(body("", ",\"num_samples\":" + deep)), R"(["body","num_samples"] int_type)");
}

TEST(SampleRequest, OfAKeyThatStandsTwiceTheLastCounts) {
  const SampleRequest request = accepted(body(R"(,"seed":18446744073709551616,"seed":36893488147419103232)", R"(,"seq_id":4)"));

  EXPECT_EQ(request.seed, "36893488147419103232");
  EXPECT_EQ(request.seq_id, 4);
}

// Recorded bodies. Their sampling sessions have ids with ':' of another server's making, which are refused here.
std::string with_own_session_id(std::string text) {
  constexpr std::string_view kForeign = "sess-0001:sample:";
  for (std::size_t at = text.find(kForeign); at != std::string::npos; at = text.find(kForeign))
    text.replace(at, kForeign.size(), "sampling_");
  return text;
}

TEST(SampleRequest, EveryRecordedBodyIsTakenOrRefusedByName) {
  const std::vector<std::pair<std::string, std::string>> refused = {
      {"asample_minimal", "max_tokens"},
      {"asample_image_png", "prompt.chunks[1]"},
      {"asample_image_pointer", "prompt.chunks[1]"},
      {"asample_topk_sample", "topk_sample_logprobs"},
      {"asample_target_prompt_logprobs", "target_prompt_logprobs"},
      {"asample_target_sparse", "target_prompt_logprobs"},
      {"asample_alt_tokens", "prompt_alt_tokens_k"},
      {"asample_stability", "record_stability_info"}};
  int taken = 0;
  for (const auto& path : support::list_vectors("", ".json")) {
    if (!path.string().starts_with("asample_")) continue;
    const std::string refusal = refusal_of(with_own_session_id(read_vector(path)));
    const auto expected = std::ranges::find(refused, path.stem().string(), &std::pair<std::string, std::string>::first);
    if (expected == refused.end()) {
      EXPECT_EQ(refusal, "accepted") << path;
      ++taken;
    } else {
      EXPECT_TRUE(refusal.starts_with(expected->second)) << path << ": " << refusal;
    }
  }
  EXPECT_EQ(taken, 12);
}

TEST(SampleRequest, C9_BodiesOfEverySdkAreTaken) {
  for (const auto& [version, bodies] :
       std::vector<std::pair<std::string, int>>{{"0.16.1", 3}, {"0.18.0", 3}, {"0.25.0", 3}, {"0.38.0", 3}}) {
    std::ifstream lines(std::string(TINKER_VECTORS) + "/exchange_" + version + ".jsonl");
    int taken = 0;
    for (std::string line; std::getline(lines, line);) {
      rapidjson::Document exchange;
      exchange.Parse(line.data(), line.size());
      const auto& sent = exchange["request"];
      if (!std::string(sent["target"].GetString()).ends_with("/asample")) continue;
      const SampleRequest request = accepted(with_own_session_id(sent["body"].GetString()));
      EXPECT_EQ(request.prompt_tokens, (std::vector<std::int32_t>{1, 2, 3, 4}));
      EXPECT_EQ(request.temperature, 1.0);
      EXPECT_EQ(request.top_p, 1.0);
      EXPECT_EQ(request.top_k, -1);
      ++taken;
    }
    EXPECT_GE(taken, bodies) << version;
  }
}

TEST(SampleRequest, C9_NullsMeanAbsent) {
  const SampleRequest request = accepted(body(
      R"(,"seed":null,"stop":null,"temperature":null,"top_k":null,"top_p":null)",
      R"(,"num_samples":null,"base_model":null,"model_path":null,"prompt_logprobs":null,"topk_prompt_logprobs":null,"type":null)"));

  EXPECT_EQ(request.temperature, 1.0);
  EXPECT_EQ(request.num_samples, 1u);
  EXPECT_EQ(request.seed, std::nullopt);
}

}  // namespace
}  // namespace tinker::codec
