// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <google/protobuf/message.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "control/calls.h"
#include "http/message.h"
#include "http/reply.h"

namespace tinker::control {

// Brings a call of the operator to its handler: route → may he → request → handler → reply.
//
// The permission stands in control.proto beside the call and is checked here, before any handler runs, so no handler can forget
// it.
//
// Owned by  the control server.
// Thread    its loop's. A handler may answer later, on that loop.
class Dispatcher {
 public:
  template <class Reply>
  using Answer = std::function<void(base::Result<Reply>)>;

  // `method` as control.proto names it. A handler answers exactly once.
  template <class Request, class Reply>
  void on(std::string_view method, std::function<void(const Request&, Answer<Reply>)> handler) {
    add(method, Request::descriptor(), Reply::descriptor(),
        [handler = std::move(handler)](const google::protobuf::Message& request, AnyAnswer answer) {
          handler(static_cast<const Request&>(request), [answer = std::move(answer)](base::Result<Reply> reply) {
            if (!reply) return answer(tl::unexpected(reply.error()));
            answer(&*reply);
          });
        });
  }

  // Calls of control.proto that have no handler; empty in a daemon that may start.
  std::vector<std::string> missing() const;

  // `may_change`: the caller may run calls of Access CHANGE.
  void handle(const http::Request& request, bool may_change, http::Reply reply) const;

 private:
  using AnyAnswer = std::function<void(base::Result<const google::protobuf::Message*>)>;
  using AnyHandler = std::function<void(const google::protobuf::Message&, AnyAnswer)>;
  void add(std::string_view method, const google::protobuf::Descriptor* request, const google::protobuf::Descriptor* reply,
           AnyHandler handler);

  std::unordered_map<const google::protobuf::MethodDescriptor*, AnyHandler> handlers_;
};

}  // namespace tinker::control
