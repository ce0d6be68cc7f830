// SPDX-License-Identifier: Apache-2.0
#include "forward/fair_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tinker::forward {
namespace {

using testing::ElementsAre;

Job job(std::int64_t number, std::string queue) { return {.id = {number}, .queue = std::move(queue)}; }

std::vector<std::int64_t> drain(FairQueue& queue) {
  std::vector<std::int64_t> order;
  while (auto next = queue.pop()) order.push_back(next->id.number);
  return order;
}

TEST(FairQueue, KeepsTheOrderWithinOneQueue) {
  FairQueue queue;
  for (int i = 1; i <= 4; ++i) queue.push(job(i, "a"));

  EXPECT_THAT(drain(queue), ElementsAre(1, 2, 3, 4));
}

TEST(FairQueue, TakesTurnsBetweenQueues) {
  FairQueue queue;
  for (int i = 1; i <= 3; ++i) queue.push(job(i, "a"));
  for (int i = 11; i <= 12; ++i) queue.push(job(i, "b"));
  queue.push(job(21, "c"));

  EXPECT_THAT(drain(queue), ElementsAre(1, 11, 21, 2, 12, 3));
}

TEST(FairQueue, ServesAnEvaluationOfTenBehindABurst) {
  constexpr int kBurst = 131'072;
  FairQueue queue;
  for (int i = 0; i < kBurst; ++i) queue.push(job(i, "training"));
  for (int i = 0; i < 100; ++i) queue.pop();
  for (int i = 0; i < 10; ++i) queue.push(job(kBurst + i, "evaluation"));

  int pops = 0;
  for (int served = 0; served < 10; ++pops) served += queue.pop()->queue == "evaluation" ? 1 : 0;

  EXPECT_LE(pops, 20);
}

TEST(FairQueue, ABusySessionGainsNothingByRefilling) {
  FairQueue queue;
  queue.push(job(1, "a"));
  queue.push(job(11, "b"));
  queue.push(job(12, "b"));

  std::vector<std::int64_t> order;
  for (int i = 2; i <= 3; ++i) {
    order.push_back(queue.pop()->id.number);
    queue.push(job(i, "a"));  // its queue had become empty, and goes behind
  }
  for (const auto rest : drain(queue)) order.push_back(rest);

  EXPECT_THAT(order, ElementsAre(1, 11, 2, 12, 3));
}

TEST(FairQueue, GivesAJobBackAsItWasPushed) {
  FairQueue queue;
  Job pushed = job(7, "a session whose name is too long to be kept inside a string");
  pushed.session_header = "a:7";
  pushed.wants.num_samples = 3;
  queue.push(pushed);

  const auto popped = queue.pop();

  ASSERT_TRUE(popped);
  EXPECT_EQ(popped->id.number, 7);
  EXPECT_EQ(popped->queue, pushed.queue);
  EXPECT_EQ(popped->session_header, "a:7");
  EXPECT_EQ(popped->wants.num_samples, 3u);
}

TEST(FairQueue, WithdrawsAJobWhereverItStands) {
  FairQueue queue;
  for (int i = 1; i <= 5; ++i) queue.push(job(i, "a"));
  queue.push(job(11, "b"));

  EXPECT_TRUE(queue.withdraw({1}));
  EXPECT_TRUE(queue.withdraw({3}));
  EXPECT_TRUE(queue.withdraw({5}));
  EXPECT_FALSE(queue.withdraw({3}));
  EXPECT_FALSE(queue.withdraw({99}));

  EXPECT_EQ(queue.size(), 3u);
  EXPECT_THAT(drain(queue), ElementsAre(2, 11, 4));
}

TEST(FairQueue, AQueueWithoutJobsLeavesNothingBehind) {
  FairQueue queue;
  for (int i = 0; i < 10'000; ++i) queue.push(job(i, "session " + std::to_string(i)));
  EXPECT_EQ(queue.queues(), 10'000u);

  for (int i = 0; i < 10'000; i += 2) queue.withdraw({i});
  EXPECT_EQ(queue.queues(), 5'000u);
  drain(queue);

  EXPECT_EQ(queue.queues(), 0u);
  EXPECT_TRUE(queue.empty());
  queue.push(job(1, "session 1"));
  EXPECT_THAT(drain(queue), ElementsAre(1));
}

TEST(FairQueue, AJobThatWaitsIsNotTakenTwice) {
  FairQueue queue;
  queue.push(job(1, "a"));
  queue.push(job(1, "b"));

  EXPECT_EQ(queue.queues(), 1u);
  EXPECT_THAT(drain(queue), ElementsAre(1));
}

TEST(FairQueue, PopOfAnEmptyQueueIsNothing) {
  FairQueue queue;

  EXPECT_FALSE(queue.pop());
}

}  // namespace
}  // namespace tinker::forward
