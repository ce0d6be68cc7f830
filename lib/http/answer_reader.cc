// SPDX-License-Identifier: Apache-2.0
#include "http/answer_reader.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>

#include "http/syntax.h"

namespace tinker::http {
namespace {

constexpr std::size_t kScratchBytes = 64 * 1024;
// A chunk's frame and the start of the next chunk, or a piece of a body of unknown length.
constexpr std::size_t kPieceBytes = 32 * 1024;
// A length is a claim: so much room is made ahead of what has come.
constexpr std::size_t kRoomAheadBytes = std::size_t{16} << 20;
constexpr std::size_t kFieldLimit = 200;

// Heads are read into it, with what follows them; shared by all readers of a thread, empty between two events.
char* scratch() {
  thread_local const std::unique_ptr<char[]> bytes(new char[kScratchBytes]);
  return bytes.get();
}

}  // namespace

void AnswerReader::start(bool to_head_request, const ClientLimits& limits) {
  to_head_request_ = to_head_request;
  head_limit_bytes_ = limits.head_bytes;
  body_limit_bytes_ = limits.body_bytes;
  stage_ = Stage::head;
  head_bytes_ = 0;
  scanner_ = {};
  split_head_.clear();
  framing_ = {};
  decoder_ = {};
  answer_ = {};
  surplus_ = false;
}

std::pair<char*, std::size_t> AnswerReader::room() {
  base::Buffer& body = answer_.body;
  switch (stage_) {
    case Stage::head:
      break;
    case Stage::length: {
      const std::size_t missing = static_cast<std::size_t>(framing_.length) - body.size();
      if (body.size() == body.capacity()) body.reserve(body.size() + std::min(missing, kRoomAheadBytes));
      return {body.data() + body.size(), std::min(missing, body.capacity() - body.size())};
    }
    case Stage::chunked: {
      const auto ahead = static_cast<std::size_t>(std::min<std::uint64_t>(decoder_.remaining(), kRoomAheadBytes));
      const std::size_t wanted = body.size() + ahead + kPieceBytes;
      if (wanted > body.capacity()) body.reserve(std::max(wanted, body.capacity() + body.capacity() / 2));
      return {body.data() + body.size(), body.capacity() - body.size()};
    }
    case Stage::until_close:
      if (body.capacity() - body.size() < kPieceBytes) body.reserve(std::max(2 * kPieceBytes, body.capacity() * 2));
      return {body.data() + body.size(), body.capacity() - body.size()};
  }
  return {scratch(), kScratchBytes};
}

AnswerReader::State AnswerReader::take(std::size_t count) {
  if (stage_ == Stage::head) return take_head({scratch(), count});
  const std::size_t from = answer_.body.size();
  answer_.body.resize(from + count);
  return take_body(from);
}

AnswerReader::State AnswerReader::take_head(std::string_view bytes) {
  for (;;) {
    const std::size_t before = scanner_.size();
    const HeadScanner::State state = scanner_.feed(bytes);
    const std::size_t used = scanner_.size() - before;
    head_bytes_ += used;
    if (head_bytes_ > head_limit_bytes_) return too_large("the head of the answer", head_limit_bytes_);
    switch (state) {
      case HeadScanner::State::more:
        split_head_.append(bytes);
        return State::more;
      case HeadScanner::State::bare_line_feed:
        return malformed("a line does not end in CR LF");
      case HeadScanner::State::folded:
        return malformed("a folded header field");
      case HeadScanner::State::whole:
        break;
    }
    std::string_view head = bytes.substr(0, used);
    if (!split_head_.empty()) head = split_head_.append(head);
    bytes.remove_prefix(used);

    auto parsed = parse_answer_head(head.substr(scanner_.lead()), kFieldLimit);
    if (!parsed) return malformed(parsed.error());
    if (parsed->status == 101) return malformed("it switches to a protocol that was not asked for");
    if (parsed->status / 100 != 1) {
      auto framing = answer_framing(*parsed, to_head_request_);
      if (!framing) return malformed(framing.error());
      framing_ = *framing;
      answer_.status = parsed->status;
      answer_.fields = std::move(parsed->fields);
      return begin_body(bytes);
    }
    scanner_ = {};
    split_head_.clear();
    if (bytes.empty()) return State::more;
  }
}

// `rest` came with the head.
AnswerReader::State AnswerReader::begin_body(std::string_view rest) {
  switch (framing_.body) {
    case BodyKind::none:
      return whole(!rest.empty());
    case BodyKind::length:
      if (framing_.length > body_limit_bytes_) return too_large("the answer", body_limit_bytes_);
      stage_ = Stage::length;
      if (rest.size() > framing_.length) {
        answer_.body.append(rest.substr(0, static_cast<std::size_t>(framing_.length)));
        return whole(/*surplus=*/true);
      }
      break;
    case BodyKind::chunked:
      stage_ = Stage::chunked;
      break;
    case BodyKind::until_close:
      stage_ = Stage::until_close;
      break;
  }
  if (rest.empty()) return State::more;
  room();
  answer_.body.append(rest);
  return take_body(0);
}

// The bytes of the body from `from` on are new.
AnswerReader::State AnswerReader::take_body(std::size_t from) {
  const std::size_t size = answer_.body.size();
  switch (stage_) {
    case Stage::head:
      break;
    case Stage::length:
      return size == framing_.length ? whole(/*surplus=*/false) : State::more;
    case Stage::chunked:
      return take_chunks(from);
    case Stage::until_close:
      return size > body_limit_bytes_ ? too_large("the answer", body_limit_bytes_) : State::more;
  }
  return State::more;
}

// Takes the coding off in place: what is left is never longer than what came.
AnswerReader::State AnswerReader::take_chunks(std::size_t from) {
  base::Buffer& body = answer_.body;
  std::string_view coded = body.view().substr(from);
  std::size_t end = from;
  while (!coded.empty() && !decoder_.done()) {
    const auto step = decoder_.step(coded);
    if (decoder_.broken()) return malformed(decoder_.fault());
    if (!step.payload.empty()) std::memmove(body.data() + end, step.payload.data(), step.payload.size());
    end += step.payload.size();
    coded.remove_prefix(step.used);
  }
  body.resize(end);
  if (end > body_limit_bytes_ || decoder_.remaining() > body_limit_bytes_ - end)
    return too_large("the answer", body_limit_bytes_);
  return decoder_.done() ? whole(!coded.empty()) : State::more;
}

AnswerReader::State AnswerReader::end() {
  if (stage_ == Stage::until_close) return whole(/*surplus=*/false);
  return broken(Breakage::cut_short, "closed the connection " + position());
}

std::string AnswerReader::position() const {
  if (stage_ == Stage::head) return "in the head of its answer";
  std::string text = "after " + std::to_string(answer_.body.size()) + " bytes of the body of its answer";
  if (stage_ == Stage::length) text += " of " + std::to_string(framing_.length);
  return text;
}

AnswerReader::State AnswerReader::whole(bool surplus) {
  surplus_ = surplus;
  return State::whole;
}

AnswerReader::State AnswerReader::broken(Breakage kind, std::string fault) {
  kind_ = kind;
  fault_ = std::move(fault);
  return State::broken;
}

AnswerReader::State AnswerReader::malformed(std::string_view what) {
  return broken(Breakage::malformed, "sent an answer that is malformed: " + std::string(what));
}

AnswerReader::State AnswerReader::too_large(std::string_view what, std::size_t limit_bytes) {
  return broken(Breakage::too_large,
                "sent too much: " + std::string(what) + " is larger than " + std::to_string(limit_bytes) + " bytes");
}

}  // namespace tinker::http
