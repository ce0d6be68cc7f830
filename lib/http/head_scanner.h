// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace tinker::http {

// Finds the end of a message's head in bytes that come in pieces, each byte looked at once, and refuses at once what would let
// two programs disagree about where a line ends (RFC 9112 §2.2, §5.2): Beast waits for an end that never comes, or folds.
class HeadScanner {
 public:
  enum class State {
    more,            // all given bytes are part of the head, and it is not whole
    whole,           // the head ends within the given bytes; size() says where
    bare_line_feed,  // a line feed without a carriage return
    folded,          // obs-fold: a line that begins with a blank
  };

  // `bytes` follow those of the call before. Not to be called again after anything but `more`.
  State feed(std::string_view bytes);

  // Bytes of the head so far; once it is whole, with its empty line.
  std::size_t size() const { return size_; }
  // Bytes before the first line: one empty line, which some clients send after a body (RFC 9112 §2.2).
  std::size_t lead() const { return lead_; }

 private:
  std::size_t size_ = 0;
  std::size_t line_ = 0;  // bytes of the line that has not ended
  std::size_t lead_ = 0;
  bool started_ = false;  // a line that is not empty has begun
  char last_ = 0;         // of the line that has not ended
};

}  // namespace tinker::http
