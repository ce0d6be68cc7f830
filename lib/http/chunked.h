// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tinker::http {

// Takes the chunked transfer coding off a body that comes in pieces (RFC 9112 §7.1). Strict: a line ends in CR LF, a size is
// 1 to 15 hex digits, nothing stands between it and its end or ';'. Extensions and trailers are read and dropped, within
// limits.
//
// Not Beast's: that one wants each chunk's line in one piece, sets no limit to extensions or trailers, and folds trailers.
class ChunkedDecoder {
 public:
  static constexpr std::size_t kExtensionLimitBytes = 4096;  // of all chunks
  static constexpr std::size_t kTrailerLimitBytes = 8192;

  struct Step {
    std::size_t used;          // bytes taken off the front of what was given
    std::string_view payload;  // of those, the last ones, when they are part of the body; may be empty
  };

  // Goes as far as the end of one piece of payload. Call it until the given bytes are used up, done() or broken().
  Step step(std::string_view bytes);

  bool done() const { return state_ == State::done; }
  bool broken() const { return state_ == State::broken; }
  // Why it is broken.
  std::string_view fault() const { return fault_; }
  // Bytes of payload that the chunk which has begun still needs.
  std::uint64_t remaining() const { return remaining_; }

 private:
  enum class State {
    size,
    extension,
    size_end,
    payload,
    payload_cr,
    payload_lf,
    trailer_begin,
    trailer,
    trailer_end,
    last_lf,
    done,
    broken
  };

  void take(char c);
  void take_size(char c);
  void take_trailer(char c);
  void expect(char c, char wanted, State next, std::string_view fault);
  void fail(std::string_view fault);

  State state_ = State::size;
  std::uint8_t digits_ = 0;
  bool colon_ = false;  // the trailer's line has one
  std::uint16_t extension_bytes_ = 0;
  std::uint16_t trailer_bytes_ = 0;
  std::uint64_t remaining_ = 0;
  std::string_view fault_;
};

}  // namespace tinker::http
