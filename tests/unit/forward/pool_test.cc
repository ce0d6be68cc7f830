// SPDX-License-Identifier: Apache-2.0
#include "forward/pool.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "unit/forward/fake_network.h"
#include "unit/forward/run_until.h"

namespace tinker::forward {
namespace {

using namespace std::chrono_literals;

http::SocketAddress address(std::uint16_t port) { return *http::SocketAddress::numeric("127.0.0.1", port); }

class PoolTest : public testing::Test {
 protected:
  using Held = std::unique_ptr<PooledLink>;

  // One exchange on `link`, after which it may be used again.
  void exchange(const Held& link) {
    (*link)->send("", {}, {}, [](auto) {});
    network_.answer(200, "");
  }
  std::vector<Held> take_many(std::size_t count) {
    std::vector<Held> links;
    for (std::size_t i = 0; i < count; ++i) links.push_back(pool_.take(0, address(8000)));
    return links;
  }
  void give_back_used(std::vector<Held> links) {
    for (Held& link : links) {
      exchange(link);
      pool_.give_back(std::move(link));
    }
  }

  loop::EventLoop loop_{"test"};
  base::FakeClock clock_;
  FakeNetwork network_;
  ForwardLimits limits_{.max_connections = 3000, .idle = base::Seconds{2}};
  Pool pool_{loop_, clock_, network_.connect(), [this] { return limits_; }};
};

TEST_F(PoolTest, TheConnectionUsedLastIsUsedNext) {
  auto links = take_many(3);
  const PooledLink* last = links[2].get();
  give_back_used(std::move(links));

  const auto next = pool_.take(0, address(8000));

  EXPECT_EQ(next.get(), last);
  EXPECT_EQ(network_.connected(), 3u);
}

TEST_F(PoolTest, AConnectionThatMayNotBeUsedAgainIsClosed) {
  auto link = pool_.take(0, address(8000));
  (*link)->send("", {}, {}, [](auto) {});
  network_.answer(200, "", "application/json", /*keep=*/false);

  pool_.give_back(std::move(link));

  EXPECT_EQ(pool_.open(), 0u);
  EXPECT_EQ(network_.open(), 0u);
}

TEST_F(PoolTest, U5_AnIdleConnectionThatIsDueIsNeverTaken) {
  give_back_used(take_many(1));
  clock_.advance(1999ms);
  give_back_used(take_many(1));
  EXPECT_EQ(network_.connected(), 1u);

  clock_.advance(2s);
  const auto link = pool_.take(0, address(8000));

  EXPECT_EQ(network_.connected(), 2u);
  EXPECT_EQ(pool_.open(), 1u);
}

TEST_F(PoolTest, U5_IdleConnectionsAreClosedByTheTimer) {
  limits_.idle = base::Seconds{0.01};
  give_back_used(take_many(20));
  EXPECT_EQ(pool_.idle(), 20u);
  clock_.advance(1s);

  EXPECT_TRUE(run_until(loop_, [&] { return network_.open() == 0; }));

  EXPECT_EQ(pool_.idle(), 0u);
}

TEST_F(PoolTest, ForgetsAnIdleConnectionThatTheOtherSideCloses) {
  give_back_used(take_many(3));

  network_.close_idle(1);

  EXPECT_EQ(pool_.idle(), 2u);
  EXPECT_EQ(network_.open(), 2u);
}

TEST_F(PoolTest, AFreshConnectionIsNeverOneThatWasUsed) {
  give_back_used(take_many(2));

  const auto link = pool_.take_fresh(0, address(8000));

  EXPECT_EQ(network_.connected(), 3u);
  EXPECT_EQ(pool_.idle(), 2u);
}

TEST_F(PoolTest, OpensNoMoreThanTheLimitThoughIdleOnesAreOfAnotherUpstream) {
  limits_.max_connections = 4;
  give_back_used(take_many(4));

  std::vector<Held> others;
  for (int i = 0; i < 4; ++i) others.push_back(pool_.take(1, address(8001)));

  EXPECT_EQ(network_.most_open(), 4u);
  EXPECT_EQ(pool_.idle(), 0u);
}

TEST_F(PoolTest, AFreshConnectionMakesRoomForItself) {
  limits_.max_connections = 2;
  give_back_used(take_many(2));

  const auto link = pool_.take_fresh(0, address(8000));

  EXPECT_EQ(network_.most_open(), 2u);
  EXPECT_EQ(pool_.idle(), 1u);
}

TEST_F(PoolTest, AShrunkenLimitClosesIdleOnesAndLetsBusyOnesFinish) {
  auto busy = take_many(6);
  give_back_used(take_many(4));
  EXPECT_EQ(pool_.open(), 6u + 4u);

  limits_.max_connections = 2;
  exchange(busy[0]);
  pool_.give_back(std::move(busy[0]));
  auto next = pool_.take(1, address(8001));

  EXPECT_EQ(pool_.idle(), 0u);
  EXPECT_EQ(pool_.open(), 5u + 1u);
  for (std::size_t i = 1; i < busy.size(); ++i) {
    exchange(busy[i]);
    pool_.give_back(std::move(busy[i]));
  }
  EXPECT_EQ(pool_.open(), 2u);
}

TEST_F(PoolTest, ANewAddressDropsIdleConnectionsToTheOldOne) {
  auto busy = take_many(1);
  give_back_used(take_many(3));

  const auto link = pool_.take(0, address(9000));

  EXPECT_EQ(pool_.idle(), 0u);
  EXPECT_EQ(pool_.open(), 2u);
  give_back_used(std::move(busy));  // to the old address
  EXPECT_EQ(pool_.open(), 1u);
}

TEST_F(PoolTest, AddressesOfDifferentUpstreamsDoNotDisturbEachOther) {
  give_back_used(take_many(1));
  auto other = pool_.take(1, address(8001));
  exchange(other);
  pool_.give_back(std::move(other));

  const auto first = pool_.take(0, address(8000));
  const auto second = pool_.take(1, address(8001));

  EXPECT_EQ(network_.connected(), 2u);
}

// A pool that searches would touch a link for each one it looks at.
TEST_F(PoolTest, U1_AnExchangeTouchesAsManyLinksWithTenInFlightAsWithTwoThousand) {
  const auto touches_of_an_exchange = [this](std::size_t in_flight, std::size_t idle) {
    auto busy = take_many(in_flight);
    give_back_used(take_many(idle));
    const std::size_t before = network_.touches();
    auto link = pool_.take(0, address(8000));
    exchange(link);
    pool_.give_back(std::move(link));
    return network_.touches() - before;
  };

  const std::size_t with_ten = touches_of_an_exchange(10, 10);
  const std::size_t with_two_thousand = touches_of_an_exchange(2000, 900);

  EXPECT_EQ(with_ten, with_two_thousand);
  EXPECT_LE(with_ten, 4u);
}

}  // namespace
}  // namespace tinker::forward
