// SPDX-License-Identifier: Apache-2.0
#include "codec/completion.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include "codec/json_cursor.h"
#include "codec/number_array.h"
#include "codec/prompt_logprobs.h"
#include "codec/protobuf_wire.h"

namespace tinker::codec {
namespace {

using base::Code;
using base::fail;

struct Choice {
  std::int64_t index = 0;
  bool length = true;  // anything but a stop
  bool aborted = false;
  bool has_tokens = false;
  bool has_logprobs = false;
  base::Buffer tokens;    // [n] int32
  base::Buffer logprobs;  // [n] float32
};

// Reads one answer; what is wrong with it, in words, is in `fault`.
class CompletionReader {
 public:
  CompletionReader(const base::Buffer& body, const CompletionWants& wants)
      : cursor_(body.data(), body.data() + body.size()), wants_(wants) {}

  bool read() {
    const bool whole =
        cursor_.each_member([&](std::string_view key) { return key == "choices" ? read_choices() : cursor_.skip_value(); });
    return whole && cursor_.peek() == '\0' && cursor_.at() == cursor_.end();
  }

  std::vector<Choice> choices;
  PromptLogprobs prompt_logprobs;
  std::string fault;
  std::size_t offset() const { return cursor_.offset(); }

 private:
  bool read_choices() {
    choices.clear();
    prompt_logprobs = {};
    if (cursor_.take_null()) return true;
    return cursor_.each_element([&] {
      choices.emplace_back().index = static_cast<std::int64_t>(choices.size()) - 1;
      return read_choice(choices.back());
    });
  }

  bool read_choice(Choice& choice) {
    return cursor_.each_member([&](std::string_view key) {
      if (key == "token_ids") return read_array(choice.tokens, choice.has_tokens, scan_int32_array);
      if (key == "logprobs") return read_logprobs(choice);
      if (key == "finish_reason") return read_finish_reason(choice);
      if (key == "index") return read_index(choice);
      if (key == "prompt_logprobs" && wants_.prompt_logprobs && choices.size() == 1)
        return prompt_logprobs.read(cursor_, wants_);
      return cursor_.skip_value();
    });
  }

  bool read_logprobs(Choice& choice) {
    if (cursor_.take_null()) return true;
    return cursor_.each_member([&](std::string_view key) {
      return key == "token_logprobs" ? read_array(choice.logprobs, choice.has_logprobs, scan_float_array)
                                     : cursor_.skip_value();
    });
  }

  template <class Scan>
  bool read_array(base::Buffer& numbers, bool& present, Scan scan) {
    numbers.clear();
    present = false;
    if (cursor_.take_null()) return true;
    if (!cursor_.take('[')) return false;
    present = true;
    const auto behind = scan({cursor_.at(), static_cast<std::size_t>(cursor_.end() - cursor_.at())}, numbers);
    if (!behind) {
      fault = behind.error().text;
      return false;
    }
    cursor_.move_to(*behind);
    return true;
  }

  bool read_finish_reason(Choice& choice) {
    if (cursor_.take_null()) return true;
    std::string_view reason;
    if (!cursor_.take_string(reason)) return false;
    choice.length = reason != "stop" && reason != "stop_token";
    choice.aborted = reason == "abort";
    return true;
  }

  bool read_index(Choice& choice) {
    cursor_.peek();
    const auto [behind, error] = std::from_chars(cursor_.at(), cursor_.end(), choice.index);
    if (error != std::errc{}) return false;
    cursor_.move_to(behind);
    return true;
  }

  JsonCursor cursor_;
  const CompletionWants& wants_;
};

tl::unexpected<base::Error> broken(std::string what, const base::Buffer& body) {
  constexpr std::size_t kShown = 512;
  return fail(Code::unavailable,
              "the inference server's answer " + std::move(what) + ": " + std::string(body.view().substr(0, kShown)));
}

// What is wrong with a choice that was read whole; empty when nothing is.
std::string fault_of(const Choice& choice) {
  const auto which = [&] { return "has in choice " + std::to_string(choice.index) + " "; };
  if (!choice.has_tokens) return which() + "no token_ids";
  if (choice.has_logprobs && !choice.logprobs.empty() && choice.logprobs.size() != choice.tokens.size()) {
    return which() + std::to_string(choice.tokens.size() / 4) + " tokens and " + std::to_string(choice.logprobs.size() / 4) +
           " logprobs";
  }
  return {};
}

// Logprobs that are absent become zeros. True when there were tokens without any.
bool fill_logprobs(Choice& choice) {
  if (choice.logprobs.size() == choice.tokens.size()) return false;
  choice.has_logprobs = true;
  choice.logprobs.resize(choice.tokens.size());
  std::fill_n(choice.logprobs.data(), choice.logprobs.size(), '\0');
  return true;
}

std::size_t message_size(const Choice& choice) {
  return (choice.length ? 2 : 0) + (choice.tokens.empty() ? 0 : length_field_size(choice.tokens.size())) +
         (choice.has_logprobs ? length_field_size(choice.logprobs.size()) : 0);
}

// A SampledSequence; proto3 leaves out a stop reason of 0 and tokens that are none.
void append_sequence(const Choice& choice, base::Buffer& out) {
  append_length_field(1, message_size(choice), out);
  if (choice.length) append_varint_field(1, 1, out);
  if (!choice.tokens.empty()) append_bytes_field(2, choice.tokens.view(), out);
  if (choice.has_logprobs) append_bytes_field(3, choice.logprobs.view(), out);
}

}  // namespace

CompletionWants wants_of(const SampleRequest& request) {
  CompletionWants wants{.num_samples = request.num_samples,
                        .prompt_logprobs = request.prompt_logprobs || request.topk_prompt_logprobs > 0,
                        .topk_prompt_logprobs = request.topk_prompt_logprobs,
                        .prompt_logprobs_last_n = request.prompt_logprobs_last_n,
                        .prompt_tokens = {}};
  if (wants.prompt_logprobs) wants.prompt_tokens = request.prompt_tokens;
  return wants;
}

base::Result<Completion> decode_completion(const base::Buffer& body, const CompletionWants& wants) {
  CompletionReader reader(body, wants);
  if (!reader.read()) {
    return broken(reader.fault.empty() ? "is not JSON, or was cut short, at byte " + std::to_string(reader.offset())
                                       : "has " + reader.fault,
                  body);
  }
  if (reader.choices.size() != wants.num_samples) {
    return broken("has " + std::to_string(reader.choices.size()) + " choices where " + std::to_string(wants.num_samples) +
                      " were asked for",
                  body);
  }
  std::ranges::stable_sort(reader.choices, {}, &Choice::index);

  Completion completion;
  completion.logprobs_missing = wants.prompt_logprobs && !reader.prompt_logprobs.present();
  std::size_t size = reader.prompt_logprobs.message_size(wants);
  for (Choice& choice : reader.choices) {
    if (std::string fault = fault_of(choice); !fault.empty()) return broken(std::move(fault), body);
    completion.aborted |= choice.aborted;
    completion.logprobs_missing |= fill_logprobs(choice);
    completion.tokens += choice.tokens.size() / 4;
    size += length_field_size(message_size(choice));
  }
  base::Buffer sample_response;
  sample_response.reserve(size);
  for (const Choice& choice : reader.choices) append_sequence(choice, sample_response);
  reader.prompt_logprobs.append_to(sample_response, wants);
  completion.sample_response = base::SharedBytes(std::move(sample_response));
  return completion;
}

}  // namespace tinker::codec
