// SPDX-License-Identifier: Apache-2.0
#include "codec/prompt_logprobs.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <tuple>

#include "codec/completion.h"
#include "codec/json_number.h"
#include "codec/protobuf_wire.h"

namespace tinker::codec {
namespace {

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
constexpr float kUnusedLogprob = -99999.0F;

bool take_logprob(JsonCursor& cursor, float& logprob) {
  logprob = kNone;
  if (cursor.take_null()) return true;
  const char* behind = scan_float(cursor.at(), cursor.end(), logprob);
  if (behind == nullptr) return false;
  cursor.move_to(behind);
  return true;
}

// NaN is less likely than anything.
bool more_likely(float a, float b) { return a > b || (std::isnan(b) && !std::isnan(a)); }

template <class Number>
std::string_view bytes_of(const std::vector<Number>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)};
}

}  // namespace

bool PromptLogprobs::read(JsonCursor& cursor, const CompletionWants& wants) {
  present_ = false;
  own_.assign(wants.prompt_tokens.size(), kNone);
  topk_.assign(wants.prompt_tokens.size(), {});
  if (cursor.take_null()) return true;
  present_ = true;
  const std::size_t first_wanted =
      wants.prompt_tokens.size() -
      std::min<std::size_t>(wants.prompt_tokens.size(), wants.prompt_logprobs_last_n.value_or(UINT32_MAX));
  std::vector<Entry> row;
  std::size_t position = 0;
  return cursor.each_element([&] {
    row.clear();
    if (!cursor.take_null() && !read_row(cursor, row)) return false;
    const std::size_t at = position++;
    if (at >= wants.prompt_tokens.size() || at < first_wanted) return true;
    const auto own = std::ranges::find(row, wants.prompt_tokens[at], &Entry::first);
    if (own != row.end()) own_[at] = own->second;
    if (wants.topk_prompt_logprobs == 0) return true;
    std::ranges::stable_sort(row, more_likely, &Entry::second);
    row.resize(std::min<std::size_t>(row.size(), wants.topk_prompt_logprobs));
    topk_[at] = row;
    return true;
  });
}

bool PromptLogprobs::read_row(JsonCursor& cursor, std::vector<Entry>& row) {
  return cursor.each_member([&](std::string_view token_text) {
    Entry entry{0, kNone};
    const auto [end, error] = std::from_chars(token_text.data(), token_text.data() + token_text.size(), entry.first);
    if (error != std::errc{} || end != token_text.data() + token_text.size()) return false;
    const bool read = cursor.each_member(
        [&](std::string_view key) { return key == "logprob" ? take_logprob(cursor, entry.second) : cursor.skip_value(); });
    row.push_back(entry);
    return read;
  });
}

std::size_t PromptLogprobs::widest_row() const {
  std::size_t k = 1;
  for (const auto& row : topk_) k = std::max(k, row.size());
  return k;
}

std::size_t PromptLogprobs::message_size(const CompletionWants& wants) const {
  constexpr std::size_t kHeads = 64;  // tags, lengths, k
  if (!present_) return 0;
  return kHeads + 4 * own_.size() + (wants.topk_prompt_logprobs == 0 ? 0 : 8 * own_.size() * widest_row());
}

void PromptLogprobs::append_to(base::Buffer& sample_response, const CompletionWants& wants) const {
  if (!present_) return;
  append_bytes_field(2, bytes_of(own_), sample_response);
  if (wants.topk_prompt_logprobs == 0 || own_.empty()) return;

  const std::size_t k = widest_row();
  std::vector<std::int32_t> tokens(topk_.size() * k, 0);
  std::vector<float> logprobs(topk_.size() * k, kUnusedLogprob);
  for (std::size_t i = 0; i < topk_.size(); ++i) {
    for (std::size_t j = 0; j < topk_[i].size(); ++j) std::tie(tokens[i * k + j], logprobs[i * k + j]) = topk_[i][j];
  }
  base::Buffer topk;
  append_bytes_field(1, bytes_of(tokens), topk);
  append_bytes_field(2, bytes_of(logprobs), topk);
  append_varint_field(3, k, topk);
  append_varint_field(4, topk_.size(), topk);
  append_bytes_field(3, topk.view(), sample_response);
}

}  // namespace tinker::codec
