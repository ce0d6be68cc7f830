// SPDX-License-Identifier: Apache-2.0
#include "futures/state.h"

namespace tinker::futures {

std::optional<State> after(State state, Event event) {
  switch (state) {
    case State::queued:
    case State::in_flight:
      switch (event) {
        case Event::start:
          return State::in_flight;
        case Event::requeue:
          return State::queued;
        case Event::complete:
          return State::completed;
        case Event::fail:
          return State::failed;
        case Event::deliver:
        case Event::confirm:
          return std::nullopt;
      }
      break;
    case State::completed:
    case State::failed:
    case State::delivered:
    case State::confirmed:
      switch (event) {
        case Event::deliver:  // also after a confirmation: a client that reads again has not got it for good
          return State::delivered;
        case Event::confirm:
          if (state == State::delivered) return State::confirmed;
          return std::nullopt;
        case Event::start:
        case Event::requeue:
        case Event::complete:
        case Event::fail:
          return std::nullopt;
      }
      break;
  }
  __builtin_unreachable();
}

bool is_live(State state) {
  switch (state) {
    case State::queued:
    case State::in_flight:
      return true;
    case State::completed:
    case State::failed:
    case State::delivered:
    case State::confirmed:
      return false;
  }
  __builtin_unreachable();
}

std::string_view text(State state) {
  switch (state) {
    case State::queued:
      return "queued";
    case State::in_flight:
      return "in_flight";
    case State::completed:
      return "completed";
    case State::failed:
      return "failed";
    case State::delivered:
      return "delivered";
    case State::confirmed:
      return "confirmed";
  }
  __builtin_unreachable();
}

std::optional<State> state_named(std::string_view name) {
  for (std::size_t i = 0; i < kStates; ++i) {
    const auto state = static_cast<State>(i);
    if (text(state) == name) return state;
  }
  return std::nullopt;
}

}  // namespace tinker::futures
