// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"

namespace tinker::store {

// What `tinkerctl` shows of the peer's database when the daemon is down, and beside a running one.
//
// The file is opened for reading only, and nothing is locked for longer than one read, whoever else has it open; a file system
// that cannot be written to will do. Each call shows one moment. Blocks for up to two seconds while
// another process recovers the file. Any thread; not on an event loop.

struct TableSize {
  std::string name;
  std::int64_t rows = 0;
};

struct StoreView {
  std::string path;
  std::uint64_t file_bytes = 0;
  std::uint64_t wal_bytes = 0;  // 0 without a write-ahead log
  std::int64_t page_bytes = 0;
  std::int64_t pages = 0;
  std::int64_t free_pages = 0;  // of `pages`, unused
  std::string journal_mode;     // "wal", as the peer and tinkerd make it, or "rollback"
  std::vector<TableSize> tables;
  std::optional<std::string> upstream_url;         // engine_state.inference_proxy_url
  std::optional<std::string> upstream_updated_at;  // as stored
  std::string note;                                // what the view lacks, in words; empty when it is whole
};

struct SessionView {
  std::string id;
  std::string status;
  std::string sdk_version;
  std::string created_at;  // as stored: YYYY-MM-DD HH:MM:SS.ffffff, UTC
  std::optional<std::string> last_heartbeat_at;
  std::optional<base::Seconds> heartbeat_age;  // at `now`; none without a heartbeat, or when its text is no date
  std::int64_t heartbeats = 0;
  std::int64_t sampling_sessions = 0;
};

struct SessionList {
  std::vector<SessionView> sessions;
  std::string note;  // as in StoreView
};

// `path` is what database_path() gives. Errors: those of Connection::open; the tables of another release are shown as they are.
base::Result<StoreView> inspect_store(const std::string& path);

// The `limit` sessions made last, the latest first. Errors: as above; not_found when the file has no table of sessions.
base::Result<SessionList> inspect_sessions(const std::string& path, base::Wall now, std::size_t limit);

}  // namespace tinker::store
