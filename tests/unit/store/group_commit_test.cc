// SPDX-License-Identifier: Apache-2.0
#include "store/group_commit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>

#include "unit/store/fixture.h"

namespace tinker::store {
namespace {

using base::Code;
using base::Result;
using testing::ElementsAre;
using testing::HasSubstr;

base::Monotonic now() { return std::chrono::steady_clock::now(); }

// A file with one table, the thread that writes to it, and what happened in which order.
struct Writer {
  TemporaryFolder folder;
  std::string path = folder.file("t.db");
  Peer peer{path};
  std::unique_ptr<GroupCommit> writes;
  std::mutex mutex;
  std::string events;  // a: a write was applied, s: one was settled

  explicit Writer(base::Seconds limit = base::Seconds{30}, std::size_t capacity = 10'000, const char* setting = "SELECT 1") {
    peer("PRAGMA journal_mode=WAL; CREATE TABLE t (id INTEGER PRIMARY KEY, text)");
    auto busy = std::make_unique<BusyWait>(limit);
    auto db = Connection::open(path, Access::read_write, *busy);
    EXPECT_TRUE(db && (*db)->execute(setting));
    writes = std::make_unique<GroupCommit>(std::move(*db), std::move(busy), capacity, base::Seconds{0.05});
  }
  ~Writer() { writes.reset(); }

  Write insert(int id, Answer<void>& answer, std::string text = "x", base::Monotonic asked = now()) {
    return {.apply = [this, id, text](Connection& db) -> Result<void> {
              note('a');
              auto changed = db.run("INSERT INTO t VALUES (?, ?)", id, text);
              if (!changed) return tl::unexpected(changed.error());
              return {};
            },
            .settle =
                [this, done = answer.done()](Result<void> result) {
                  note('s');
                  done(std::move(result));
                },
            .asked = asked};
  }

 private:
  void note(char event) {
    std::lock_guard lock(mutex);
    events += event;
  }
};

TEST(GroupCommit, MakesOneTransactionOfAllThatWait) {
  Writer writer;
  std::vector<Answer<void>> answers(1000);
  writer.peer("BEGIN IMMEDIATE");
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(writer.writes->try_push(writer.insert(i, answers[i])));

  writer.peer("COMMIT");
  for (auto& answer : answers) EXPECT_TRUE(answer.get().has_value());

  EXPECT_EQ(writer.events, std::string(1000, 'a') + std::string(1000, 's'));
  EXPECT_THAT(writer.peer("SELECT count(*) FROM t"), ElementsAre("1000"));
}

TEST(GroupCommit, AWriteThatFailsDoesNotTouchTheOthers) {
  Writer writer;
  writer.peer("INSERT INTO t VALUES (2, 'was there'); BEGIN IMMEDIATE");
  Answer<void> first, second, third;
  for (Write write : {writer.insert(1, first), writer.insert(2, second), writer.insert(3, third)})
    ASSERT_TRUE(writer.writes->try_push(std::move(write)));

  writer.peer("COMMIT");

  EXPECT_TRUE(first.get().has_value());
  EXPECT_EQ(second.get().error().code, Code::conflict);
  EXPECT_TRUE(third.get().has_value());
  EXPECT_THAT(writer.peer("SELECT * FROM t"), ElementsAre("1|x", "2|was there", "3|x"));
}

TEST(GroupCommit, UndoesTheWholeOfAWriteThatFailsHalfWay) {
  Writer writer;
  Answer<void> answer, other;
  Write write = writer.insert(1, answer);
  write.apply = [](Connection& db) -> Result<void> {
    if (auto changed = db.run("INSERT INTO t VALUES (7, 'half')"); !changed) return tl::unexpected(changed.error());
    return base::fail(Code::internal, "the second half cannot be made");
  };
  writer.peer("BEGIN IMMEDIATE");
  ASSERT_TRUE(writer.writes->try_push(std::move(write)));
  ASSERT_TRUE(writer.writes->try_push(writer.insert(2, other)));
  writer.peer("COMMIT");

  EXPECT_EQ(answer.get().error().text, "the second half cannot be made");
  EXPECT_TRUE(other.get().has_value());
  EXPECT_THAT(writer.peer("SELECT * FROM t"), ElementsAre("2|x"));
}

TEST(GroupCommit, MakesEachWriteAloneWhenSqliteUndoesTheWholeTransaction) {
  Writer writer;
  Answer<void> first, second, third;
  Write breaks = writer.insert(2, second);
  breaks.apply = [](Connection& db) -> Result<void> {
    // What SQLite does by itself on an I/O error.
    if (auto undone = db.execute("ROLLBACK"); !undone) return undone;
    return base::fail(Code::unavailable, "I/O error");
  };
  writer.peer("BEGIN IMMEDIATE");
  ASSERT_TRUE(writer.writes->try_push(writer.insert(1, first)));
  ASSERT_TRUE(writer.writes->try_push(std::move(breaks)));
  ASSERT_TRUE(writer.writes->try_push(writer.insert(3, third)));
  writer.peer("COMMIT");

  EXPECT_TRUE(first.get().has_value());
  EXPECT_EQ(second.get().error().text, "I/O error");
  EXPECT_TRUE(third.get().has_value());
  EXPECT_THAT(writer.peer("SELECT id FROM t"), ElementsAre("1", "3"));
}

TEST(GroupCommit, AFullDiskFailsWhatDoesNotFitAndKeepsTheRest) {
  Writer writer(base::Seconds{30}, 100, "PRAGMA max_page_count=8");
  Answer<void> small, big, after;
  writer.peer("BEGIN IMMEDIATE");
  ASSERT_TRUE(writer.writes->try_push(writer.insert(1, small)));
  ASSERT_TRUE(writer.writes->try_push(writer.insert(2, big, std::string(1'000'000, 'x'))));
  ASSERT_TRUE(writer.writes->try_push(writer.insert(3, after)));
  writer.peer("COMMIT");

  const auto full = big.get();

  ASSERT_FALSE(full.has_value());
  EXPECT_EQ(full.error().code, Code::unavailable);
  EXPECT_THAT(full.error().text, HasSubstr("the disk is full"));
  EXPECT_TRUE(small.get().has_value());
  EXPECT_TRUE(after.get().has_value());
  EXPECT_THAT(writer.peer("SELECT id FROM t"), ElementsAre("1", "3"));
}

TEST(GroupCommit, EachWriteWaitsForTheLockFromWhenItWasAskedFor) {
  Writer writer(base::Seconds{600});
  Answer<void> old, fresh, locked;
  Write lock = writer.insert(1, locked);
  // Between two groups: another takes the lock, and both writes are in the next group.
  lock.settle = [&, done = locked.done()](Result<void> result) {
    writer.peer("BEGIN IMMEDIATE");
    writer.writes->try_push(writer.insert(2, old, "x", now() - std::chrono::hours{1}));
    writer.writes->try_push(writer.insert(3, fresh));
    done(std::move(result));
  };
  ASSERT_TRUE(writer.writes->try_push(std::move(lock)));
  ASSERT_TRUE(locked.get().has_value());

  const auto given_up = old.get();
  const bool fresh_waits = !fresh.arrived();
  writer.peer("COMMIT");

  EXPECT_EQ(given_up.error().code, Code::unavailable);
  EXPECT_THAT(given_up.error().text, HasSubstr("longer than the busy limit of 600 s"));
  EXPECT_TRUE(fresh_waits);
  EXPECT_TRUE(fresh.get().has_value());
  EXPECT_THAT(writer.peer("SELECT id FROM t"), ElementsAre("1", "3"));
}

TEST(GroupCommit, RefusesMoreThanItsCapacityAndKeepsWhatItTook) {
  Writer writer(base::Seconds{30}, 4);
  std::vector<Answer<void>> answers(20);
  writer.peer("BEGIN IMMEDIATE");
  std::vector<int> taken;
  for (int i = 0; i < 20; ++i)
    if (writer.writes->try_push(writer.insert(i, answers[i]))) taken.push_back(i);

  writer.peer("COMMIT");

  EXPECT_GE(taken.size(), 4u);
  EXPECT_LE(taken.size(), 8u) << "what is taken in while the lock is awaited has to stay bounded";
  for (const int i : taken) EXPECT_TRUE(answers[i].get().has_value());
}

TEST(GroupCommit, DestructionCommitsWhatIsQueued) {
  Writer writer;
  std::vector<Answer<void>> answers(1000);
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(writer.writes->try_push(writer.insert(i, answers[i])));

  writer.writes.reset();

  EXPECT_TRUE(std::all_of(answers.begin(), answers.end(), [](auto& answer) { return answer.arrived() && answer.get(); }));
  EXPECT_THAT(writer.peer("SELECT count(*) FROM t"), ElementsAre("1000"));
}

TEST(GroupCommit, DestructionDoesNotWaitForALockLongerThanItMay) {
  Writer writer(base::Seconds{3600});
  Answer<void> answer;
  writer.peer("BEGIN IMMEDIATE");
  ASSERT_TRUE(writer.writes->try_push(writer.insert(1, answer)));

  writer.writes.reset();

  ASSERT_TRUE(answer.arrived());
  const auto result = answer.get();
  EXPECT_EQ(result.error().code, Code::unavailable);
  EXPECT_THAT(result.error().text, HasSubstr("tinkerd is stopping"));
}

}  // namespace
}  // namespace tinker::store
