// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "http/message.h"

namespace tinker::http {

class ServerConnection;

// A handle to answer one request with; safe to use after the connection died.
//
// Owned by  the handler and whatever it hands copies to. When the last copy goes without an answer, the client gets a 500, so
// that
//           no request is ever left hanging (cases.md C4).
// Thread    that of the connection's loop.
class Reply {
 public:
  Reply() = default;

  // False when the connection died or the answer was sent.
  bool open() const;

  // Answers; once. `observer`, when given, is told `written` and then perhaps `confirmed`, or `gone`; never from inside send().
  // With a dead connection: only `gone`, later.
  void send(Response response, std::function<void(Delivery)> observer = {});

  // `left` runs once if the connection dies before send(); soon, if it is dead already. Replaces an earlier one; send() drops
  // it.
  void on_gone(std::function<void()> left);

  // What the access log shows for this exchange, e.g. the sample's id.
  void set_request_id(std::string id);

 private:
  friend class ServerConnection;
  struct State;
  explicit Reply(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace tinker::http
