// SPDX-License-Identifier: Apache-2.0
#include "futures/state.h"

#include <gtest/gtest.h>

#include <vector>

namespace tinker::futures {
namespace {

constexpr State kAll[] = {State::queued, State::in_flight, State::completed, State::failed, State::delivered, State::confirmed};

TEST(State, TakesASampleFromTheQueueToItsConfirmation) {
  State state = State::queued;
  for (const Event event : {Event::start, Event::complete, Event::deliver, Event::confirm}) state = after(state, event).value();

  EXPECT_EQ(state, State::confirmed);
}

TEST(State, GivesASecondOutcomeNoMeaning) {
  for (const State state : {State::completed, State::failed, State::delivered, State::confirmed}) {
    for (const Event event : {Event::start, Event::requeue, Event::complete, Event::fail}) {
      EXPECT_EQ(after(state, event), std::nullopt) << text(state);
    }
  }
}

TEST(State, DeliversOnlyWhatHasEnded) {
  for (const State state : kAll) EXPECT_EQ(after(state, Event::deliver).has_value(), !is_live(state)) << text(state);
}

TEST(State, ConfirmsOnlyWhatWasDelivered) {
  for (const State state : kAll) {
    EXPECT_EQ(after(state, Event::confirm).has_value(), state == State::delivered) << text(state);
  }
}

TEST(State, IsKnownByItsText) {
  for (const State state : kAll) EXPECT_EQ(state_named(text(state)), state);
  EXPECT_EQ(state_named("pending"), std::nullopt);
  EXPECT_EQ(state_named(""), std::nullopt);
}

}  // namespace
}  // namespace tinker::futures
