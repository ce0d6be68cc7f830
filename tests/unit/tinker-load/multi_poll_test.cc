// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/multi_poll.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "unit/forward/run_until.h"
#include "unit/tinker-load/fake_tinker.h"

namespace tinker::load {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class MultiPollTest : public testing::Test {
 protected:
  struct Asked {
    std::uint64_t cursor;
    bool at_once;
    std::vector<std::string> acknowledged;
  };

  MultiPollTest() {
    server_.on_poll_many = [this](const rapidjson::Document& body, http::Reply& reply) {
      Asked& asked = asked_.emplace_back(Asked{body["prev_cursor"].GetUint64(), body.HasMember("timeout"), {}});
      for (const auto& id : body["retrieved_request_ids"].GetArray()) asked.acknowledged.emplace_back(id.GetString());
      replies_.push_back(reply);
      return true;
    };
    options_.first_pause_sec = 0.001;
    options_.poll_timeout_sec = 20;
  }
  void await(const std::vector<std::string>& ids) {
    for (const std::string& id : ids) poll_.await(id);
  }
  // Answers poll number `k`, which must come.
  void answer(std::size_t k, http::Response response) {
    ASSERT_TRUE(forward::run_until(loop_, [&] { return replies_.size() > k; }));
    replies_[k].send(std::move(response));
  }
  bool poll_comes(std::size_t k) {
    return forward::run_until(loop_, [&] { return asked_.size() > k; });
  }
  bool finish() {
    bool done = false;
    poll_.finish([&] { done = true; });
    return forward::run_until(loop_, [&] { return done; });
  }

  loop::EventLoop loop_{"load"};
  FakeTinker server_{loop_};
  LoadOptions options_;
  LoadTotals totals_;
  std::vector<Asked> asked_;
  std::vector<http::Reply> replies_;
  std::vector<std::string> finished_;
  std::string lost_;
  MultiPoll poll_{loop_,
                  *http::SocketAddress::numeric("127.0.0.1", server_.port()),
                  options_,
                  "sampling-1",
                  "POST /api/v1/retrieve_futures HTTP/1.1\r\nHost: fake\r\nContent-Length: ",
                  totals_,
                  {.finished = [this](const std::string& id) { finished_.push_back(id); },
                   .lost = [this](const std::string& why) { lost_ = why; }}};
};

TEST_F(MultiPollTest, TellsOnceOfEachThatIsAwaited) {
  await({"s1", "s2", "s3"});

  answer(0, FakeTinker::completions(5, {"s2", "s1"}));
  answer(1, FakeTinker::completions(6, {"s2", "s3"}));

  ASSERT_TRUE(forward::run_until(loop_, [&] { return finished_.size() == 3; }));
  EXPECT_THAT(finished_, ElementsAre("s2", "s1", "s3"));
  EXPECT_EQ(asked_[0].cursor, 0u);
  EXPECT_EQ(asked_[1].cursor, 5u);
  EXPECT_EQ(totals_.counts.repolls, 1u);
}

TEST_F(MultiPollTest, KnowsWhatEndedBeforeItWasAwaited) {
  await({"s1"});
  answer(0, FakeTinker::completions(2, {"s2"}));
  ASSERT_TRUE(poll_comes(1));

  await({"s2"});

  EXPECT_THAT(finished_, ElementsAre("s2"));
}

TEST_F(MultiPollTest, AcknowledgesWithTheNextPoll) {
  await({"s1", "s2"});
  answer(0, FakeTinker::completions(1, {"s1"}));
  ASSERT_TRUE(poll_comes(1));
  poll_.retrieved("s1");
  answer(1, FakeTinker::completions(1, {}));
  ASSERT_TRUE(poll_comes(2));

  EXPECT_TRUE(asked_[1].acknowledged.empty());
  EXPECT_THAT(asked_[2].acknowledged, ElementsAre("s1"));
}

TEST_F(MultiPollTest, AcknowledgesAgainWhenThePollFailed) {
  await({"s1", "s2"});
  answer(0, FakeTinker::completions(1, {"s1"}));
  ASSERT_TRUE(poll_comes(1));
  poll_.retrieved("s1");
  answer(1, FakeTinker::completions(1, {}));

  answer(2, FakeTinker::json(503, "busy"));
  ASSERT_TRUE(poll_comes(3));

  EXPECT_THAT(asked_[3].acknowledged, ElementsAre("s1"));
  EXPECT_THAT(totals_.troubles.all().front().text, HasSubstr("status 503: busy"));
}

TEST_F(MultiPollTest, FinishesWhenAllIsAcknowledged) {
  await({"s1"});
  answer(0, FakeTinker::completions(1, {"s1"}));
  ASSERT_TRUE(forward::run_until(loop_, [&] { return finished_.size() == 1; }));
  poll_.retrieved("s1");
  bool done = false;
  poll_.finish([&] { done = true; });

  ASSERT_TRUE(poll_comes(1));
  EXPECT_TRUE(asked_[1].at_once);
  EXPECT_FALSE(done);
  answer(1, FakeTinker::completions(1, {}));

  ASSERT_TRUE(forward::run_until(loop_, [&] { return done; }));
  EXPECT_THAT(asked_[1].acknowledged, ElementsAre("s1"));
}

TEST_F(MultiPollTest, FinishesAtOnceWithNothingToAcknowledge) { EXPECT_TRUE(finish()); }

TEST_F(MultiPollTest, PollsAgainAfterABrokenConnection) {
  await({"s1"});
  ASSERT_TRUE(poll_comes(0));

  loop_.post([this] { server_.restart(); });
  answer(1, FakeTinker::completions(1, {"s1"}));

  ASSERT_TRUE(forward::run_until(loop_, [&] { return finished_.size() == 1; }));
  EXPECT_EQ(totals_.counts.reconnects, 1u);
}

TEST_F(MultiPollTest, CountsAPollThatWasHeldForTooLong) {
  options_.poll_timeout_sec = 0.05;
  await({"s1"});

  ASSERT_TRUE(poll_comes(1));

  EXPECT_GE(totals_.counts.abandoned_polls, 1u);
  EXPECT_EQ(totals_.counts.reconnects, 0u);
}

TEST_F(MultiPollTest, IsLostWhereTheSdkGivesUp) {
  await({"s1"});

  answer(0, FakeTinker::json(410, "gone"));

  ASSERT_TRUE(forward::run_until(loop_, [&] { return !lost_.empty(); }));
  EXPECT_EQ(lost_, "retrieve_futures: status 410: gone");
}

TEST_F(MultiPollTest, IsLostWhenTheCursorGoesBack) {
  await({"s1"});

  answer(0, FakeTinker::completions(7, {}));
  answer(1, FakeTinker::completions(6, {"s1"}));

  ASSERT_TRUE(forward::run_until(loop_, [&] { return !lost_.empty(); }));
  EXPECT_THAT(lost_, HasSubstr("the cursor went back from 7"));
  EXPECT_TRUE(finished_.empty());
}

}  // namespace
}  // namespace tinker::load
