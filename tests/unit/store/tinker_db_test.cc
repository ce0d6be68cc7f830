// SPDX-License-Identifier: Apache-2.0
#include "store/tinker_db.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/store/fixture.h"

namespace tinker::store {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(TinkerDb, WritesASessionInThePeersForms) {
  Store store;
  store.clock.advance(500ms);

  ASSERT_TRUE(store
                  .insert_session(SessionRow{.id = {"session_00000001"},
                                             .tags_json = R"(["a","é"])",
                                             .user_metadata_json = R"({"k":1})",
                                             .sdk_version = "0.25.0"})
                  .has_value());

  EXPECT_THAT(
      as_peer(store.path,
              "SELECT session_id, tags, typeof(tags), user_metadata, typeof(user_metadata), sdk_version, status, "
              "created_at, typeof(created_at), last_heartbeat_at, heartbeat_count, typeof(heartbeat_count) FROM sessions"),
      ElementsAre("session_00000001|[\"a\", \"\\u00e9\"]|text|{\"k\": 1}|text|0.25.0|active|2019-12-20 "
                  "00:00:00.500000|text|NULL|0|integer"));
}

TEST(TinkerDb, RowsHaveTheFormsOfThePeersOwn) {
  Store store;
  ASSERT_TRUE(store.insert_session("session_0a").has_value());
  ASSERT_TRUE(store.heartbeat("session_0a").has_value());
  ASSERT_TRUE(store
                  .insert_sampling_session({.id = {"sampling_0a"},
                                            .session = {"session_0a"},
                                            .sampling_session_seq_id = 1,
                                            .base_model = std::nullopt,
                                            .model_path = "tinker://model_00000001/sampler_weights/ss1_seq6"})
                  .has_value());
  Peer peer(store.path);
  peer("DELETE FROM profiler_control;" + peer_sql(3));

  // A form is the storage class of each column, and for text its shape: letters a, digits 0.
  for (const std::string table : {"sessions", "sampling_sessions"}) {
    const std::string id = table == "sessions" ? "session_id" : "sampling_session_id";
    const auto columns = peer("SELECT name FROM pragma_table_info('" + table + "')");
    for (const std::string& column : columns) {
      const std::string ours = id + " LIKE '%_0a'";
      const auto form = [&](const std::string& where) {
        return peer("SELECT DISTINCT typeof(" + column + "), CASE WHEN '" + column + "' LIKE '%_at' THEN length(" + column +
                    ") || substr(" + column + ", 5, 1) || substr(" + column + ", 11, 1) || substr(" + column +
                    ", 20, 1) END FROM " + table + " WHERE " + where);
      };
      EXPECT_THAT(form("NOT " + ours), testing::IsSupersetOf(form(ours))) << table << "." << column;
    }
  }
}

TEST(TinkerDb, HeartbeatCountsAndLeavesTheStatusAlone) {
  Store store;
  ASSERT_TRUE(store.insert_session("session_1").has_value());
  Peer peer(store.path);
  peer("UPDATE sessions SET status = 'expired'");

  store.clock.advance(10s);
  ASSERT_TRUE(store.heartbeat("session_1").has_value());
  store.clock.advance(1us);
  ASSERT_TRUE(store.heartbeat("session_1").has_value());

  EXPECT_THAT(peer("SELECT status, created_at, last_heartbeat_at, heartbeat_count FROM sessions"),
              ElementsAre("expired|2019-12-20 00:00:00.000000|2019-12-20 00:00:10.000001|2"));
}

TEST(TinkerDb, AHeartbeatIsFoundByTheEnginesComparisonOfText) {
  Store store;
  ASSERT_TRUE(store.insert_session("session_1").has_value());
  ASSERT_TRUE(store.heartbeat("session_1").has_value());
  Peer peer(store.path);

  EXPECT_THAT(peer("SELECT count(*) FROM sessions WHERE last_heartbeat_at < '2019-12-20 00:00:00.000001'"), ElementsAre("1"));
  EXPECT_THAT(peer("SELECT count(*) FROM sessions WHERE last_heartbeat_at < '2019-12-20 00:00:00.000000'"), ElementsAre("0"));
}

TEST(TinkerDb, HeartbeatOfAnUnknownSessionIsNotFound) {
  Store store;

  const auto result = store.heartbeat("session_none");

  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, base::Code::not_found);
  EXPECT_EQ(result.error().text, "Session not found");
}

TEST(TinkerDb, SamplingSessionOfAnUnknownSessionIsNotFoundAndNotStored) {
  Store store;

  const auto result = store.insert_sampling_session({.id = {"sampling_1"}, .session = {"session_none"}, .base_model = "m"});

  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, base::Code::not_found);
  EXPECT_EQ(result.error().text, "Session not found");
  EXPECT_THAT(as_peer(store.path, "SELECT count(*) FROM sampling_sessions"), ElementsAre("0"));
}

TEST(TinkerDb, FindsWhatItWrote) {
  Store store;
  ASSERT_TRUE(store.insert_session("session_1").has_value());
  ASSERT_TRUE(store
                  .insert_sampling_session(
                      {.id = {"sampling_1"}, .session = {"session_1"}, .sampling_session_seq_id = 7, .base_model = ""})
                  .has_value());

  const auto row = store.find_sampling_session("sampling_1");

  EXPECT_TRUE(store.find_session("session_1").value());
  EXPECT_FALSE(store.find_session("session_2").value());
  ASSERT_TRUE(row.has_value() && row->has_value());
  EXPECT_EQ((*row)->session.text, "session_1");
  EXPECT_EQ((*row)->sampling_session_seq_id, 7);
  EXPECT_EQ((*row)->base_model, "");
  EXPECT_EQ((*row)->model_path, std::nullopt);
  EXPECT_EQ(store.find_sampling_session("sampling_2").value(), std::nullopt);
}

TEST(TinkerDb, ReadsThePeersModelsAndCheckpoints) {
  Store store;
  as_peer(store.path, "DELETE FROM profiler_control;" + peer_sql(3) +
                          "INSERT INTO models VALUES('full', 'Qwen/Qwen3-0.6B', '{\"rank\": 0}', 'created', 1, 's', '');"
                          "INSERT INTO models VALUES('odd', 'b', '{\"rank\": ', 'created', 1, 's', '')");

  const auto model = store.find_model("model_00000001");

  ASSERT_TRUE(model.has_value() && model->has_value());
  EXPECT_EQ((*model)->base_model, "Qwen/Qwen3-0.6B");
  EXPECT_EQ((*model)->status, "created");
  EXPECT_TRUE((*model)->is_lora);
  EXPECT_FALSE(store.find_model("full").value()->is_lora);
  EXPECT_FALSE(store.find_model("odd").value()->is_lora);
  EXPECT_FALSE(store.find_model("model_none").value().has_value());
  EXPECT_EQ(store.find_checkpoint("model_00000001", "ck1", CheckpointType::training).value()->status,
            CheckpointStatus::completed);
  EXPECT_FALSE(store.find_checkpoint("model_00000001", "ck1", CheckpointType::sampler).value().has_value());
  EXPECT_EQ(store.find_checkpoint("model_00000001", "ss1_seq6", CheckpointType::sampler).value()->status,
            CheckpointStatus::pending);
  const auto failed = store.find_checkpoint("model_00000001", "bad", CheckpointType::sampler).value();
  EXPECT_EQ(failed->status, CheckpointStatus::failed);
  EXPECT_EQ(failed->error_message, "disk full");
}

TEST(TinkerDb, ACheckpointOfAnUnknownStatusIsAnErrorThatNamesIt) {
  Store store;
  as_peer(store.path,
          "INSERT INTO checkpoints VALUES('m', 'ck', 'SAMPLER', 'completed', '2026-10-01 12:00:05.000000', NULL, NULL)");

  const auto row = store.find_checkpoint("m", "ck", CheckpointType::sampler);

  ASSERT_FALSE(row.has_value());
  EXPECT_THAT(row.error().text, HasSubstr("m/ck"));
  EXPECT_THAT(row.error().text, HasSubstr("'completed'"));
}

TEST(TinkerDb, U10_SeesTheUpstreamThatTheEnginePublishes) {
  Store store;
  EXPECT_EQ(store.read_upstream_url().value(), std::nullopt);
  Peer engine(store.path);

  engine("INSERT INTO engine_state VALUES(1, 'http://127.0.0.1:8000', '2026-10-01 12:00:06.000000')");
  EXPECT_EQ(store.read_upstream_url().value(), "http://127.0.0.1:8000");
  engine("UPDATE engine_state SET inference_proxy_url = 'http://127.0.0.1:8001'");
  EXPECT_EQ(store.read_upstream_url().value(), "http://127.0.0.1:8001");
  engine("UPDATE engine_state SET inference_proxy_url = NULL");
  EXPECT_EQ(store.read_upstream_url().value(), std::nullopt);
}

TEST(TinkerDb, RefusesTagsThatAreNoArrayAndMetadataThatIsNoObject) {
  Store store;

  for (const char* tags : {"", "1", "{}", "[\"\xff\"]"}) {
    const auto result = store.insert_session(SessionRow{.id = {"session_1"}, .tags_json = tags});
    ASSERT_FALSE(result.has_value()) << tags;
    EXPECT_EQ(result.error().code, base::Code::invalid_argument);
  }
  EXPECT_FALSE(store.insert_session(SessionRow{.id = {"session_1"}, .user_metadata_json = "null"}).has_value());
  EXPECT_FALSE(store.find_session("session_1").value());
}

TEST(TinkerDb, TextOfAClientIsStoredAsItIs) {
  Store store;
  const std::string odd = "'; DROP TABLE sessions; -- \n é \"";

  ASSERT_TRUE(store.insert_session(SessionRow{.id = {odd}, .sdk_version = odd}).has_value());

  EXPECT_TRUE(store.find_session(odd).value());
  EXPECT_THAT(as_peer(store.path, "SELECT sdk_version FROM sessions"), ElementsAre(odd));
}

TEST(TinkerDb, KeepsItsRowsAcrossARestartAndLeavesNoLogBehind) {
  Store store;
  ASSERT_TRUE(store.insert_session("session_1").has_value());
  store.db.reset();
  EXPECT_FALSE(std::filesystem::exists(store.path + "-wal"));

  auto again = TinkerDb::open("sqlite:///" + store.path, store.clock);

  ASSERT_TRUE(again.has_value()) << again.error().text;
  store.db = std::move(*again);
  EXPECT_TRUE(store.find_session("session_1").value());
}

}  // namespace
}  // namespace tinker::store
