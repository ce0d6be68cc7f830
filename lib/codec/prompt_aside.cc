// SPDX-License-Identifier: Apache-2.0
#include "codec/prompt_aside.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/bytes.h"
#include "codec/json_cursor.h"
#include "codec/number_array.h"

namespace tinker::codec {
namespace {

class Reader {
 public:
  explicit Reader(const base::Buffer& body) : cursor_(body.data(), body.data() + body.size()), copied_(body.data()) {}

  bool read() {
    const bool whole = cursor_.each_member([&](std::string_view key) { return key == "prompt" ? read_prompt() : skip(); });
    if (!whole || cursor_.peek() != '\0' || cursor_.at() != cursor_.end()) return false;
    copy_up_to(cursor_.end());
    return true;
  }

  PromptAside aside;

 private:
  bool skip() { return cursor_.skip_value(); }

  bool read_prompt() {
    aside.tokens.clear();
    if (cursor_.peek() != '{') return skip();
    return cursor_.each_member([&](std::string_view key) { return key == "chunks" ? read_chunks() : skip(); });
  }

  bool read_chunks() {
    aside.tokens.clear();
    if (cursor_.peek() != '[') return skip();
    return cursor_.each_element([&] {
      aside.tokens.emplace_back();
      if (cursor_.peek() != '{') return skip();
      return cursor_.each_member([&](std::string_view key) { return key == "tokens" ? read_tokens() : skip(); });
    });
  }

  bool read_tokens() {
    aside.tokens.back().reset();
    if (cursor_.peek() != '[') return skip();
    const char* list = cursor_.at() + 1;
    base::Buffer bytes;
    const auto behind = scan_int32_array({list, static_cast<std::size_t>(cursor_.end() - list)}, bytes);
    std::vector<std::int32_t> tokens(bytes.size() / sizeof(std::int32_t));
    if (!tokens.empty()) std::memcpy(tokens.data(), bytes.data(), bytes.size());
    if (!behind || std::ranges::any_of(tokens, [](std::int32_t token) { return token < 0; })) return skip();
    aside.tokens.back() = std::move(tokens);
    copy_up_to(list);
    copied_ = *behind - 1;
    cursor_.move_to(*behind);
    return true;
  }

  void copy_up_to(const char* at) {
    aside.rest.append(copied_, at);
    copied_ = at;
  }

  JsonCursor cursor_;
  const char* copied_;  // what stands before it is in `rest`
};

}  // namespace

std::optional<PromptAside> set_prompt_aside(std::string_view body) {
  base::Buffer padded;  // the cursor and the scanner read behind the end
  padded.append(body);
  Reader reader(padded);
  if (!reader.read()) return std::nullopt;
  return std::move(reader.aside);
}

}  // namespace tinker::codec
