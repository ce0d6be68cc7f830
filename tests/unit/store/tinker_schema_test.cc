// SPDX-License-Identifier: Apache-2.0
#include "store/tinker_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

#include "unit/store/fixture.h"

namespace tinker::store {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

base::Result<void> prepare(const std::string& path) {
  BusyWait busy(base::Seconds{10});
  auto db = Connection::open(path, Access::read_write_create, busy);
  if (!db) return tl::unexpected(db.error());
  return prepare_tinker_schema(**db);
}

// The statements of a database, each on one line with single spaces.
std::vector<std::string> schema_of(const std::string& path) {
  std::vector<std::string> statements = as_peer(path, "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name");
  for (std::string& sql : statements) {
    std::replace_if(
        sql.begin(), sql.end(), [](unsigned char c) { return std::isspace(c); }, ' ');
    sql.erase(std::unique(sql.begin(), sql.end(), [](char a, char b) { return a == ' ' && b == ' '; }), sql.end());
  }
  return statements;
}

TEST(TinkerSchema, IsThePeersToTheLetter) {
  TemporaryFolder folder;
  as_peer(folder.file("peer.db"), peer_sql(1));

  ASSERT_TRUE(prepare(folder.file("ours.db")).has_value());

  const auto expected = schema_of(folder.file("peer.db"));
  EXPECT_EQ(expected.size(), 14u);
  EXPECT_EQ(schema_of(folder.file("ours.db")), expected);
}

TEST(TinkerSchema, SetsWalAndTheRowOfTheProfiler) {
  TemporaryFolder folder;
  ASSERT_TRUE(prepare(folder.file("tinker.db")).has_value());

  Peer peer(folder.file("tinker.db"));

  EXPECT_THAT(peer("PRAGMA journal_mode"), ElementsAre("wal"));
  EXPECT_THAT(peer("SELECT * FROM profiler_control"), ElementsAre("1|STOPPED|NULL|NULL|0|0|NULL|0|NULL"));
  EXPECT_THAT(peer("SELECT count(*) FROM engine_state"), ElementsAre("0"));
  EXPECT_THAT(peer("PRAGMA user_version; PRAGMA page_size; PRAGMA encoding"), ElementsAre("0", "4096", "UTF-8"));
}

TEST(TinkerSchema, LeavesAPeersFileAndItsRowsAlone) {
  TemporaryFolder folder;
  const std::string path = folder.file("tinker.db");
  as_peer(path, "PRAGMA journal_mode=WAL;" + peer_sql(1) + peer_sql(3) + "UPDATE profiler_control SET version = 7");
  const std::string before = read_file(path);

  ASSERT_TRUE(prepare(path).has_value());

  EXPECT_EQ(read_file(path), before);
}

TEST(TinkerSchema, AddsTablesThatAnOlderPeerDidNotHave) {
  TemporaryFolder folder;
  const std::string path = folder.file("tinker.db");
  as_peer(path,
          peer_sql(1) + peer_sql(3) + "DROP TABLE profiler_control; DROP TABLE engine_state; CREATE TABLE alembic_version (v)");

  ASSERT_TRUE(prepare(path).has_value());

  EXPECT_THAT(
      as_peer(path, "SELECT count(*) FROM profiler_control; SELECT count(*) FROM engine_state; SELECT count(*) FROM futures"),
      ElementsAre("1", "0", "13"));
}

TEST(TinkerSchema, S9_RefusesAFileOfAnOlderReleaseNamingTheColumn) {
  TemporaryFolder folder;
  const std::string path = folder.file("tinker.db");
  as_peer(path,
          "CREATE TABLE futures (request_id INTEGER NOT NULL PRIMARY KEY, request_type VARCHAR(24) NOT NULL, model_id VARCHAR, "
          "request_data JSON NOT NULL, result_data TEXT, status VARCHAR(9) NOT NULL, created_at DATETIME NOT NULL, "
          "completed_at DATETIME)");
  const std::string before = read_file(path);

  const auto prepared = prepare(path);

  ASSERT_FALSE(prepared.has_value());
  EXPECT_EQ(prepared.error().code, base::Code::invalid_argument);
  EXPECT_THAT(prepared.error().text, AllOf(HasSubstr(path), HasSubstr("table futures lacks the column seq_id"),
                                           HasSubstr("name another one with --database-url")));
  EXPECT_EQ(read_file(path), before);
}

TEST(TinkerSchema, S9_RefusesAFileOfANewerReleaseThatWantsMoreThanWeWrite) {
  TemporaryFolder folder;
  const std::string path = folder.file("tinker.db");
  std::string sql = peer_sql(1);
  sql.insert(sql.find("sdk_version VARCHAR NOT NULL,"), "region VARCHAR NOT NULL, ");
  as_peer(path, sql);
  const std::string before = read_file(path);

  const auto prepared = prepare(path);

  ASSERT_FALSE(prepared.has_value());
  EXPECT_THAT(prepared.error().text, AllOf(HasSubstr("table sessions requires a value for the column region"),
                                           HasSubstr("install the tinkerd that goes with it")));
  EXPECT_EQ(read_file(path), before);
}

TEST(TinkerSchema, AcceptsColumnsThatMayStayEmpty) {
  TemporaryFolder folder;
  const std::string path = folder.file("tinker.db");
  as_peer(path,
          peer_sql(1) +
              "ALTER TABLE sessions ADD COLUMN region VARCHAR; ALTER TABLE models ADD COLUMN n INTEGER NOT NULL DEFAULT 0");

  EXPECT_TRUE(prepare(path).has_value());
}

TEST(TinkerSchema, S9_RefusesAnotherProgramsDatabaseAndLeavesItAlone) {
  TemporaryFolder folder;
  const std::string path = folder.file("places.sqlite");
  as_peer(path, "CREATE TABLE bookmarks (id INTEGER PRIMARY KEY)");
  const std::string before = read_file(path);

  const auto prepared = prepare(path);

  ASSERT_FALSE(prepared.has_value());
  EXPECT_THAT(prepared.error().text, AllOf(HasSubstr("bookmarks"), HasSubstr("belongs to another program")));
  EXPECT_EQ(read_file(path), before);
}

// The engine, its API server and tinkerd may all find no file and make one.
TEST(TinkerSchema, IsMadeOnceByThoseThatStartTogether) {
  constexpr int kRounds = 20;
  for (int round = 0; round < kRounds; ++round) {
    TemporaryFolder folder;
    const std::string path = folder.file("tinker.db");
    std::vector<std::thread> starters;
    std::vector<base::Result<void>> results(8);

    for (auto& result : results) starters.emplace_back([&] { result = prepare(path); });
    for (std::thread& starter : starters) starter.join();

    for (const auto& result : results) ASSERT_TRUE(result.has_value()) << result.error().text;
    EXPECT_THAT(as_peer(path, "SELECT count(*) FROM profiler_control"), ElementsAre("1"));
  }
}

}  // namespace
}  // namespace tinker::store
