// SPDX-License-Identifier: Apache-2.0
#include "http/server_connection.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "http/connections.h"
#include "loop/event_loop.h"

namespace tinker::http {
namespace {

constexpr std::size_t kDefaultBodyLimitBytes = std::size_t{1} << 20;
// A body is read straight from the socket, up to so much before other events get their turn: libevent reads 4 KB a turn.
constexpr std::size_t kBodyBytesPerTurn = 256 * 1024;
// Less than this in a whole deadline is no progress: one byte a second does not hold a connection for ever (cases.md S10).
constexpr std::uint64_t kProgressBytes = 1024;
// How much of what a refused client still sends is dropped before the connection is cut.
constexpr std::size_t kLingerBytes = std::size_t{16} << 20;
// Of a client's x-request-id, for the access log.
constexpr std::size_t kRequestIdBytes = 128;

std::string within_limit(const char* what, std::size_t limit_bytes) {
  return std::string(what) + ": the limit is " + std::to_string(limit_bytes) + " bytes";
}

}  // namespace

ServerConnection::ServerConnection(Connections& owner, loop::BuffereventPtr events, std::string peer,
                                   std::unique_ptr<const PeerCredentials> credentials)
    : owner_(owner), events_(std::move(events)), peer_(std::move(peer)), credentials_(std::move(credentials)) {
  bufferevent_setcb(
      events_.get(), [](bufferevent*, void* self) { static_cast<ServerConnection*>(self)->on_readable(); },
      [](bufferevent*, void* self) { static_cast<ServerConnection*>(self)->on_written(); },
      [](bufferevent*, short, void* self) { static_cast<ServerConnection*>(self)->on_lost(); }, this);
  bufferevent_enable(events_.get(), EV_READ | EV_WRITE);
}

ServerConnection::~ServerConnection() = default;

bool ServerConnection::has_unread_bytes() const {
  int unread = 0;
  return ioctl(fd(), FIONREAD, &unread) == 0 && unread > 0;
}

int ServerConnection::fd() const { return bufferevent_getfd(events_.get()); }

void ServerConnection::on_readable() {
  switch (phase_) {
    case Phase::idle:
    case Phase::head:
    case Phase::body:
      return read_requests();
    case Phase::handling:
    case Phase::writing:
      // Pipelined. Reading goes on, so that a client that hangs up is noticed, up to a bound.
      if (evbuffer_get_length(bufferevent_get_input(events_.get())) > owner_.limits().head_bytes) {
        input_paused_ = true;
        bufferevent_disable(events_.get(), EV_READ);
      }
      return;
    case Phase::lingering:
      return drop_input();
    case Phase::closed:
      return;
  }
}

void ServerConnection::on_written() {
  if (phase_ == Phase::writing && evbuffer_get_length(bufferevent_get_output(events_.get())) == 0) finish_exchange();
}

void ServerConnection::on_lost() { close(); }

void ServerConnection::on_deadline() {
  switch (phase_) {
    case Phase::idle:
    case Phase::lingering:
      return close();
    case Phase::head:
      return refuse({408, "the head of the request did not arrive in time"});
    case Phase::body:
      return refuse({408, "the body of the request did not arrive in time"});
    case Phase::writing:
      return on_stalled_write();
    case Phase::handling:
    case Phase::closed:
      return;
  }
}

bool ServerConnection::close_if_idle() {
  if (phase_ != Phase::idle || has_unread_bytes()) return false;
  close();
  return true;
}

void ServerConnection::close() {
  if (phase_ == Phase::closed) return;
  phase_ = Phase::closed;
  owner_.stop_waiting(*this);
  unconfirmed_ = nullptr;
  if (transfer_) {
    if (Reply::State* reply = transfer_->reply) {
      reply->connection = nullptr;
      owner_.notify(std::exchange(reply->left, nullptr));
      transfer_->request_id = reply->request_id;
    }
    owner_.notify(std::move(transfer_->observer), Delivery::gone);
    const std::size_t unsent = evbuffer_get_length(bufferevent_get_output(events_.get()));
    report_exchange(transfer_->bytes_out - std::min<std::uint64_t>(transfer_->bytes_out, unsent));
  }
  events_.reset();
  transfer_.reset();
  owner_.remove(*this);
}

// --- reading

void ServerConnection::read_requests() {
  if (reading_requests_) return;
  reading_requests_ = true;
  for (bool more = true; more;) {
    switch (phase_) {
      case Phase::idle:
        more = evbuffer_get_length(bufferevent_get_input(events_.get())) > 0;
        if (more) begin_request();
        break;
      case Phase::head:
        more = read_head();
        break;
      case Phase::body:
        more = read_body();
        break;
      case Phase::handling:
      case Phase::writing:
      case Phase::lingering:
      case Phase::closed:
        more = false;
        break;
    }
  }
  reading_requests_ = false;
}

void ServerConnection::begin_request() {
  owner_.notify(std::exchange(unconfirmed_, nullptr), Delivery::confirmed);
  transfer_ = std::make_unique<Transfer>();
  transfer_->began = std::chrono::steady_clock::now();
  phase_ = Phase::head;
  owner_.wait(*this, Connections::Wait::request);
}

bool ServerConnection::read_head() {
  evbuffer* input = bufferevent_get_input(events_.get());
  HeadScanner& scanner = transfer_->reading->scanner;
  const std::size_t limit = owner_.limits().head_bytes;

  auto state = HeadScanner::State::more;
  while (state == HeadScanner::State::more && scanner.size() < evbuffer_get_length(input)) {
    if (scanner.size() >= limit) {
      refuse({431, within_limit("the head of the request is too large", limit)});
      return true;
    }
    evbuffer_ptr at;
    evbuffer_ptr_set(input, &at, scanner.size(), EVBUFFER_PTR_SET);
    evbuffer_iovec piece;
    evbuffer_peek(input, -1, &at, &piece, 1);
    const std::string_view bytes{static_cast<const char*>(piece.iov_base), std::min(piece.iov_len, limit - scanner.size())};
    if (scanner.size() == 0 && !is_token_character(bytes.front()) && bytes.front() != '\r' && bytes.front() != '\n') {
      refuse({400, "bad request: this is not HTTP; TLS is not spoken here"});
      return true;
    }
    state = scanner.feed(bytes);
  }
  switch (state) {
    case HeadScanner::State::more:
      return false;
    case HeadScanner::State::bare_line_feed:
      refuse({400, "bad request: a line does not end in CR LF"});
      return true;
    case HeadScanner::State::folded:
      refuse({400, "bad request: a folded header field"});
      return true;
    case HeadScanner::State::whole:
      break;
  }
  const std::size_t size = scanner.size();
  const std::string_view head{reinterpret_cast<const char*>(evbuffer_pullup(input, static_cast<ev_ssize_t>(size))), size};
  transfer_->bytes_in += size;
  const bool accepted = accept_head(head.substr(scanner.lead()));
  if (phase_ == Phase::closed) return false;
  evbuffer_drain(input, size);
  if (accepted) {
    if (transfer_->reading->framing.body == BodyKind::none)
      handle();
    else
      phase_ = Phase::body;
  }
  return true;
}

bool ServerConnection::accept_head(std::string_view head) {
  auto parsed = parse_request_head(head, owner_.limits().field_count);
  if (!parsed) return refuse(parsed.error()), false;
  Transfer& transfer = *transfer_;
  transfer.minor = parsed->minor;
  transfer.method = parsed->method;
  transfer.path = parsed->path;
  transfer.head_request = parsed->method == "HEAD";

  const auto framing = request_framing(*parsed);
  if (!framing) return refuse(framing.error()), false;
  Transfer::Reading& reading = *transfer.reading;
  reading.framing = *framing;
  keep_alive_ = framing->keep_alive;
  reading.request = {.method = std::move(parsed->method),
                     .path = std::move(parsed->path),
                     .query = std::move(parsed->query),
                     .fields = std::move(parsed->fields),
                     .peer = peer_};
  if (credentials_) reading.request.credentials = *credentials_;
  if (framing->body == BodyKind::none) return true;

  const ServerHooks& hooks = owner_.hooks();
  reading.body_limit = hooks.body_limit ? hooks.body_limit(transfer.method, transfer.path) : kDefaultBodyLimitBytes;
  if (framing->length > reading.body_limit) {
    refuse({413, within_limit("the body of the request is too large", reading.body_limit)});
    return false;
  }
  const bool body_on_its_way = evbuffer_get_length(bufferevent_get_input(events_.get())) > head.size() + reading.scanner.lead();
  if (framing->expect_continue && !body_on_its_way) {
    static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    bufferevent_write(events_.get(), kContinue.data(), kContinue.size());
  }
  return true;
}

bool ServerConnection::read_body() {
  return transfer_->reading->framing.body == BodyKind::chunked ? read_chunks() : read_length();
}

bool ServerConnection::read_length() {
  Transfer::Reading& reading = *transfer_->reading;
  std::string& body = reading.request.body;
  const auto remaining = [&] { return static_cast<std::size_t>(reading.framing.length) - body.size(); };

  // A length is a claim: room is made for what has come, not for what is announced.
  if (body.empty()) body.reserve(std::min(remaining(), Connections::kScratchBytes));
  char* const scratch = owner_.scratch();
  evbuffer* input = bufferevent_get_input(events_.get());
  while (remaining() > 0) {
    const int moved = evbuffer_remove(input, scratch, std::min(remaining(), Connections::kScratchBytes));
    if (moved <= 0) break;
    body.append(scratch, static_cast<std::size_t>(moved));
    body_has_grown(static_cast<std::size_t>(moved));
  }
  for (std::size_t turn = 0; remaining() > 0 && turn < kBodyBytesPerTurn;) {
    const ssize_t got = recv(fd(), scratch, std::min(remaining(), Connections::kScratchBytes), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return false;
    if (got <= 0) {
      close();
      return false;
    }
    body.append(scratch, static_cast<std::size_t>(got));
    body_has_grown(static_cast<std::size_t>(got));
    turn += static_cast<std::size_t>(got);
  }
  if (remaining() > 0) return false;
  handle();
  return true;
}

bool ServerConnection::read_chunks() {
  Transfer::Reading& reading = *transfer_->reading;
  evbuffer* input = bufferevent_get_input(events_.get());
  while (!reading.decoder.done()) {
    evbuffer_iovec piece;
    if (evbuffer_peek(input, -1, nullptr, &piece, 1) < 1) return false;
    const auto step = reading.decoder.step({static_cast<const char*>(piece.iov_base), piece.iov_len});
    reading.request.body.append(step.payload);
    evbuffer_drain(input, step.used);
    body_has_grown(step.used);
    if (reading.decoder.broken()) {
      refuse({400, "bad request: " + std::string(reading.decoder.fault())});
      return true;
    }
    const std::size_t size = reading.request.body.size();
    if (size > reading.body_limit || reading.decoder.remaining() > reading.body_limit - size) {
      refuse({413, within_limit("the body of the request is too large", reading.body_limit)});
      return true;
    }
  }
  handle();
  return true;
}

void ServerConnection::body_has_grown(std::size_t bytes) {
  transfer_->bytes_in += bytes;
  std::uint64_t& mark = transfer_->reading->progress_mark;
  if (transfer_->bytes_in - mark < kProgressBytes) return;
  mark = transfer_->bytes_in;
  owner_.wait(*this, Connections::Wait::request);
}

void ServerConnection::handle() {
  phase_ = Phase::handling;
  owner_.stop_waiting(*this);
  Request request = std::move(transfer_->reading->request);
  transfer_->reading.reset();
  auto state = std::make_shared<Reply::State>();
  state->loop = &owner_.loop();
  state->connection = this;
  transfer_->reply = state.get();
  if (const auto id = request.fields.find("x-request-id")) state->request_id = id->substr(0, kRequestIdBytes);
  owner_.hooks().handle(std::move(request), Reply(std::move(state)));
}

// --- lingering

void ServerConnection::linger() {
  phase_ = Phase::lingering;
  shutdown(fd(), SHUT_WR);
  evbuffer* input = bufferevent_get_input(events_.get());
  evbuffer_drain(input, evbuffer_get_length(input));
  owner_.wait(*this, Connections::Wait::linger);
  if (std::exchange(input_paused_, false)) bufferevent_enable(events_.get(), EV_READ);
}

void ServerConnection::drop_input() {
  evbuffer* input = bufferevent_get_input(events_.get());
  dropped_bytes_ += evbuffer_get_length(input);
  evbuffer_drain(input, evbuffer_get_length(input));
  for (int turn = 0; turn < 4; ++turn) {
    const ssize_t got = recv(fd(), owner_.scratch(), Connections::kScratchBytes, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) return close();
    dropped_bytes_ += static_cast<std::size_t>(got);
    if (dropped_bytes_ > kLingerBytes) return close();
  }
}

}  // namespace tinker::http
