// SPDX-License-Identifier: Apache-2.0
#include "base/deadline_list.h"

#include <gtest/gtest.h>

#include <vector>

namespace tinker::base {
namespace {

struct Item : DeadlineList<Item>::Hook {
  explicit Item(int n) : number(n) {}
  int number;
};

Monotonic at(int seconds) { return Monotonic{std::chrono::seconds{seconds}}; }

std::vector<int> drain(DeadlineList<Item>& list, int now) {
  std::vector<int> numbers;
  while (Item* item = list.due(at(now))) {
    numbers.push_back(item->number);
    list.remove(*item);
  }
  return numbers;
}

TEST(DeadlineList, GivesWhatIsDueInOrderOfDeadlines) {
  DeadlineList<Item> list;
  Item a{1}, b{2}, c{3};
  list.put(a, at(10));
  list.put(b, at(30));
  list.put(c, at(20));

  EXPECT_EQ(drain(list, 20), (std::vector{1, 3}));
  EXPECT_EQ(drain(list, 29), (std::vector<int>{}));
  EXPECT_EQ(drain(list, 30), (std::vector{2}));
}

TEST(DeadlineList, MovesAnEntryThatIsPutAgain) {
  DeadlineList<Item> list;
  Item a{1}, b{2};
  list.put(a, at(10));
  list.put(b, at(20));

  list.put(a, at(30));

  EXPECT_EQ(drain(list, 100), (std::vector{2, 1}));
}

TEST(DeadlineList, ForgetsWhatIsRemoved) {
  DeadlineList<Item> list;
  Item a{1}, b{2}, c{3};
  list.put(a, at(1));
  list.put(b, at(2));
  list.put(c, at(3));

  list.remove(b);
  list.remove(b);

  EXPECT_EQ(drain(list, 100), (std::vector{1, 3}));
  EXPECT_TRUE(list.empty());
}

TEST(DeadlineList, IsLeftByAnEntryThatIsDestroyed) {
  DeadlineList<Item> list;
  Item a{1};
  list.put(a, at(1));
  {
    Item b{2};
    list.put(b, at(2));
  }

  EXPECT_EQ(drain(list, 100), (std::vector{1}));
}

TEST(DeadlineList, KeepsTheOrderOfArrivalAmongEqualDeadlines) {
  DeadlineList<Item> list;
  Item a{1}, b{2};
  list.put(a, at(5));
  list.put(b, at(5));

  EXPECT_EQ(drain(list, 5), (std::vector{1, 2}));
}

}  // namespace
}  // namespace tinker::base
