// SPDX-License-Identifier: Apache-2.0
#include "forward/job_board.h"

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <thread>
#include <vector>

namespace tinker::forward {
namespace {

Job job(std::int64_t number, std::string queue = "session") { return {.id = {number}, .queue = std::move(queue)}; }

// A forwarder's place, and how often it was called.
struct Chair {
  Chair(JobBoard& at, std::size_t its_most) : board(at), most(its_most), seat(at.sit(its_most, [this] { ++calls; })) {}
  ~Chair() { board.leave(seat); }
  bool put(std::int64_t number) { return board.put(job(number), seat); }
  std::size_t take_all() {
    std::size_t taken = 0;
    while (board.take(seat, most)) ++taken;
    return taken;
  }
  JobBoard& board;
  std::size_t most;
  std::atomic<int> calls{0};
  JobBoard::Seat& seat;
};

TEST(JobBoard, WhoPutsAJobUpTakesIt) {
  JobBoard board;
  Chair mine(board, 4), other(board, 4);

  EXPECT_TRUE(mine.put(1));
  EXPECT_EQ(mine.take_all(), 1u);
  EXPECT_EQ(other.calls, 0);
}

TEST(JobBoard, AFullForwarderCallsOneWithRoom) {
  JobBoard board;
  Chair mine(board, 1), other(board, 4);
  mine.put(1);
  mine.take_all();

  EXPECT_FALSE(mine.put(2));
  EXPECT_FALSE(mine.put(3));
  EXPECT_EQ(other.calls, 1) << "many jobs cost one call until it looks";
  EXPECT_EQ(other.take_all(), 2u);
}

TEST(JobBoard, OneThatWasCalledForMoreThanItHasRoomForCallsTheNext) {
  JobBoard board;
  Chair full(board, 0), narrow(board, 1), wide(board, 4);
  for (int number = 1; number <= 3; ++number) full.put(number);

  ASSERT_EQ(narrow.calls, 1);
  EXPECT_EQ(narrow.take_all(), 1u);
  EXPECT_EQ(wide.calls, 1);
  EXPECT_EQ(wide.take_all(), 2u);
}

TEST(JobBoard, ABusyForwarderLeavesJobsToAnIdleOne) {
  JobBoard board;
  Chair mine(board, 1000), other(board, 1000);
  for (int number = 0; number < 100; ++number)
    if (mine.put(number)) mine.take_all();

  EXPECT_EQ(other.calls, 1);
  EXPECT_GT(other.take_all(), 0u);
}

TEST(JobBoard, NobodyIsCalledWhenAllAreFull) {
  JobBoard board;
  Chair mine(board, 1), other(board, 0);
  mine.put(1);
  mine.take_all();

  EXPECT_TRUE(mine.put(2));
  EXPECT_EQ(mine.take_all(), 0u);
  EXPECT_EQ(board.size(), 1u);
  board.ended(mine.seat);
  EXPECT_EQ(mine.take_all(), 1u);
}

TEST(JobBoard, AWithdrawnJobIsNotTaken) {
  JobBoard board;
  Chair mine(board, 4);
  mine.put(1);

  EXPECT_TRUE(board.withdraw({1}));
  EXPECT_FALSE(board.withdraw({1}));
  EXPECT_EQ(mine.take_all(), 0u);
}

TEST(JobBoard, EveryJobIsTakenOnceByOneOfManyThreads) {
  constexpr int kEach = 2000;
  JobBoard board;
  std::atomic<int> taken{0};
  std::deque<Chair> chairs;
  for (int number = 0; number < 4; ++number) chairs.emplace_back(board, 3);
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([&, number] {
      Chair& chair = chairs[static_cast<std::size_t>(number)];
      for (int i = 0; i < kEach; ++i) {
        chair.put(number * kEach + i);
        while (board.take(chair.seat, chair.most)) {
          ++taken;
          board.ended(chair.seat);
        }
      }
      while (taken < 4 * kEach) {  // what it was called for may come later
        while (board.take(chair.seat, chair.most)) {
          ++taken;
          board.ended(chair.seat);
        }
        std::this_thread::yield();
      }
    });
  }
  for (auto& thread : threads) thread.join();

  EXPECT_EQ(taken, 4 * kEach);
  EXPECT_EQ(board.size(), 0u);
}

}  // namespace
}  // namespace tinker::forward
