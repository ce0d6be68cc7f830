// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "loop/event_loop.h"
#include "store/tinker_db.h"
#include "support/temporary_folder.h"

namespace tinker::store {

// How long a test waits for what has to happen before it fails.
constexpr std::chrono::seconds kDeadline{60};

using test::TemporaryFolder;

// Nobody's rights while it lives, where the tests run as root, whom no permission stops.
class WithoutRoot {
 public:
  WithoutRoot() : user_(geteuid()) {
    constexpr uid_t kNobody = 65534;
    if (user_ == 0) {
      EXPECT_EQ(seteuid(kNobody), 0);
    }
  }
  ~WithoutRoot() {
    if (user_ == 0) {
      EXPECT_EQ(seteuid(user_), 0);
    }
  }

 private:
  uid_t user_;
};

inline std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_file(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

// The peer: a connection of another owner, with nothing of the room's own code in it.
class Peer {
 public:
  explicit Peer(const std::string& path) {
    EXPECT_EQ(sqlite3_open(path.c_str(), &db_), SQLITE_OK);
    sqlite3_busy_timeout(db_, 30'000);
  }
  ~Peer() { sqlite3_close(db_); }
  Peer(const Peer&) = delete;

  // Runs all statements of `sql`; the rows of all, columns joined by '|', NULL as "NULL".
  std::vector<std::string> operator()(const std::string& sql) {
    std::vector<std::string> rows;
    char* message = nullptr;
    const auto add = [](void* out, int columns, char** values, char**) {
      std::string row;
      for (int i = 0; i < columns; ++i) row += (i == 0 ? "" : "|") + std::string(values[i] == nullptr ? "NULL" : values[i]);
      static_cast<std::vector<std::string>*>(out)->push_back(row);
      return 0;
    };
    EXPECT_EQ(sqlite3_exec(db_, sql.c_str(), add, &rows, &message), SQLITE_OK) << message << " in " << sql;
    sqlite3_free(message);
    return rows;
  }

 private:
  sqlite3* db_ = nullptr;
};

inline std::vector<std::string> as_peer(const std::string& path, const std::string& sql) { return Peer(path)(sql); }

// The peer's own schema and rows: skyrl-schema.sql, the parts asked for (1 is SQLite's tables, 3 the rows).
inline std::string peer_sql(int part) {
  const std::string sql = read_file(TINKER_VECTORS "/skyrl-schema.sql");
  const auto begin = sql.find('\n', sql.find("===== Part " + std::to_string(part)));
  const auto end = sql.find("-- ===== Part " + std::to_string(part + 1));
  return sql.substr(begin, end == sql.npos ? sql.npos : end - begin);
}

// A loop that runs on a thread of its own.
class RunningLoop {
 public:
  explicit RunningLoop(const std::string& name = "w0") : loop_(name), thread_([this] { loop_.run(); }) {}
  ~RunningLoop() {
    loop_.stop();
    thread_.join();
  }
  operator loop::EventLoop&() { return loop_; }
  loop::EventLoop& loop() { return loop_; }

 private:
  loop::EventLoop loop_;
  std::thread thread_;
};

// An answer that is on its way to a loop.
template <class T>
class Answer {
 public:
  TinkerDb::Done<T> done() {
    return [promise = promise_](base::Result<T> result) { promise->set_value(std::move(result)); };
  }
  bool arrived() const { return future_.wait_for(std::chrono::seconds{0}) == std::future_status::ready; }
  base::Result<T> get() {
    if (future_.wait_for(kDeadline) != std::future_status::ready) {
      ADD_FAILURE() << "no answer within the deadline";
      return base::fail(base::Code::internal, "no answer");
    }
    return future_.get();
  }

 private:
  std::shared_ptr<std::promise<base::Result<T>>> promise_ = std::make_shared<std::promise<base::Result<T>>>();
  std::future<base::Result<T>> future_ = promise_->get_future();
};

// tinker.db in a folder of its own, and the calls on it as if they waited.
struct Store {
  TemporaryFolder folder;
  base::FakeClock clock;
  RunningLoop loop;
  std::string path = folder.file("tinker.db");
  std::unique_ptr<TinkerDb> db;

  explicit Store(TinkerDbLimits limits = {}) {
    auto opened = TinkerDb::open("sqlite:///" + path, clock, limits);
    if (!opened) throw std::runtime_error(opened.error().text);
    db = std::move(*opened);
  }
  ~Store() { db.reset(); }

  base::Result<void> insert_session(SessionRow row) {
    Answer<void> answer;
    db->insert_session(std::move(row), loop, answer.done());
    return answer.get();
  }
  base::Result<void> insert_session(const std::string& id) { return insert_session({.id = {id}, .sdk_version = "0.25.0"}); }
  base::Result<void> heartbeat(const std::string& id) {
    Answer<void> answer;
    db->heartbeat({id}, loop, answer.done());
    return answer.get();
  }
  base::Result<bool> find_session(const std::string& id) {
    Answer<bool> answer;
    db->find_session({id}, loop, answer.done());
    return answer.get();
  }
  base::Result<void> insert_sampling_session(SamplingSessionRow row) {
    Answer<void> answer;
    db->insert_sampling_session(std::move(row), loop, answer.done());
    return answer.get();
  }
  base::Result<std::optional<SamplingSessionRow>> find_sampling_session(const std::string& id) {
    Answer<std::optional<SamplingSessionRow>> answer;
    db->find_sampling_session({id}, loop, answer.done());
    return answer.get();
  }
  base::Result<std::optional<ModelRow>> find_model(const std::string& id) {
    Answer<std::optional<ModelRow>> answer;
    db->find_model(id, loop, answer.done());
    return answer.get();
  }
  base::Result<std::optional<CheckpointRow>> find_checkpoint(const std::string& model, const std::string& id,
                                                             CheckpointType type) {
    Answer<std::optional<CheckpointRow>> answer;
    db->find_checkpoint(model, id, type, loop, answer.done());
    return answer.get();
  }
  base::Result<std::optional<std::string>> read_upstream_url() {
    Answer<std::optional<std::string>> answer;
    db->read_upstream_url(loop, answer.done());
    return answer.get();
  }
};

}  // namespace tinker::store
