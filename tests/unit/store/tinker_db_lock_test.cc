// SPDX-License-Identifier: Apache-2.0
// What callers meet while other processes use the database, and many callers it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "store/tinker_db.h"
#include "unit/store/fixture.h"

namespace tinker::store {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(TinkerDb, S3_ReadsAreAnsweredWhileTheEngineHoldsTheWriteLock) {
  Store store;
  ASSERT_TRUE(store.insert_session("session_1").has_value());
  ASSERT_TRUE(store.insert_sampling_session({.id = {"sampling_1"}, .session = {"session_1"}, .base_model = "Qwen/Qwen3-0.6B"})
                  .has_value());
  Peer engine(store.path);
  engine("BEGIN IMMEDIATE; INSERT INTO engine_state VALUES(1, 'http://127.0.0.1:8000', '2026-10-01 12:00:06.000000')");
  Answer<void> heartbeat;
  store.db->heartbeat({"session_1"}, store.loop, heartbeat.done());

  EXPECT_TRUE(store.find_session("session_1").value());
  EXPECT_EQ(store.find_sampling_session("sampling_1").value()->base_model, "Qwen/Qwen3-0.6B");
  EXPECT_EQ(store.find_sampling_session("sampling_none").value(), std::nullopt);
  EXPECT_EQ(store.find_model("model_1").value().has_value(), false);
  EXPECT_EQ(store.find_checkpoint("model_1", "ck", CheckpointType::sampler).value().has_value(), false);
  EXPECT_EQ(store.read_upstream_url().value(), std::nullopt) << "not committed yet";
  EXPECT_FALSE(heartbeat.arrived());

  engine("COMMIT");
  EXPECT_TRUE(heartbeat.get().has_value());
  EXPECT_EQ(store.read_upstream_url().value(), "http://127.0.0.1:8000");
}

TEST(TinkerDb, S3_WritesThatWaitedAreMadeInOrderWithTheTimeOfTheirCall) {
  Store store;
  Peer engine(store.path);
  engine("BEGIN IMMEDIATE");
  Answer<void> session, sampling, heartbeat;
  store.db->insert_session({.id = {"session_1"}}, store.loop, session.done());
  store.db->insert_sampling_session({.id = {"sampling_1"}, .session = {"session_1"}, .base_model = "m"}, store.loop,
                                    sampling.done());
  store.clock.advance(5s);
  store.db->heartbeat({"session_1"}, store.loop, heartbeat.done());

  engine("COMMIT");

  EXPECT_TRUE(session.get().has_value());
  EXPECT_TRUE(sampling.get().has_value());
  EXPECT_TRUE(heartbeat.get().has_value());
  EXPECT_THAT(engine("SELECT created_at, last_heartbeat_at FROM sessions"),
              ElementsAre("2019-12-20 00:00:00.000000|2019-12-20 00:00:05.000000"));
}

TEST(TinkerDb, S3_AWriteFailsAtTheBusyLimitWithATextThatNamesIt) {
  Store store({.busy = 50ms});
  ASSERT_TRUE(store.insert_session("session_1").has_value());
  Peer engine(store.path);
  engine("BEGIN IMMEDIATE");

  const auto refused = store.heartbeat("session_1");
  engine("COMMIT");

  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, base::Code::unavailable);
  EXPECT_THAT(refused.error().text, AllOf(HasSubstr(store.path), HasSubstr("busy limit of 0.05 s"), HasSubstr("try again")));
  EXPECT_TRUE(store.heartbeat("session_1").has_value()) << "the next one finds the lock free";
  EXPECT_THAT(engine("SELECT heartbeat_count FROM sessions"), ElementsAre("1"));
}

TEST(TinkerDb, S3_OpensBesideAnEngineThatIsWriting) {
  Store store;
  store.db.reset();
  Peer engine(store.path);
  engine("BEGIN IMMEDIATE");

  const auto opened = TinkerDb::open("sqlite:///" + store.path, store.clock, {.busy = 50ms});
  engine("COMMIT");

  EXPECT_TRUE(opened.has_value()) << opened.error().text;
}

TEST(TinkerDb, S3_TheEngineGetsItsTurnBesideUs) {
  Store store;
  ASSERT_TRUE(store.insert_session("session_1").has_value());
  std::atomic<bool> stop{false};
  std::thread caller([&] {
    while (!stop) EXPECT_TRUE(store.heartbeat("session_1").has_value());
  });

  Peer engine(store.path);
  engine("INSERT INTO engine_state VALUES(1, NULL, '2026-10-01 12:00:06.000000')");
  for (int i = 0; i < 100; ++i) engine("BEGIN IMMEDIATE; UPDATE engine_state SET inference_proxy_url = 'u'; COMMIT");
  stop = true;
  caller.join();
}

TEST(TinkerDb, MoreCallsThanMayWaitAreRefusedAndTheRestIsMade) {
  Store store({.waiting_writes = 4});
  Peer engine(store.path);
  engine("BEGIN IMMEDIATE");
  std::vector<Answer<void>> answers(40);
  for (int i = 0; i < 40; ++i)
    store.db->insert_session({.id = {"session_" + std::to_string(i)}}, store.loop, answers[i].done());

  engine("COMMIT");

  int stored = 0;
  for (auto& answer : answers) {
    const auto result = answer.get();
    if (result) {
      ++stored;
      continue;
    }
    EXPECT_EQ(result.error().code, base::Code::exhausted);
    EXPECT_THAT(result.error().text, HasSubstr("too many writes wait"));
  }
  EXPECT_GE(stored, 4);
  EXPECT_LT(stored, 40);
  EXPECT_THAT(engine("SELECT count(*) FROM sessions"), ElementsAre(std::to_string(stored)));
}

TEST(TinkerDb, AnAnswerRunsOnTheLoopThatTheCallNamed) {
  Store store;
  RunningLoop other("w1");
  Answer<bool> answer;
  std::atomic<bool> here{false};

  store.db->find_session({"session_1"}, other, [&, done = answer.done()](base::Result<bool> found) {
    here = other.loop().here() && !store.loop.loop().here();
    done(std::move(found));
  });

  EXPECT_FALSE(answer.get().value());
  EXPECT_TRUE(here);
}

TEST(TinkerDb, DestructionAnswersEveryCall) {
  Store store;
  std::vector<Answer<void>> writes(500);
  std::vector<Answer<bool>> reads(500);
  for (int i = 0; i < 500; ++i) {
    store.db->insert_session({.id = {"session_" + std::to_string(i)}}, store.loop, writes[i].done());
    store.db->find_session({"session_0"}, store.loop, reads[i].done());
  }

  store.db.reset();

  for (auto& write : writes) EXPECT_TRUE(write.get().has_value());
  for (auto& read : reads) EXPECT_TRUE(read.get().has_value());
  EXPECT_THAT(as_peer(store.path, "SELECT count(*) FROM sessions"), ElementsAre("500"));
}

// A training job that starts: each session is made, sampled from, kept alive and looked for, from four loops at once.
TEST(TinkerDb, AThousandSessionsFromSeveralLoopsAreAllThere) {
  constexpr int kLoops = 4;
  constexpr int kSessions = 250;
  Store store;
  std::vector<std::unique_ptr<RunningLoop>> loops;
  for (int i = 0; i < kLoops; ++i) loops.push_back(std::make_unique<RunningLoop>("w" + std::to_string(i)));
  std::atomic<int> failures{0};
  std::vector<Answer<bool>> finished(kLoops * kSessions);

  for (int i = 0; i < kLoops * kSessions; ++i) {
    loop::EventLoop& loop = *loops[i % kLoops];
    const std::string n = std::to_string(i);
    loop.post([&, n, done = finished[i].done()] {
      const auto count = [&](const base::Result<void>& result) { failures += !result; };
      store.db->insert_session({.id = {"session_" + n}}, loop, [&, n, done, count](base::Result<void> made) {
        count(made);
        store.db->heartbeat({"session_" + n}, loop, count);
        store.db->insert_sampling_session({.id = {"sampling_" + n}, .session = {"session_" + n}, .base_model = "m"}, loop,
                                          [&, n, done, count](base::Result<void> opened) {
                                            count(opened);
                                            store.db->find_session({"session_" + n}, loop, done);
                                          });
      });
    });
  }

  for (auto& answer : finished) EXPECT_TRUE(answer.get().value());
  EXPECT_EQ(failures, 0);
  EXPECT_THAT(
      as_peer(store.path, "SELECT count(*), sum(heartbeat_count), (SELECT count(*) FROM sampling_sessions) FROM sessions"),
      ElementsAre("1000|1000|1000"));
  store.db.reset();
}

}  // namespace
}  // namespace tinker::store
