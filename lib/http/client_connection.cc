// SPDX-License-Identifier: Apache-2.0
#include "http/client_connection.h"

#include <event2/event.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "http/chunked.h"
#include "http/framing.h"
#include "http/head_scanner.h"
#include "http/syntax.h"
#include "loop/handles.h"

namespace tinker::http {
namespace {

// Read before other events get their turn.
constexpr std::size_t kBytesPerTurn = 256 * 1024;
constexpr std::size_t kScratchBytes = 64 * 1024;
// A length is a claim: so much room is made ahead of what has come.
constexpr std::size_t kRoomAheadBytes = std::size_t{16} << 20;
constexpr std::size_t kFieldLimit = 200;

// A vanished host is found after a minute, not after the read time-out of half an hour (design.md §3).
constexpr int kKeepAliveIdleSec = 30;
constexpr int kKeepAliveIntervalSec = 10;
constexpr int kKeepAliveProbes = 3;
constexpr unsigned kUserTimeoutMs = 60'000;

// Heads are read into it, with what follows them; shared by all connections of a thread, empty between two events.
char* scratch() {
  thread_local const std::unique_ptr<char[]> bytes(new char[kScratchBytes]);
  return bytes.get();
}

template <class T>
void set_option(int fd, int level, int option, T value) {
  setsockopt(fd, level, option, &value, sizeof value);
}

std::string seconds_text(base::Seconds time) {
  std::string text = std::to_string(time.count());
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text + " s";
}

}  // namespace

struct ClientConnection::Impl {
 public:
  Impl(loop::EventLoop& event_loop, const SocketAddress& where, loop::Priority run_at)
      : loop_(event_loop),
        address_(where),
        priority_(run_at),
        timer_(
            event_loop, [this] { on_timer(); }, run_at) {}

  void send(std::string head, base::SharedBytes body, const ClientLimits& limits, Done done);
  bool idle() const { return phase_ == Phase::closed || phase_ == Phase::idle; }
  bool reusable() const { return phase_ == Phase::idle; }

  std::function<void()> on_idle_closed;

 private:
  enum class Phase { closed, connecting, exchanging, idle };
  enum class Stage { head, length, chunked, until_close };  // of the answer
  // Whether the exchange goes on. After `over` the connection may have been destroyed.
  enum class Next { read_on, over };

  void connect();
  void on_writable();
  void transmit();
  void on_readable();
  std::pair<char*, std::size_t> room();
  Next take(std::size_t count);
  Next take_head(std::string_view bytes);
  Next begin_body(std::string_view rest);
  Next take_body(std::size_t from);
  Next take_chunks(std::size_t from);
  Next on_end(int error);
  Next complete(bool reusable);
  Next fail(Breakage kind, std::string text);
  Next malformed(std::string_view what) {
    return fail(Breakage::malformed, "the answer of " + address_.text() + " is malformed: " + std::string(what));
  }
  Next too_large() {
    return fail(Breakage::too_large,
                "the answer of " + address_.text() + " is larger than " + std::to_string(limits_.body_bytes) + " bytes");
  }
  Next finish(tl::expected<Answer, Broken> result);
  void on_timer();
  void wake_at(base::Monotonic deadline);
  void close();

  loop::EventLoop& loop_;
  const SocketAddress address_;
  const loop::Priority priority_;
  Phase phase_ = Phase::closed;
  loop::FileDescriptor fd_;
  loop::EventPtr readable_, writable_;  // destroyed before fd_ is closed
  loop::Timer timer_;                   // set anew only when it fires: re-arming at each byte would cost more than it is worth
  base::Monotonic timer_at_ = base::Monotonic::max();
  base::Monotonic progress_{};         // the last byte in either direction
  std::optional<std::string> failed_;  // connecting failed at once; told from the timer, never from inside send()
  bool used_before_ = false;           // this connection has served an exchange

  // The exchange.
  std::string head_;
  base::SharedBytes body_;
  std::size_t sent_ = 0;
  bool write_broken_ = false;  // the other side takes no more; it may have answered before
  ClientLimits limits_;
  Done done_;
  bool reused_ = false;
  Stage stage_ = Stage::head;
  std::size_t head_bytes_ = 0;  // of the answer, interim ones included
  HeadScanner scanner_;
  std::string split_head_;  // what came of a head that did not come in one piece
  Framing framing_;
  ChunkedDecoder decoder_;
  Answer answer_;
};

void ClientConnection::Impl::send(std::string head, base::SharedBytes body, const ClientLimits& limits, Done done) {
  assert(loop_.here() && idle());
  head_ = std::move(head);
  body_ = std::move(body);
  sent_ = 0;
  write_broken_ = false;
  limits_ = limits;
  done_ = std::move(done);
  stage_ = Stage::head;
  head_bytes_ = 0;
  scanner_ = {};
  split_head_.clear();
  decoder_ = {};
  answer_ = {};
  progress_ = std::chrono::steady_clock::now();
  reused_ = phase_ == Phase::idle && used_before_;
  if (phase_ == Phase::closed) return connect();
  phase_ = Phase::exchanging;
  transmit();
  wake_at(progress_ + std::chrono::duration_cast<base::Monotonic::duration>(limits_.read));
}

// --- connecting, sending

void ClientConnection::Impl::connect() {
  phase_ = Phase::connecting;
  used_before_ = false;
  const auto fail_soon = [this](std::string text) {
    failed_ = std::move(text);
    wake_at(progress_);
  };
  fd_ = loop::FileDescriptor(socket(address_.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd_.valid()) return fail_soon(std::string("cannot open a socket: ") + std::strerror(errno));
  if (!address_.is_unix()) {
    set_option(fd_.get(), IPPROTO_TCP, TCP_NODELAY, 1);
    set_option(fd_.get(), SOL_SOCKET, SO_KEEPALIVE, 1);
    set_option(fd_.get(), IPPROTO_TCP, TCP_KEEPIDLE, kKeepAliveIdleSec);
    set_option(fd_.get(), IPPROTO_TCP, TCP_KEEPINTVL, kKeepAliveIntervalSec);
    set_option(fd_.get(), IPPROTO_TCP, TCP_KEEPCNT, kKeepAliveProbes);
    set_option(fd_.get(), IPPROTO_TCP, TCP_USER_TIMEOUT, kUserTimeoutMs);
  }
  if (::connect(fd_.get(), address_.get(), address_.size) != 0 && errno != EINPROGRESS) {
    if (errno == ECONNREFUSED) return fail_soon("connection to " + address_.text() + " refused");
    return fail_soon("cannot connect to " + address_.text() + ": " + std::strerror(errno));
  }
  const auto make = [this](short what, event_callback_fn run) {
    loop::EventPtr made(event_new(loop_.base(), fd_.get(), what, run, this));
    event_priority_set(made.get(), static_cast<int>(priority_));
    return made;
  };
  readable_ = make(EV_READ | EV_PERSIST, [](evutil_socket_t, short, void* self) { static_cast<Impl*>(self)->on_readable(); });
  writable_ = make(EV_WRITE, [](evutil_socket_t, short, void* self) { static_cast<Impl*>(self)->on_writable(); });
  event_add(writable_.get(), nullptr);
  wake_at(progress_ + std::chrono::duration_cast<base::Monotonic::duration>(limits_.connect));
}

void ClientConnection::Impl::on_writable() {
  if (phase_ == Phase::connecting) {
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(fd_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error == ECONNREFUSED) {
      fail(Breakage::connect_failed, "connection to " + address_.text() + " refused");
      return;
    }
    if (error != 0) {
      fail(Breakage::connect_failed, "cannot connect to " + address_.text() + ": " + std::strerror(error));
      return;
    }
    phase_ = Phase::exchanging;
    event_add(readable_.get(), nullptr);
    progress_ = std::chrono::steady_clock::now();
    wake_at(progress_ + std::chrono::duration_cast<base::Monotonic::duration>(limits_.read));
  }
  transmit();
}

void ClientConnection::Impl::transmit() {
  const std::size_t whole = head_.size() + body_.size();
  while (sent_ < whole) {
    const std::size_t in_head = std::min(sent_, head_.size());
    const std::size_t in_body = sent_ - in_head;
    iovec pieces[2] = {{head_.data() + in_head, head_.size() - in_head},
                       {const_cast<char*>(body_.data()) + in_body, body_.size() - in_body}};
    const msghdr message{.msg_iov = pieces, .msg_iovlen = 2};
    const ssize_t result = sendmsg(fd_.get(), &message, MSG_NOSIGNAL);
    if (result < 0 && errno == EINTR) continue;
    if (result < 0 && errno == EAGAIN) {
      event_add(writable_.get(), nullptr);
      return;
    }
    if (result < 0) {
      write_broken_ = true;  // what the other side said before, or its end, comes from reading
      return;
    }
    sent_ += static_cast<std::size_t>(result);
    progress_ = std::chrono::steady_clock::now();
  }
  body_ = {};
}

// --- reading

void ClientConnection::Impl::on_readable() {
  if (phase_ == Phase::idle) {
    close();
    const auto closed = on_idle_closed;
    if (closed) closed();
    return;
  }
  for (std::size_t turn = 0; turn < kBytesPerTurn;) {
    const auto [at, size] = room();
    const ssize_t got = recv(fd_.get(), at, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) {
      on_end(got == 0 ? 0 : errno);
      return;
    }
    progress_ = std::chrono::steady_clock::now();
    const auto count = static_cast<std::size_t>(got);
    if (take(count) == Next::over) return;
    if (count < size) return;  // that was all there is
    turn += count;
  }
}

// Where the next bytes go: a head into scratch memory, a body into its place.
std::pair<char*, std::size_t> ClientConnection::Impl::room() {
  base::Buffer& body = answer_.body;
  switch (stage_) {
    case Stage::head:
      return {scratch(), kScratchBytes};
    case Stage::length: {
      const std::size_t missing = framing_.length - body.size();
      if (body.size() == body.capacity()) body.reserve(body.size() + std::min(missing, kRoomAheadBytes));
      return {body.data() + body.size(), std::min({missing, body.capacity() - body.size(), kBytesPerTurn})};
    }
    case Stage::chunked: {
      const auto ahead = static_cast<std::size_t>(std::min<std::uint64_t>(decoder_.remaining(), kRoomAheadBytes));
      const std::size_t wanted = body.size() + ahead + kScratchBytes / 2;
      if (wanted > body.capacity()) body.reserve(std::max(wanted, body.capacity() + body.capacity() / 2));
      return {body.data() + body.size(), std::min(body.capacity() - body.size(), kBytesPerTurn)};
    }
    case Stage::until_close:
      if (body.capacity() - body.size() < kScratchBytes / 2) body.reserve(std::max(kScratchBytes, body.capacity() * 2));
      return {body.data() + body.size(), std::min(body.capacity() - body.size(), kBytesPerTurn)};
  }
  return {scratch(), kScratchBytes};
}

ClientConnection::Impl::Next ClientConnection::Impl::take(std::size_t count) {
  if (stage_ == Stage::head) return take_head({scratch(), count});
  const std::size_t from = answer_.body.size();
  answer_.body.resize(from + count);
  return take_body(from);
}

ClientConnection::Impl::Next ClientConnection::Impl::take_head(std::string_view bytes) {
  for (;;) {
    const std::size_t before = scanner_.size();
    const HeadScanner::State state = scanner_.feed(bytes);
    const std::size_t used = scanner_.size() - before;
    head_bytes_ += used;
    if (head_bytes_ > limits_.head_bytes)
      return fail(Breakage::too_large, "the head of the answer of " + address_.text() + " is larger than " +
                                           std::to_string(limits_.head_bytes) + " bytes");
    switch (state) {
      case HeadScanner::State::more:
        split_head_.append(bytes);
        return Next::read_on;
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
    const bool interim = parsed->status / 100 == 1;
    if (interim && parsed->status == 101) return malformed("it switches to a protocol that was not asked for");
    if (!interim) {
      auto framing = answer_framing(*parsed, head_.starts_with("HEAD "));
      if (!framing) return malformed(framing.error());
      framing_ = *framing;
      answer_.status = parsed->status;
      answer_.fields = std::move(parsed->fields);
      return begin_body(bytes);
    }
    scanner_ = {};
    split_head_.clear();
    if (bytes.empty()) return Next::read_on;
  }
}

// `rest` came with the head.
ClientConnection::Impl::Next ClientConnection::Impl::begin_body(std::string_view rest) {
  switch (framing_.body) {
    case BodyKind::none:
      return complete(rest.empty());
    case BodyKind::length:
      if (framing_.length > limits_.body_bytes) return too_large();
      if (rest.size() > framing_.length) {
        answer_.body.append(rest.substr(0, framing_.length));
        return complete(/*reusable=*/false);
      }
      stage_ = Stage::length;
      break;
    case BodyKind::chunked:
      stage_ = Stage::chunked;
      break;
    case BodyKind::until_close:
      stage_ = Stage::until_close;
      break;
  }
  if (rest.empty()) return Next::read_on;
  room();
  answer_.body.append(rest);
  return take_body(0);
}

// The bytes of the body from `from` on are new.
ClientConnection::Impl::Next ClientConnection::Impl::take_body(std::size_t from) {
  const std::size_t size = answer_.body.size();
  switch (stage_) {
    case Stage::head:
      break;
    case Stage::length:
      return size == framing_.length ? complete(/*reusable=*/true) : Next::read_on;
    case Stage::chunked:
      return take_chunks(from);
    case Stage::until_close:
      return size > limits_.body_bytes ? too_large() : Next::read_on;
  }
  return Next::read_on;
}

// Takes the coding off in place: what is left is never longer than what came.
ClientConnection::Impl::Next ClientConnection::Impl::take_chunks(std::size_t from) {
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
  if (end > limits_.body_bytes || decoder_.remaining() > limits_.body_bytes - end) return too_large();
  return decoder_.done() ? complete(coded.empty()) : Next::read_on;
}

ClientConnection::Impl::Next ClientConnection::Impl::on_end(int error) {
  if (stage_ == Stage::until_close && error == 0) return complete(/*reusable=*/false);
  const std::string how =
      error == 0 ? " closed the connection" : std::string(" broke the connection (") + std::strerror(error) + ")";
  // TCP keep-alive or the user time-out gave up: the host is gone, which is no close.
  if (error == ETIMEDOUT || error == EHOSTUNREACH || error == ENETUNREACH)
    return fail(Breakage::read_timed_out, address_.text() + " is not there any more (" + std::strerror(error) + ")");
  if (head_bytes_ > 0) {
    std::string where = " in the head of its answer";
    if (stage_ != Stage::head) where = " after " + std::to_string(answer_.body.size()) + " bytes of the body of its answer";
    if (stage_ == Stage::length) where += " of " + std::to_string(framing_.length);
    return fail(Breakage::cut_short, address_.text() + how + where);
  }
  if (write_broken_ || sent_ < head_.size() + body_.size())
    return fail(Breakage::write_failed, address_.text() + how + " while the request was being sent");
  return fail(Breakage::closed_early, address_.text() + how + " before it answered");
}

// --- the end of an exchange

ClientConnection::Impl::Next ClientConnection::Impl::complete(bool reusable) {
  const bool sent_whole = !write_broken_ && body_.empty();
  if (reusable && framing_.keep_alive && sent_whole) {
    phase_ = Phase::idle;
    used_before_ = true;
  } else {
    close();
  }
  return finish(std::move(answer_));
}

ClientConnection::Impl::Next ClientConnection::Impl::fail(Breakage kind, std::string text) {
  close();
  const bool raced = reused_ && std::chrono::steady_clock::now() - progress_ < limits_.idle_race;
  return finish(tl::unexpected(Broken{kind, raced, std::move(text)}));
}

ClientConnection::Impl::Next ClientConnection::Impl::finish(tl::expected<Answer, Broken> result) {
  head_.clear();
  body_ = {};
  answer_ = {};
  const Done done = std::exchange(done_, nullptr);
  done(std::move(result));
  return Next::over;
}

void ClientConnection::Impl::close() {
  readable_.reset();
  writable_.reset();
  fd_.reset();
  failed_.reset();
  phase_ = Phase::closed;
}

// --- time

void ClientConnection::Impl::wake_at(base::Monotonic deadline) {
  if (deadline >= timer_at_) return;
  timer_at_ = deadline;
  timer_.after(base::Seconds(deadline - std::chrono::steady_clock::now()));
}

void ClientConnection::Impl::on_timer() {
  timer_at_ = base::Monotonic::max();
  if (failed_) {
    fail(Breakage::connect_failed, std::string(*failed_));
    return;
  }
  if (idle()) return;
  const bool connecting = phase_ == Phase::connecting;
  const base::Seconds patience = connecting ? limits_.connect : limits_.read;
  const auto deadline = progress_ + std::chrono::duration_cast<base::Monotonic::duration>(patience);
  if (std::chrono::steady_clock::now() < deadline) return wake_at(deadline);
  if (connecting)
    fail(Breakage::connect_timed_out, address_.text() + " did not accept a connection within " + seconds_text(patience));
  else if (!body_.empty())
    fail(Breakage::write_failed, address_.text() + " took no byte of the request for " + seconds_text(patience));
  else
    fail(Breakage::read_timed_out, "no byte from " + address_.text() + " for " + seconds_text(patience));
}

// --- the connection

ClientConnection::ClientConnection(loop::EventLoop& loop, const SocketAddress& address, loop::Priority priority)
    : impl_(std::make_unique<Impl>(loop, address, priority)) {}

ClientConnection::~ClientConnection() = default;

void ClientConnection::send(std::string head, base::SharedBytes body, const ClientLimits& limits, Done done) {
  impl_->send(std::move(head), std::move(body), limits, std::move(done));
}

bool ClientConnection::idle() const { return impl_->idle(); }

bool ClientConnection::reusable() const { return impl_->reusable(); }

void ClientConnection::on_idle_closed(std::function<void()> closed) { impl_->on_idle_closed = std::move(closed); }

}  // namespace tinker::http
