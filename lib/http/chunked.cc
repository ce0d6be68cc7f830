// SPDX-License-Identifier: Apache-2.0
#include "http/chunked.h"

#include <algorithm>

#include "http/syntax.h"

namespace tinker::http {
namespace {

constexpr std::uint8_t kSizeDigits = 15;

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_control(char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f; }

}  // namespace

ChunkedDecoder::Step ChunkedDecoder::step(std::string_view bytes) {
  std::size_t used = 0;
  while (used < bytes.size() && state_ != State::done && state_ != State::broken) {
    if (state_ == State::payload) {
      const auto piece = static_cast<std::size_t>(std::min<std::uint64_t>(remaining_, bytes.size() - used));
      remaining_ -= piece;
      if (remaining_ == 0) state_ = State::payload_cr;
      return {used + piece, bytes.substr(used, piece)};
    }
    take(bytes[used++]);
  }
  return {used, {}};
}

void ChunkedDecoder::take(char c) {
  switch (state_) {
    case State::size:
      return take_size(c);
    case State::extension:
      if (c == '\r') return void(state_ = State::size_end);
      if (is_control(c)) return fail("a chunk extension has control characters");
      if (++extension_bytes_ > kExtensionLimitBytes) return fail("chunk extensions are longer than 4096 bytes");
      return;
    case State::size_end:
      return expect(c, '\n', remaining_ == 0 ? State::trailer_begin : State::payload,
                    "a chunk's first line does not end in CR LF");
    case State::payload_cr:
      return expect(c, '\r', State::payload_lf, "a chunk is longer than its size says");
    case State::payload_lf:
      digits_ = 0;
      return expect(c, '\n', State::size, "a chunk does not end in CR LF");
    case State::trailer_begin:
    case State::trailer:
      return take_trailer(c);
    case State::trailer_end:
      return expect(c, '\n', State::trailer_begin, "a trailer does not end in CR LF");
    case State::last_lf:
      return expect(c, '\n', State::done, "the chunked body does not end in CR LF");
    case State::payload:
    case State::done:
    case State::broken:
      return;
  }
}

void ChunkedDecoder::take_size(char c) {
  if (const int value = hex_value(c); value >= 0) {
    if (digits_ == kSizeDigits) return fail("a chunk size has more than 15 digits");
    ++digits_;
    remaining_ = remaining_ * 16 + static_cast<std::uint64_t>(value);
    return;
  }
  if (digits_ == 0 || (c != '\r' && c != ';')) return fail("a chunk size is not a hexadecimal number");
  state_ = c == '\r' ? State::size_end : State::extension;
}

void ChunkedDecoder::take_trailer(char c) {
  if (++trailer_bytes_ > kTrailerLimitBytes) return fail("trailers are longer than 8192 bytes");
  if (state_ == State::trailer_begin) {
    if (c == '\r') return void(state_ = State::last_lf);
    if (!is_token_character(c)) return fail("a trailer is no field");
    colon_ = false;
    state_ = State::trailer;
    return;
  }
  if (c == '\r') return colon_ ? void(state_ = State::trailer_end) : fail("a trailer is no field");
  if (is_control(c)) return fail("a trailer has control characters");
  if (!colon_ && c != ':' && !is_token_character(c)) return fail("a trailer is no field");
  colon_ = colon_ || c == ':';
}

void ChunkedDecoder::expect(char c, char wanted, State next, std::string_view fault) {
  if (c != wanted) return fail(fault);
  state_ = next;
}

void ChunkedDecoder::fail(std::string_view fault) {
  state_ = State::broken;
  fault_ = fault;
}

}  // namespace tinker::http
