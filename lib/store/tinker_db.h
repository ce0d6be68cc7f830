// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"
#include "base/ids.h"
#include "loop/event_loop.h"

namespace tinker::store {

// Rows of the peer's tables, as far as sampling needs them (server-contract.md §2.2, skyrl-schema.sql).
struct SessionRow {
  base::SessionId id;
  std::string tags_json = "[]";
  std::string user_metadata_json = "{}";
  std::string sdk_version;
};
struct SamplingSessionRow {
  base::SamplingSessionId id;
  base::SessionId session;
  std::int64_t sampling_session_seq_id = 0;
  std::optional<std::string> base_model;
  std::optional<std::string> model_path;
};
struct ModelRow {
  std::string id;
  std::string base_model;
  std::string status;
  bool is_lora = false;  // lora_config.rank > 0
};
enum class CheckpointType { training, sampler };
enum class CheckpointStatus { pending, completed, failed };
struct CheckpointRow {
  CheckpointStatus status;
  std::string error_message;
};

// The peer's database, shared with the unmodified engine: `tinker.db` or what --database-url names.
//
// Owned by  Daemon.
// Thread    calls from any loop; they are carried out in order, in groups, on the thread `store`, and `done` is posted to the
// loop that
//           `reply_to` names. When the mailbox is full, `done` gets Code::exhausted.
// Blocks    never the caller: no event loop waits for the database. A database locked by another process for longer than the
// busy
//           limit (30 s) gives `done` Code::unavailable with a text that says so (cases.md S3).
class TinkerDb {
 public:
  template <class T>
  using Done = std::function<void(base::Result<T>)>;

  // Opens, creates what is absent (all tables of the peer, WAL), checks what is present. `url`: sqlite:///relative,
  // sqlite:////absolute. Errors: another scheme, cannot open, a table or column that is missing or of another release; each
  // says what and what to do.
  static base::Result<std::unique_ptr<TinkerDb>> open(std::string_view url, const base::Clock& clock);
  virtual ~TinkerDb() = default;

  virtual void insert_session(SessionRow row, loop::EventLoop& reply_to, Done<void> done) = 0;
  // Errors: not_found `Session not found`.
  virtual void heartbeat(base::SessionId id, loop::EventLoop& reply_to, Done<void> done) = 0;
  virtual void find_session(base::SessionId id, loop::EventLoop& reply_to, Done<bool> done) = 0;
  // Errors: not_found `Session not found`.
  virtual void insert_sampling_session(SamplingSessionRow row, loop::EventLoop& reply_to, Done<void> done) = 0;
  virtual void find_sampling_session(base::SamplingSessionId id, loop::EventLoop& reply_to,
                                     Done<std::optional<SamplingSessionRow>> done) = 0;
  virtual void find_model(std::string model_id, loop::EventLoop& reply_to, Done<std::optional<ModelRow>> done) = 0;
  virtual void find_checkpoint(std::string model_id, std::string checkpoint_id, CheckpointType type, loop::EventLoop& reply_to,
                               Done<std::optional<CheckpointRow>> done) = 0;
  // engine_state.inference_proxy_url; nullopt while the engine has published none.
  virtual void read_upstream_url(loop::EventLoop& reply_to, Done<std::optional<std::string>> done) = 0;

  virtual const std::string& path() const = 0;
};

}  // namespace tinker::store
