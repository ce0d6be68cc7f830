// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "http/chunked.h"
#include "http/client_connection.h"
#include "http/framing.h"
#include "http/head_scanner.h"

namespace tinker::http {

// Turns the bytes of a connection into one Answer, its body in one contiguous buffer: bytes are received where they will stay.
//
// Owned by  ClientConnection.
// Thread    the loop's.
class AnswerReader {
 public:
  enum class State { more, whole, broken };

  void start(bool to_head_request, const ClientLimits& limits);

  // Where the next bytes go, at least one. Heads go into memory that all readers of a thread share: take() follows at once.
  std::pair<char*, std::size_t> room();
  // `count` bytes were put there.
  State take(std::size_t count);
  // The other side closed in order: the end of an answer without a length, too early for any other.
  State end();

  // Whether any byte has come.
  bool begun() const { return head_bytes_ > 0; }
  // After `whole`: the answer, and whether another one may follow it on the connection.
  Answer& answer() { return answer_; }
  bool keeps_alive() const { return framing_.keep_alive && !surplus_; }
  // After `broken`: `malformed`, `too_large` or `cut_short`, and what is wrong.
  Breakage kind() const { return kind_; }
  const std::string& fault() const { return fault_; }
  // "in the head of its answer", "after 5 bytes of the body of its answer of 10".
  std::string position() const;

 private:
  enum class Stage { head, length, chunked, until_close };

  State take_head(std::string_view bytes);
  State begin_body(std::string_view rest);
  State take_body(std::size_t from);
  State take_chunks(std::size_t from);
  State whole(bool surplus);
  State broken(Breakage kind, std::string fault);
  State malformed(std::string_view what);
  State too_large(std::string_view what, std::size_t limit_bytes);

  bool to_head_request_ = false;
  std::size_t head_limit_bytes_ = 0;
  std::size_t body_limit_bytes_ = 0;
  Stage stage_ = Stage::head;
  std::size_t head_bytes_ = 0;  // interim answers included
  HeadScanner scanner_;
  std::string split_head_;  // what came of a head that did not come in one piece
  Framing framing_;
  ChunkedDecoder decoder_;
  Answer answer_;
  bool surplus_ = false;  // bytes came behind the answer
  Breakage kind_ = Breakage::malformed;
  std::string fault_;
};

}  // namespace tinker::http
