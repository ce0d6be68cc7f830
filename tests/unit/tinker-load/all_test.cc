// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/all.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace tinker::load {
namespace {

TEST(WorkersFor, AreAsManyAsTheConnectionsNeed) {
  const std::size_t processors = std::max(1u, std::thread::hardware_concurrency());

  EXPECT_EQ(workers_for(100, 20'000), processors);
  EXPECT_EQ(workers_for(1'500'000, 20'000), 100u);
  EXPECT_EQ(workers_for(1'500'001, 20'000), 101u);
}

TEST(RunAll, RefusesMoreConnectionsThanTheRouterHolds) {
  AllOptions options;
  options.forwarding_max_connections = std::size_t{1} << 40;

  const auto outcome = run_all(options);

  ASSERT_FALSE(outcome.has_value());
  EXPECT_EQ(outcome.error().code, base::Code::invalid_argument);
  EXPECT_THAT(outcome.error().text, testing::HasSubstr("--forwarding-max-connections"));
}

}  // namespace
}  // namespace tinker::load
