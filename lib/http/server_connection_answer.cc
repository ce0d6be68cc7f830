// SPDX-License-Identifier: Apache-2.0
// How a ServerConnection answers: straight into the socket when the answer fits, by reference through the bufferevent when not.
#include "http/server_connection.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "http/connections.h"
#include "http/response_head.h"

namespace tinker::http {
namespace {

// Written before other events get their turn; libevent's own 16 KB would make 160 turns of a result of 2.5 MB.
constexpr std::size_t kBytesPerWrite = 256 * 1024;

}  // namespace

void ServerConnection::answer(Response response, std::function<void(Delivery)> observer) {
  transfer_->observer = std::move(observer);
  transfer_->reply->connection = nullptr;
  transfer_->reply->answered = true;
  transfer_->request_id = std::move(transfer_->reply->request_id);
  transfer_->reply = nullptr;
  write(response);
}

void ServerConnection::reply_dropped() {
  transfer_->request_id = std::move(transfer_->reply->request_id);
  transfer_->reply = nullptr;
  write(detail_answer(500, "the server dropped this request without an answer; that is a fault of the server"));
}

void ServerConnection::refuse(const Refusal& refusal) {
  keep_alive_ = false;
  write(detail_answer(refusal.status, refusal.detail));
}

void ServerConnection::write(const Response& response) {
  Transfer& transfer = *transfer_;
  keep_alive_ = keep_alive_ && !owner_.draining();
  transfer.status = response.status;
  std::string& head = owner_.head_scratch();
  head.clear();
  append_response_head(head, response,
                       !keep_alive_          ? Persistence::close
                       : transfer.minor == 0 ? Persistence::keep_said
                                             : Persistence::keep);
  const bool without_body = transfer.head_request || is_bodiless(response.status) || response.content_type.empty();
  const base::SharedBytes body = without_body ? base::SharedBytes{} : response.body;
  transfer.bytes_out = head.size() + body.size();
  phase_ = Phase::writing;

  std::size_t sent = 0;
  if (evbuffer_get_length(bufferevent_get_output(events_.get())) == 0) {
    // Nearly every answer fits into the socket: one call, no buffer, no event.
    iovec pieces[2] = {{head.data(), head.size()}, {const_cast<char*>(body.data()), body.size()}};
    const msghdr message{.msg_iov = pieces, .msg_iovlen = body.empty() ? 1u : 2u};
    const ssize_t result = sendmsg(fd(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (result < 0 && errno != EAGAIN && errno != EINTR) {
      transfer.bytes_out = 0;
      return close();
    }
    sent = result < 0 ? 0 : static_cast<std::size_t>(result);
  }
  if (sent == transfer.bytes_out) return finish_exchange();
  queue_rest(head, body, sent);
}

void ServerConnection::queue_rest(std::string_view head, const base::SharedBytes& body, std::size_t sent) {
  evbuffer* output = bufferevent_get_output(events_.get());
  if (sent < head.size()) evbuffer_add(output, head.data() + sent, head.size() - sent);
  const std::size_t at = sent > head.size() ? sent - head.size() : 0;
  if (at < body.size()) {
    auto* holder = new base::SharedBytes(body);
    const auto release = [](const void*, std::size_t, void* held) { delete static_cast<base::SharedBytes*>(held); };
    if (evbuffer_add_reference(output, body.data() + at, body.size() - at, release, holder) != 0) {
      delete holder;
      return close();
    }
  }
  bufferevent_set_max_single_write(events_.get(), kBytesPerWrite);
  transfer_->unsent = unsent_bytes();
  owner_.wait(*this, Connections::Wait::write);
}

void ServerConnection::finish_exchange() {
  report_exchange(transfer_->bytes_out);
  std::function<void(Delivery)> observer = std::move(transfer_->observer);
  transfer_.reset();
  evbuffer* input = bufferevent_get_input(events_.get());
  const bool pipelined = evbuffer_get_length(input) > 0;
  if (observer) {
    owner_.notify(observer, Delivery::written);
    if (keep_alive_ && !pipelined && !has_unread_bytes()) unconfirmed_ = std::move(observer);
  }
  if (!keep_alive_) return linger();

  phase_ = Phase::idle;
  owner_.wait(*this, Connections::Wait::idle);
  if (std::exchange(input_paused_, false)) bufferevent_enable(events_.get(), EV_READ);
  // Not from here: a handler must not run inside another one's Reply::send().
  if (pipelined && !reading_requests_)
    bufferevent_trigger(events_.get(), EV_READ, BEV_TRIG_IGNORE_WATERMARKS | BEV_TRIG_DEFER_CALLBACKS);
}

void ServerConnection::report_exchange(std::uint64_t bytes_out) {
  if (!owner_.hooks().finished) return;
  const bool answered = transfer_->status != 0 && bytes_out > 0;
  owner_.hooks().finished({.method = transfer_->method,
                           .path = transfer_->path,
                           .peer = peer_,
                           .status = answered ? transfer_->status : 0,
                           .bytes_in = transfer_->bytes_in,
                           .bytes_out = bytes_out,
                           .took = std::chrono::steady_clock::now() - transfer_->began,
                           .request_id = transfer_->request_id});
}

void ServerConnection::on_stalled_write() {
  const std::size_t unsent = unsent_bytes();
  if (unsent < transfer_->unsent) {
    transfer_->unsent = unsent;
    return owner_.wait(*this, Connections::Wait::write);
  }
  // Reset rather than close: what the kernel still holds for this client would stay there for minutes.
  const struct ::linger at_once { .l_onoff = 1, .l_linger = 0 };
  setsockopt(fd(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close();
}

// With what the kernel holds: its buffer takes megabytes, and a slow reader makes progress there first.
std::size_t ServerConnection::unsent_bytes() const {
  int in_kernel = 0;
  if (ioctl(fd(), SIOCOUTQ, &in_kernel) != 0) in_kernel = 0;
  return evbuffer_get_length(bufferevent_get_output(events_.get())) + static_cast<std::size_t>(in_kernel);
}

}  // namespace tinker::http
