// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tinker::load {

// Bodies of the calls that a sampling client makes, as the SDK writes them (wire.md §3).
std::string create_session_body();
std::string create_sampling_session_body(std::string_view session, std::string_view base_model);
std::string retrieve_future_body(std::string_view request_id);
// `at_once`: an answer without a wait, which only brings the acknowledgements.
std::string retrieve_futures_body(std::string_view sampling_session, std::uint64_t prev_cursor, bool at_once,
                                  std::span<const std::string> retrieved);

// The answer to asample.
struct Promise {
  std::string request_id;         // empty: it is none
  bool has_sequence_ids = false;  // `sample_sequence_ids` is there
  bool fits = false;              // and is a list of so many texts, none empty, none twice
};
Promise read_promise(std::string_view json, std::uint32_t num_samples);

// The answer to retrieve_futures.
struct Completions {
  std::uint64_t cursor = 0;
  std::vector<std::string> request_ids;  // finished or failed
};
std::optional<Completions> read_completions(std::string_view json);

// Writes the bodies of asample; all but the prompt and the number of the request is made once.
class AsampleBody {
 public:
  AsampleBody(std::string_view sampling_session, std::uint32_t num_samples, std::size_t max_tokens);

  std::string write(std::uint64_t seq_id, std::span<const std::int32_t> prompt) const;

 private:
  const std::string before_prompt_, before_seq_id_;
};

// The text of a member of a JSON object; empty when it is none, or has no such text.
std::string text_member(std::string_view json, const char* name);

}  // namespace tinker::load
