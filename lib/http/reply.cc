// SPDX-License-Identifier: Apache-2.0
#include "http/reply.h"

#include <cassert>
#include <utility>

#include "http/server_connection.h"
#include "loop/event_loop.h"

namespace tinker::http {

Reply::State::~State() {
  if (connection != nullptr) connection->reply_dropped();
}

bool Reply::open() const { return state_ != nullptr && state_->connection != nullptr; }

void Reply::send(Response response, std::function<void(Delivery)> observer) {
  assert(state_ != nullptr && state_->loop->here());
  state_->left = nullptr;
  if (ServerConnection* connection = state_->connection) {
    connection->answer(std::move(response), std::move(observer));
  } else if (observer) {
    state_->loop->post([observer = std::move(observer)] { observer(Delivery::gone); });
  }
}

void Reply::on_gone(std::function<void()> left) {
  if (open()) {
    state_->left = std::move(left);
  } else if (state_ != nullptr && !state_->answered && left) {
    state_->loop->post(std::move(left));
  }
}

void Reply::set_request_id(std::string id) {
  if (open()) state_->request_id = std::move(id);
}

}  // namespace tinker::http
