// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/asked.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/bytes.h"
#include "codec/json_cursor.h"
#include "tinker-load/sample_key.h"

namespace tinker::load {
namespace {

constexpr std::uint32_t kMostChoices = 16384;  // vLLM's limit

template <class Number>
bool take_number(codec::JsonCursor& cursor, Number& number) {
  cursor.peek();
  const auto [behind, error] = std::from_chars(cursor.at(), cursor.end(), number);
  cursor.move_to(behind);
  return error == std::errc{};
}

// The first tokens of the prompt for the key, the rest as text.
bool take_prompt(codec::JsonCursor& cursor, Asked& asked, std::string_view& prompt) {
  cursor.peek();
  const char* const begin = cursor.at();
  std::vector<std::int32_t> first;
  if (!cursor.take('[')) return false;
  while (first.size() < kKeyTokens && cursor.peek() != ']') {
    if (!take_number(cursor, first.emplace_back())) return false;
    cursor.take(',');
  }
  if (first.empty()) return false;
  cursor.move_to(begin);
  if (!cursor.skip_value()) return false;
  prompt = {begin, cursor.at()};
  asked.key = key_of(first);
  asked.prompt_tokens = static_cast<std::size_t>(std::ranges::count(prompt, ',')) + 1;
  return true;
}

}  // namespace

base::Result<Asked> read_asked(std::string_view body) {
  base::Buffer text;
  text.append(body);
  codec::JsonCursor cursor(text.data(), text.data() + text.size());
  Asked asked;
  std::string_view prompt;
  bool show_prompt = false;
  const bool read = cursor.each_member([&](std::string_view name) {
    if (name == "prompt") return take_prompt(cursor, asked, prompt);
    if (name == "n") return take_number(cursor, asked.choices);
    if (name == "return_token_ids") show_prompt = cursor.peek() == 't';
    if (name != "model") return cursor.skip_value();
    std::string_view model;
    if (!cursor.take_string(model)) return false;
    asked.model = model;
    return true;
  });
  if (!read || prompt.empty() || cursor.peek() != '\0' || cursor.at() != cursor.end()) {
    return base::fail(base::Code::invalid_argument, "expected a JSON object with a `prompt` of token ids; stopped at byte " +
                                                        std::to_string(cursor.offset()));
  }
  if (asked.choices == 0 || asked.choices > kMostChoices) {
    return base::fail(base::Code::invalid_argument,
                      "n must be between 1 and " + std::to_string(kMostChoices) + ", got " + std::to_string(asked.choices));
  }
  asked.prompt_token_ids = show_prompt ? prompt : "null";
  return asked;
}

}  // namespace tinker::load
