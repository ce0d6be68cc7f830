// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/health_probe.h"

#include <gtest/gtest.h>

#include "unit/forward/run_until.h"
#include "unit/tinker-load/fake_tinker.h"

namespace tinker::load {
namespace {

class HealthProbeTest : public testing::Test {
 protected:
  loop::EventLoop loop_{"load"};
  FakeTinker server_{loop_};
};

TEST_F(HealthProbeTest, MeasuresOnOneConnection) {
  const HealthProbe probe(loop_, *http::SocketAddress::numeric("127.0.0.1", server_.port()));

  ASSERT_TRUE(forward::run_until(loop_, [&] { return probe.times().count() >= 3; }));

  EXPECT_EQ(probe.failed(), 0u);
  EXPECT_EQ(server_.peers.size(), 1u);
}

TEST_F(HealthProbeTest, CountsWhatIsNo200) {
  server_.others["/api/v1/healthz"] = FakeTinker::json(500, "");
  const HealthProbe probe(loop_, *http::SocketAddress::numeric("127.0.0.1", server_.port()));

  ASSERT_TRUE(forward::run_until(loop_, [&] { return probe.failed() >= 2; }));

  EXPECT_EQ(probe.times().count(), 0u);
}

TEST_F(HealthProbeTest, GoesOnAfterTheServerWasAway) {
  const HealthProbe probe(loop_, *http::SocketAddress::numeric("127.0.0.1", server_.port()));
  ASSERT_TRUE(forward::run_until(loop_, [&] { return probe.times().count() >= 1; }));

  server_.restart();

  ASSERT_TRUE(forward::run_until(loop_, [&] { return server_.peers.size() >= 2; }));
  ASSERT_TRUE(forward::run_until(loop_, [&] { return probe.times().count() >= 2; }));
}

}  // namespace
}  // namespace tinker::load
