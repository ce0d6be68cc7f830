// SPDX-License-Identifier: Apache-2.0
#include "codec/sample_request.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include "base/bytes.h"
#include "codec/field_reader.h"
#include "codec/json_cursor.h"
#include "codec/prompt_aside.h"

namespace tinker::codec {
namespace {

using Json = rapidjson::Value;
using base::Code;
using base::fail;

constexpr std::int64_t kInt32Max = 0x7FFFFFFF;
constexpr std::int64_t kInt32Min = -kInt32Max - 1;
constexpr std::int64_t kUint32Max = 0xFFFFFFFF;
constexpr std::int64_t kMostSamples = 16384;  // vLLM's own limit of n (vectors/vllm/README.md §2)

// What is understood but not done is refused by its name (cases.md U11); the first one found is told.
class Refusal {
 public:
  void because(std::string text) {
    if (text_.empty()) text_ = std::move(text);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// The number after the last "seed" of the last "sampling_params", as it stands in the body: an integer beyond 64 bits has no
// other exact form.
std::string_view seed_text(std::string_view body) {
  std::string_view found;
  JsonCursor cursor(body.data(), body.data() + body.size());
  cursor.each_member([&](std::string_view key) {
    if (key != "sampling_params" || cursor.peek() != '{') return cursor.skip_value();
    return cursor.each_member([&](std::string_view parameter) {
      cursor.peek();
      const char* begin = cursor.at();
      if (!cursor.skip_value()) return false;
      if (parameter == "seed") found = {begin, static_cast<std::size_t>(cursor.at() - begin)};
      return true;
    });
  });
  return found;
}

// Any integer, as decimal text (design.md §4).
std::optional<std::string> read_seed(FieldReader& params, std::string_view body) {
  const Json* seed = params.find("seed");
  if (seed == nullptr) return std::nullopt;
  if (seed->IsUint64()) return std::to_string(seed->GetUint64());
  if (seed->IsDouble() && std::fabs(seed->GetDouble()) >= 0x1p63) {
    const std::string padded = std::string(body) + std::string(base::Buffer::kPadding, ' ');
    const std::string_view text = seed_text(std::string_view(padded).substr(0, body.size()));
    if (all_digits(text.starts_with('-') ? text.substr(1) : text)) return std::string(text);
    params.fault("int_parsing_size", params.at("seed"), "Input should be an integer in decimal digits", *seed);
    return std::nullopt;
  }
  const auto number = params.integer_of(*seed, params.at("seed"), {});
  return number ? std::optional(std::to_string(*number)) : std::nullopt;
}

void read_stop(FieldReader& params, SampleRequest& request) {
  const Json* stop = params.find("stop");
  if (stop == nullptr) return;
  const Location location = params.at("stop");
  if (stop->IsString()) {
    request.stop = std::vector<std::string>{std::string(stop->GetString(), stop->GetStringLength())};
    return;
  }
  if (!stop->IsArray()) return params.fault("list_type", location, "Input should be a valid list", *stop);
  if (stop->Empty()) {
    request.ignore_eos = true;
    return;
  }
  if ((*stop)[0].IsString()) {
    std::vector<std::string> texts;
    for (rapidjson::SizeType i = 0; i < stop->Size(); ++i)
      texts.push_back(params.text_of((*stop)[i], location.at(i)).value_or(""));
    request.stop = std::move(texts);
  } else {
    std::vector<std::int32_t> tokens;
    for (rapidjson::SizeType i = 0; i < stop->Size(); ++i) {
      const Json& token = (*stop)[i];
      if (token.IsString()) {
        params.fault("int_type", location.at(i),
                     "Input should be a valid integer, as the first stop is: a list of texts or of token ids", token);
      } else {
        tokens.push_back(
            static_cast<std::int32_t>(params.integer_of(token, location.at(i), {kInt32Min, kInt32Max}).value_or(0)));
      }
    }
    request.stop = std::move(tokens);
  }
}

void read_sampling_params(FieldReader& params, std::string_view body, SampleRequest& request, Refusal& refusal) {
  const auto max_tokens = params.optional_integer("max_tokens", {kInt32Min, kInt32Max});
  if (params.find("max_tokens") == nullptr) {
    refusal.because("max_tokens is currently required");
  } else if (max_tokens && *max_tokens <= 0) {
    refusal.because("max_tokens must be a positive number");
  }
  request.max_tokens = static_cast<std::uint32_t>(max_tokens.value_or(0));
  request.seed = read_seed(params, body);
  read_stop(params, request);
  request.temperature = params.optional_number("temperature").value_or(1.0);
  if (request.temperature < 0) {
    params.fault("greater_than_equal", params.at("temperature"), "Input should be greater than or equal to 0",
                 *params.find("temperature"), R"({"ge":0.0})");
  }
  request.top_k = params.optional_integer("top_k", {-1, kInt32Max}).value_or(-1);
  request.top_p = params.optional_number("top_p").value_or(1.0);
  if (request.top_p <= 0)
    params.fault("greater_than", params.at("top_p"), "Input should be greater than 0", *params.find("top_p"), R"({"gt":0.0})");
  if (request.top_p > 1) {
    params.fault("less_than_equal", params.at("top_p"), "Input should be less than or equal to 1", *params.find("top_p"),
                 R"({"le":1.0})");
  }
}

// The kind of a chunk: its `type`, or told by its keys (server-contract.md §1.3; SDK 0.16.1 sends no type).
std::string chunk_kind(FieldReader& chunk, const Json& value) {
  if (chunk.find("type") != nullptr) return chunk.text("type");
  std::string kind;
  int kinds = 0;
  for (const auto& [key, name] :
       {std::pair{"tokens", "encoded_text"}, {"location", "image_asset_pointer"}, {"data", "image"}, {"dmel", "dmel"}}) {
    if (chunk.find(key) == nullptr) continue;
    kind = name;
    ++kinds;
  }
  if (kinds > 1) {
    chunk.fault("union_tag_not_found", chunk.location(),
                "Unable to tell the kind of the chunk: give a 'type', or one of tokens, data, location and dmel", value);
    return {};
  }
  return kinds == 0 ? "encoded_text" : kind;
}

void read_tokens(FieldReader& chunk, std::vector<std::int32_t>& tokens) {
  const Json* list = chunk.array("tokens");
  if (list == nullptr) return;
  tokens.reserve(tokens.size() + list->Size());
  for (rapidjson::SizeType i = 0; i < list->Size(); ++i) {
    const Json& token = (*list)[i];
    if (token.IsInt() && token.GetInt() >= 0) {
      tokens.push_back(token.GetInt());
      continue;
    }
    tokens.push_back(static_cast<std::int32_t>(chunk.integer_of(token, chunk.at("tokens").at(i), {0, kInt32Max}).value_or(0)));
  }
}

void read_prompt(FieldReader& body, const PromptAside& aside, std::vector<base::Fault>& faults, SampleRequest& request,
                 Refusal& refusal) {
  const Json* value = body.required("prompt");
  if (value == nullptr) return;
  FieldReader prompt(*value, body.at("prompt"), faults);
  const Json* chunks = prompt.array("chunks");
  if (chunks == nullptr) return;
  for (rapidjson::SizeType i = 0; i < chunks->Size(); ++i) {
    FieldReader chunk((*chunks)[i], prompt.at("chunks").at(i), faults);
    if (!(*chunks)[i].IsObject()) continue;
    const std::string kind = chunk_kind(chunk, (*chunks)[i]);
    if (kind == "encoded_text" && i < aside.tokens.size() && aside.tokens[i]) {
      request.prompt_tokens.insert(request.prompt_tokens.end(), aside.tokens[i]->begin(), aside.tokens[i]->end());
    } else if (kind == "encoded_text") {
      read_tokens(chunk, request.prompt_tokens);
    } else if (kind == "image" || kind == "image_asset_pointer" || kind == "dmel") {
      refusal.because("prompt.chunks[" + std::to_string(i) + "]: chunks of type '" + kind +
                      "' are not forwarded by this server; send encoded_text only");
    } else if (!kind.empty()) {
      constexpr const char* kTags = "'encoded_text', 'image', 'image_asset_pointer', 'dmel'";
      chunk.fault("union_tag_invalid", chunk.location(),
                  "Input tag '" + kind.substr(0, 64) + "' found using 'type' does not match any of the expected tags: " + kTags,
                  (*chunks)[i]);
    }
  }
}

// Which sampler, and which request of its client (server-contract.md §1.3 (16), checks 1 and 2).
// The peer looks across fields only when each of them is right, so this comes last.
void read_target(FieldReader& body, const Json& value, const std::vector<base::Fault>& faults, SampleRequest& request,
                 Refusal& refusal) {
  request.base_model = body.optional_text("base_model");
  request.model_path = body.optional_text("model_path");
  request.seq_id = body.optional_integer("seq_id", {.least = 0});
  const auto session = body.optional_text("sampling_session_id");
  const auto refuse = [&](const char* why) {
    if (faults.empty())
      body.fault("value_error", body.location(), std::string("Value error, ") + why, value, R"({"error":{}})");
  };
  if (session && body.find("seq_id") == nullptr) return refuse("'seq_id' must be provided when 'sampling_session_id' is used");
  if (!session && request.base_model.has_value() == request.model_path.has_value()) {
    return refuse("When 'sampling_session_id' is not provided, exactly one of 'base_model' or 'model_path' must be provided");
  }
  if (session && session->empty()) {
    return body.fault("string_too_short", body.at("sampling_session_id"), "String should have at least 1 character",
                      *body.find("sampling_session_id"), R"({"min_length":1})");
  }
  if (!session && request.base_model && request.base_model->empty()) {
    return body.fault("string_too_short", body.at("base_model"), "String should have at least 1 character",
                      *body.find("base_model"), R"({"min_length":1})");
  }
  if (session && session->find(':') != std::string::npos)
    refusal.because("sampling_session_id must not contain ':' (the routing-key delimiter)");
  request.sampling_session_id = session.value_or("");
}

void read_logprobs_options(FieldReader& body, SampleRequest& request) {
  request.prompt_logprobs = body.optional_boolean("prompt_logprobs").value_or(false);
  request.topk_prompt_logprobs =
      static_cast<std::uint32_t>(body.optional_integer("topk_prompt_logprobs", {0, kUint32Max}).value_or(0));
  if (const auto last_n = body.optional_integer("prompt_logprobs_last_n", {1, kUint32Max})) {
    request.prompt_logprobs_last_n = static_cast<std::uint32_t>(*last_n);
    if (!request.prompt_logprobs && request.topk_prompt_logprobs == 0) {
      body.fault("value_error", body.at("prompt_logprobs_last_n"), "Value error, prompt_logprobs_last_n needs prompt_logprobs",
                 *body.find("prompt_logprobs_last_n"), R"({"error":{}})");
    }
  }
}

// Options of newer SDKs that the upstream cannot be asked for.
void refuse_options(FieldReader& body, Refusal& refusal) {
  const auto not_done = [&](const char* name) {
    refusal.because(std::string(name) + " is not supported by this server; leave it at its default");
  };
  for (const char* name : {"topk_sample_logprobs", "prompt_alt_tokens_k"}) {
    if (body.optional_integer(name, {0, kUint32Max}).value_or(0) > 0) not_done(name);
  }
  if (body.find("target_prompt_logprobs") != nullptr) not_done("target_prompt_logprobs");
  if (body.optional_boolean("record_stability_info").value_or(false)) not_done("record_stability_info");
}

// Reads `text`, of which the lists of tokens in `aside` were taken out.
base::Result<SampleRequest> parse(std::string_view text, const PromptAside& aside) {
  alignas(std::max_align_t) std::array<char, 8192> memory;  // enough for a short prompt, without an allocation
  rapidjson::MemoryPoolAllocator<> pool(memory.data(), memory.size());
  rapidjson::Document document(&pool);
  if (auto error = parse_body(text, document)) return tl::unexpected(std::move(*error));

  SampleRequest request;
  Refusal refusal;
  std::vector<base::Fault> faults;
  FieldReader body(document, {}, faults);
  request.num_samples = static_cast<std::uint32_t>(body.optional_integer("num_samples", {1, kMostSamples}).value_or(1));
  read_prompt(body, aside, faults, request, refusal);
  if (const Json* value = body.required("sampling_params")) {
    FieldReader params(*value, body.at("sampling_params"), faults);
    if (value->IsObject()) read_sampling_params(params, text, request, refusal);
  }
  read_logprobs_options(body, request);
  refuse_options(body, refusal);
  body.literal("type", "sample");
  read_target(body, document, faults, request, refusal);

  if (!faults.empty()) return tl::unexpected(unprocessable(std::move(faults)));
  if (!refusal.text().empty()) return fail(Code::invalid_argument, refusal.text());
  return request;
}

}  // namespace

base::Result<SampleRequest> parse_sample_request(std::string_view body) {
  constexpr std::size_t kLongBytes = 2048;
  if (body.size() > kLongBytes) {
    if (const auto aside = set_prompt_aside(body)) {
      if (auto request = parse(aside->rest, *aside)) return request;
    }
  }
  return parse(body, {});  // a fault shows the body as it was sent
}

}  // namespace tinker::codec
