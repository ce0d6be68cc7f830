// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/deadline_list.h"
#include "http/chunked.h"
#include "http/framing.h"
#include "http/head_scanner.h"
#include "http/message.h"
#include "http/reply.h"
#include "http/server.h"
#include "loop/handles.h"

namespace tinker::http {

class Connections;

// What a Reply holds on to. The connection leaves it when it dies or has been answered.
struct Reply::State {
  loop::EventLoop* loop = nullptr;
  ServerConnection* connection = nullptr;  // nullptr once dead or answered
  bool answered = false;
  std::function<void()> left;
  std::string request_id;

  ~State();
};

// One client: reads a request, hands it to the handler, writes the answer, and so on.
//
// Owned by  Connections.
// Thread    the loop's.
// Owns      the bufferevent, and between the first byte of a request and the last of its answer an Exchange; an idle connection
//           holds neither buffers nor parser.
class ServerConnection : public base::DeadlineList<ServerConnection>::Hook {
 public:
  ServerConnection(Connections& owner, loop::BuffereventPtr events, std::string peer,
                   std::unique_ptr<const PeerCredentials> credentials);
  ~ServerConnection();

  // The deadline of the list that it is in has passed.
  void on_deadline();
  // Closes the connection if no request has begun and none is in the kernel; tells whether it did.
  bool close_if_idle();
  // Closes; whoever waits is told `gone`. `this` lives on until the loop's current event has been handled.
  void close();

  // For Reply.
  void answer(Response response, std::function<void(Delivery)> observer);
  void reply_dropped();

 private:
  friend class Connections;

  enum class Phase {
    idle,       // no byte of a next request
    head,       // reading one
    body,       // reading one
    handling,   // the handler has the request
    writing,    // the answer did not fit into the socket at once
    lingering,  // our side is closed; what the client still sends is dropped, so that it can read the answer
    closed,
  };
  struct Transfer;

  void on_readable();
  void on_written();
  void on_lost();

  void read_requests();
  void begin_request();
  bool read_head();  // these three: true when there may be more to do at once
  bool read_body();
  bool read_length();
  bool read_chunks();
  void body_has_grown(std::size_t bytes);
  bool accept_head(std::string_view head);
  void handle();

  void refuse(const Refusal& refusal);
  void write(const Response& response);
  void queue_rest(std::string_view head, const base::SharedBytes& body, std::size_t sent);
  void finish_exchange();
  void report_exchange(std::uint64_t bytes_out);
  void linger();
  void drop_input();
  void on_stalled_write();
  std::size_t unsent_bytes() const;
  bool has_unread_bytes() const;  // in the kernel
  int fd() const;

  Connections& owner_;
  std::size_t index_ = 0;  // in owner_
  loop::BuffereventPtr events_;
  Phase phase_ = Phase::idle;
  bool reading_requests_ = false;  // read_requests() is running
  bool input_paused_ = false;      // too much was pipelined behind a request that waits
  bool keep_alive_ = true;
  std::size_t dropped_bytes_ = 0;  // while lingering
  std::string peer_;
  std::unique_ptr<const PeerCredentials> credentials_;  // of a Unix socket
  std::unique_ptr<Transfer> transfer_;
  std::function<void(Delivery)> unconfirmed_;  // told `written`, waits for the client's next request
};

// The exchange in progress.
struct ServerConnection::Transfer {
  // What is needed until the request is whole: a poll that is held does without.
  struct Reading {
    HeadScanner scanner;
    Request request;
    Framing framing;
    ChunkedDecoder decoder;
    std::size_t body_limit = 0;
    std::uint64_t progress_mark = 0;  // bytes_in when the deadline was last moved
  };

  base::Monotonic began{};
  std::unique_ptr<Reading> reading = std::make_unique<Reading>();
  int minor = 1;
  bool head_request = false;
  std::uint64_t bytes_in = 0;
  std::string method, path;       // for the access log; the handler takes the request
  Reply::State* reply = nullptr;  // while the handler owes the answer
  std::string request_id;
  int status = 0;
  std::uint64_t bytes_out = 0;  // of the answer, when it is whole
  std::size_t unsent = 0;       // when the write deadline was last looked at
  std::function<void(Delivery)> observer;
};

}  // namespace tinker::http
