// SPDX-License-Identifier: Apache-2.0
#include "store/tinker_db.h"

#include <utility>

#include "store/busy_wait.h"
#include "store/database_url.h"
#include "store/group_commit.h"
#include "store/read_thread.h"
#include "store/sqlite.h"
#include "store/text_forms.h"
#include "store/tinker_schema.h"

namespace tinker::store {
namespace {

using base::Code;
using base::Result;

Result<void> insert_session_row(Connection& db, const SessionRow& row, const std::string& now) {
  auto changed = db.run(
      "INSERT INTO sessions (session_id, tags, user_metadata, sdk_version, status, created_at, last_heartbeat_at, "
      "heartbeat_count) VALUES (?, ?, ?, ?, 'active', ?, NULL, 0)",
      row.id.text, row.tags_json, row.user_metadata_json, row.sdk_version, now);
  if (!changed) return tl::unexpected(changed.error());
  return {};
}

Result<void> count_heartbeat(Connection& db, const base::SessionId& id, const std::string& now) {
  auto changed = db.run("UPDATE sessions SET last_heartbeat_at = ?, heartbeat_count = heartbeat_count + 1 WHERE session_id = ?",
                        now, id.text);
  if (!changed) return tl::unexpected(changed.error());
  if (*changed == 0) return base::fail(Code::not_found, "Session not found");
  return {};
}

// Foreign keys are off, as they are for the peer: the session is looked for in the statement itself.
Result<void> insert_sampling_session_row(Connection& db, const SamplingSessionRow& row, const std::string& now) {
  auto changed = db.run(
      "INSERT INTO sampling_sessions (sampling_session_id, session_id, sampling_session_seq_id, base_model, model_path, "
      "created_at) SELECT ?, session_id, ?, ?, ?, ? FROM sessions WHERE session_id = ?",
      row.id.text, row.sampling_session_seq_id, row.base_model, row.model_path, now, row.session.text);
  if (!changed) return tl::unexpected(changed.error());
  if (*changed == 0) return base::fail(Code::not_found, "Session not found");
  return {};
}

// The row of a query that has one at most, as `make` reads it.
template <class T, class Make>
Result<std::optional<T>> single_row(Result<Rows> rows, Make make) {
  if (!rows) return tl::unexpected(std::move(rows.error()));
  auto row = rows->next();
  if (!row) return tl::unexpected(std::move(row.error()));
  if (!*row) return std::optional<T>{};
  return make(*rows);
}

Result<bool> session_present(Connection& db, const base::SessionId& id) {
  auto rows = db.query("SELECT 1 FROM sessions WHERE session_id = ?", id.text);
  if (!rows) return tl::unexpected(std::move(rows.error()));
  return rows->next();
}

Result<std::optional<SamplingSessionRow>> sampling_session_row(Connection& db, const base::SamplingSessionId& id) {
  return single_row<SamplingSessionRow>(db.query("SELECT session_id, sampling_session_seq_id, base_model, model_path FROM "
                                                 "sampling_sessions WHERE sampling_session_id = ?",
                                                 id.text),
                                        [&](const Rows& row) {
                                          return SamplingSessionRow{.id = id,
                                                                    .session = {row.text(0)},
                                                                    .sampling_session_seq_id = row.integer(1),
                                                                    .base_model = row.text_or_null(2),
                                                                    .model_path = row.text_or_null(3)};
                                        });
}

Result<std::optional<ModelRow>> model_row(Connection& db, const std::string& id) {
  return single_row<ModelRow>(
      db.query("SELECT base_model, status, CASE WHEN json_valid(lora_config) THEN json_extract(lora_config, '$.rank') > 0 END "
               "FROM models WHERE model_id = ?",
               id),
      [&](const Rows& row) {
        return ModelRow{.id = id, .base_model = row.text(0), .status = row.text(1), .is_lora = row.integer(2) != 0};
      });
}

// The peer stores the names of its enums' members, upper case (server-contract.md §2.3).
std::string_view stored_name(CheckpointType type) {
  switch (type) {
    case CheckpointType::training:
      return "TRAINING";
    case CheckpointType::sampler:
      return "SAMPLER";
  }
  return {};
}

std::optional<CheckpointStatus> checkpoint_status(std::string_view name) {
  if (name == "PENDING") return CheckpointStatus::pending;
  if (name == "COMPLETED") return CheckpointStatus::completed;
  if (name == "FAILED") return CheckpointStatus::failed;
  return std::nullopt;
}

Result<std::optional<CheckpointRow>> checkpoint_row(Connection& db, const std::string& model, const std::string& checkpoint,
                                                    CheckpointType type) {
  return single_row<CheckpointRow>(
      db.query("SELECT status, error_message FROM checkpoints WHERE model_id = ? AND checkpoint_id = ? AND checkpoint_type = ?",
               model, checkpoint, stored_name(type)),
      [&](const Rows& row) -> Result<std::optional<CheckpointRow>> {
        const auto status = checkpoint_status(row.text(0));
        if (!status)
          return base::fail(Code::internal, "checkpoint " + model + "/" + checkpoint + " in " + db.path() +
                                                " has the status '" + row.text(0) +
                                                "', which is none of PENDING, COMPLETED, FAILED");
        return CheckpointRow{.status = *status, .error_message = row.text(1)};
      });
}

Result<std::optional<std::string>> upstream_url(Connection& db) {
  return single_row<std::string>(db.query("SELECT inference_proxy_url FROM engine_state WHERE singleton_id = 1"),
                                 [](const Rows& row) -> std::optional<std::string> {
                                   auto url = row.text_or_null(0);
                                   return url && !url->empty() ? url : std::nullopt;
                                 });
}

template <class T>
void post(loop::EventLoop& reply_to, TinkerDb::Done<T> done, Result<T> result) {
  reply_to.post([done = std::move(done), result = std::move(result)]() mutable { done(std::move(result)); });
}

class SqliteTinkerDb final : public TinkerDb {
 public:
  SqliteTinkerDb(std::string path, const base::Clock& clock, std::unique_ptr<GroupCommit> writes,
                 std::unique_ptr<ReadThread> reads)
      : path_(std::move(path)), clock_(clock), writes_(std::move(writes)), reads_(std::move(reads)) {}

  void insert_session(SessionRow row, loop::EventLoop& reply_to, Done<void> done) override {
    auto tags = json_text(row.tags_json);
    auto metadata = json_text(row.user_metadata_json);
    // Anything but an array or object would become a number in a column of JSON's affinity, or end the engine.
    if (!tags || !metadata || !tags->starts_with('[') || !metadata->starts_with('{'))
      return post<void>(
          reply_to, std::move(done),
          base::fail(Code::invalid_argument, "tags must be a JSON array and user_metadata a JSON object, in UTF-8"));
    row.tags_json = std::move(*tags);
    row.user_metadata_json = std::move(*metadata);
    write(reply_to, std::move(done),
          [row = std::move(row), now = now()](Connection& db) { return insert_session_row(db, row, now); });
  }

  void heartbeat(base::SessionId id, loop::EventLoop& reply_to, Done<void> done) override {
    write(reply_to, std::move(done),
          [id = std::move(id), now = now()](Connection& db) { return count_heartbeat(db, id, now); });
  }

  void insert_sampling_session(SamplingSessionRow row, loop::EventLoop& reply_to, Done<void> done) override {
    write(reply_to, std::move(done),
          [row = std::move(row), now = now()](Connection& db) { return insert_sampling_session_row(db, row, now); });
  }

  void find_session(base::SessionId id, loop::EventLoop& reply_to, Done<bool> done) override {
    read(reply_to, std::move(done), [id = std::move(id)](Connection& db) { return session_present(db, id); });
  }

  void find_sampling_session(base::SamplingSessionId id, loop::EventLoop& reply_to,
                             Done<std::optional<SamplingSessionRow>> done) override {
    read(reply_to, std::move(done), [id = std::move(id)](Connection& db) { return sampling_session_row(db, id); });
  }

  void find_model(std::string model_id, loop::EventLoop& reply_to, Done<std::optional<ModelRow>> done) override {
    read(reply_to, std::move(done), [id = std::move(model_id)](Connection& db) { return model_row(db, id); });
  }

  void find_checkpoint(std::string model_id, std::string checkpoint_id, CheckpointType type, loop::EventLoop& reply_to,
                       Done<std::optional<CheckpointRow>> done) override {
    read(reply_to, std::move(done), [model = std::move(model_id), checkpoint = std::move(checkpoint_id), type](Connection& db) {
      return checkpoint_row(db, model, checkpoint, type);
    });
  }

  void read_upstream_url(loop::EventLoop& reply_to, Done<std::optional<std::string>> done) override {
    read(reply_to, std::move(done), [](Connection& db) { return upstream_url(db); });
  }

  const std::string& path() const override { return path_; }

 private:
  std::string now() const { return datetime_text(clock_.wall()); }

  template <class Apply>
  void write(loop::EventLoop& reply_to, Done<void> done, Apply apply) {
    Write write{.apply = std::move(apply),
                .settle = [&reply_to, done](Result<void> result) { post<void>(reply_to, done, std::move(result)); },
                .asked = BusyWait::Time::clock::now()};
    if (!writes_->try_push(std::move(write))) refuse<void>(reply_to, std::move(done), "writes");
  }

  template <class T, class Query>
  void read(loop::EventLoop& reply_to, Done<T> done, Query query) {
    ReadThread::Read read = [&reply_to, done, query = std::move(query)](Connection& db) { post<T>(reply_to, done, query(db)); };
    if (!reads_->try_push(std::move(read))) refuse<T>(reply_to, std::move(done), "reads");
  }

  template <class T>
  void refuse(loop::EventLoop& reply_to, Done<T> done, std::string_view what) const {
    post<T>(reply_to, std::move(done),
            base::fail(Code::exhausted, "too many " + std::string(what) + " wait for " + path_ + "; try again in a moment"));
  }

  const std::string path_;
  const base::Clock& clock_;
  // The writing connection closes last: it then moves the write-ahead log into the file.
  std::unique_ptr<GroupCommit> writes_;
  std::unique_ptr<ReadThread> reads_;
};

}  // namespace

Result<std::unique_ptr<TinkerDb>> TinkerDb::open(std::string_view url, const base::Clock& clock, TinkerDbLimits limits) {
  auto path = database_path(url);
  if (!path) return tl::unexpected(std::move(path.error()));

  auto writer_busy = std::make_unique<BusyWait>(limits.busy);
  auto writer = Connection::open(*path, Access::read_write_create, *writer_busy);
  if (!writer) return tl::unexpected(std::move(writer.error()));
  if (auto prepared = prepare_tinker_schema(**writer); !prepared) return tl::unexpected(std::move(prepared.error()));

  auto reader_busy = std::make_unique<BusyWait>(limits.busy);
  auto reader = Connection::open(*path, Access::read_only, *reader_busy);
  if (!reader) return tl::unexpected(std::move(reader.error()));

  return std::make_unique<SqliteTinkerDb>(
      *path, clock,
      std::make_unique<GroupCommit>(std::move(*writer), std::move(writer_busy), limits.waiting_writes, limits.stop),
      std::make_unique<ReadThread>(std::move(*reader), std::move(reader_busy), limits.waiting_reads, limits.stop));
}

}  // namespace tinker::store
