// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
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
  std::string tags_json = "[]";           // a JSON array, in any spacing
  std::string user_metadata_json = "{}";  // a JSON object, in any spacing
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

struct TinkerDbLimits {
  base::Seconds busy{30};               // longest wait for another process's lock, counted from the call
  base::Seconds stop{0.5};              // longest wait for it once the database is being closed
  std::size_t waiting_writes = 65'536;  // calls that may wait; more get Code::exhausted
  std::size_t waiting_reads = 65'536;
};

// The peer's database, shared with the unmodified engine: `tinker.db` or what --database-url names.
//
// Owned by  Daemon. Goes before the loops that its calls name; its destruction settles every call that waits. Opened and
//           destroyed by a thread that has the process's own file table, not a worker's (design.md §3).
// Thread    calls from any. Writes are carried out in order, in groups, on the thread `store`; reads on `store-r`, on a
//           connection of their own, so that a write that waits for the engine's lock holds up no read. A read sees every
//           write whose `done` was called. `done` is posted to the loop that `reply_to` names, never called in the call.
// Blocks    never the caller: no event loop waits for the database. A database locked by another process for longer than the
//           busy limit gives `done` Code::unavailable with a text that says so (cases.md S3); more calls than may wait give
//           it Code::exhausted. Times are those of the call, however long the write then waits.
class TinkerDb {
 public:
  template <class T>
  using Done = std::function<void(base::Result<T>)>;

  // Opens, creates what is absent (all tables of the peer, WAL), checks what is present. `url`: sqlite:///relative,
  // sqlite:////absolute. Blocks; a complete database is opened without its write lock. Errors: another scheme, cannot open, a
  // damaged file, a table or column that is missing or of another release; each says what and what to do, and changes nothing.
  static base::Result<std::unique_ptr<TinkerDb>> open(std::string_view url, const base::Clock& clock,
                                                      TinkerDbLimits limits = {});
  virtual ~TinkerDb() = default;

  // Errors: conflict when the id exists; invalid_argument for JSON that is not an array and an object.
  virtual void insert_session(SessionRow row, loop::EventLoop& reply_to, Done<void> done) = 0;
  // The status stays what it is: a session that expired is not revived. Errors: not_found `Session not found`.
  virtual void heartbeat(base::SessionId id, loop::EventLoop& reply_to, Done<void> done) = 0;
  virtual void find_session(base::SessionId id, loop::EventLoop& reply_to, Done<bool> done) = 0;
  // Errors: not_found `Session not found`; conflict when the id exists.
  virtual void insert_sampling_session(SamplingSessionRow row, loop::EventLoop& reply_to, Done<void> done) = 0;
  virtual void find_sampling_session(base::SamplingSessionId id, loop::EventLoop& reply_to,
                                     Done<std::optional<SamplingSessionRow>> done) = 0;
  virtual void find_model(std::string model_id, loop::EventLoop& reply_to, Done<std::optional<ModelRow>> done) = 0;
  virtual void find_checkpoint(std::string model_id, std::string checkpoint_id, CheckpointType type, loop::EventLoop& reply_to,
                               Done<std::optional<CheckpointRow>> done) = 0;
  // engine_state.inference_proxy_url as it is now (cases.md U10); nullopt while the engine has published none.
  virtual void read_upstream_url(loop::EventLoop& reply_to, Done<std::optional<std::string>> done) = 0;

  // The file, absolute.
  virtual const std::string& path() const = 0;
};

}  // namespace tinker::store
