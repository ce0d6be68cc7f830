// SPDX-License-Identifier: Apache-2.0
#include "loop/mailbox.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace tinker::loop {
namespace {

using namespace std::chrono_literals;

TEST(Mailbox, RefusesWhenFullAndLeavesTheItem) {
  Mailbox<std::string> mailbox(1);
  std::string first = "first";
  std::string second = "second";

  EXPECT_TRUE(mailbox.try_push(std::move(first)));
  EXPECT_FALSE(mailbox.try_push(std::move(second)));

  EXPECT_EQ(second, "second");
}

TEST(Mailbox, GivesEverythingInOrderAndThenItsEnd) {
  Mailbox<int> mailbox(100);
  std::vector<int> got;
  std::thread receiver([&] {
    while (auto items = mailbox.take_all(10s)) got.insert(got.end(), items->begin(), items->end());
  });

  for (int i = 0; i < 50; ++i) {
    int item = i;
    while (!mailbox.try_push(std::move(item))) std::this_thread::yield();
  }
  mailbox.close();
  receiver.join();

  ASSERT_EQ(got.size(), 50u);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(got[i], i);
}

TEST(Mailbox, ComesBackEmptyWhenNothingArrives) {
  Mailbox<int> mailbox(1);

  auto items = mailbox.take_all(0s);

  ASSERT_TRUE(items.has_value());
  EXPECT_TRUE(items->empty());
}

TEST(Mailbox, RefusesAfterClose) {
  Mailbox<int> mailbox(1);
  mailbox.close();

  EXPECT_FALSE(mailbox.try_push(1));
}

}  // namespace
}  // namespace tinker::loop
