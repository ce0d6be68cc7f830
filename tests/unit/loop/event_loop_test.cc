// SPDX-License-Identifier: Apache-2.0
#include "loop/event_loop.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace tinker::loop {
namespace {

TEST(EventLoop, RunsPostedTasksInOrderOnItsThread) {
  EventLoop loop("w0");
  std::vector<int> order;
  std::thread::id ran_on;
  for (int i = 0; i < 1000; ++i) loop.post([&order, i] { order.push_back(i); });
  loop.post([&] { ran_on = std::this_thread::get_id(); });
  loop.stop();

  std::thread thread([&] { loop.run(); });
  const std::thread::id id = thread.get_id();
  thread.join();

  ASSERT_EQ(order.size(), 1000u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  EXPECT_EQ(ran_on, id);
}

TEST(EventLoop, TakesPostsFromManyThreads) {
  EventLoop loop("w0");
  int sum = 0;
  std::thread runner([&] { loop.run(); });

  std::vector<std::thread> senders;
  for (int t = 0; t < 4; ++t)
    senders.emplace_back([&] {
      for (int i = 0; i < 5000; ++i) loop.post([&] { ++sum; });
    });
  for (std::thread& sender : senders) sender.join();
  loop.stop();
  runner.join();

  EXPECT_EQ(sum, 20000);
}

TEST(EventLoop, KnowsItsThread) {
  EventLoop loop("w0");
  bool inside = false;
  bool outside = true;
  std::thread runner([&] { loop.run(); });
  std::thread([&] {
    while (loop.here()) std::this_thread::yield();
    outside = loop.here();
  }).join();

  loop.post([&] { inside = loop.here(); });
  loop.stop();
  runner.join();

  EXPECT_TRUE(inside);
  EXPECT_FALSE(outside);
}

TEST(Timer, FiresOnceForEachTimeItIsSet) {
  EventLoop loop("w0");
  int fired = 0;
  Timer* again = nullptr;
  Timer timer(loop, [&] {
    if (++fired < 3)
      again->after(base::Seconds{0});
    else
      loop.stop();
  });
  again = &timer;
  timer.after(base::Seconds{0.001});

  loop.run();

  EXPECT_EQ(fired, 3);
  EXPECT_FALSE(timer.pending());
}

TEST(Timer, DoesNotFireAfterItWasCancelled) {
  EventLoop loop("w0");
  bool fired = false;
  Timer cancelled(loop, [&] { fired = true; });
  Timer end(loop, [&] { loop.stop(); });
  cancelled.after(base::Seconds{0.001});
  end.after(base::Seconds{0.02});
  cancelled.cancel();

  loop.run();

  EXPECT_FALSE(fired);
}

TEST(EventLoop, ClientEventsRunBetweenUpstreamEvents) {
  EventLoop loop("w0");
  std::vector<char> order;
  std::vector<std::unique_ptr<Timer>> upstream;
  for (int i = 0; i < 100; ++i) {
    upstream.push_back(std::make_unique<Timer>(
        loop,
        [&] {
          if (order.empty()) loop.post([&] { order.push_back('c'); });
          order.push_back('u');
        },
        Priority::upstream));
    upstream.back()->after(base::Seconds{0});
  }
  Timer end(
      loop, [&] { loop.stop(); }, Priority::upstream);
  end.after(base::Seconds{0.05});

  loop.run();

  const auto client = std::find(order.begin(), order.end(), 'c') - order.begin();
  EXPECT_LT(client, 50) << "a client event waited behind all upstream events";
}

}  // namespace
}  // namespace tinker::loop
