// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "store/busy_wait.h"

struct sqlite3;
struct sqlite3_stmt;

namespace tinker::store {

// The rows of one running query. Reset when it goes, so that no read transaction stays open behind it.
//
// Owned by  whoever asked Connection::query; goes before its connection does. Thread: the connection's.
class Rows {
 public:
  Rows(class Connection& connection, sqlite3_stmt* statement) : connection_(&connection), statement_(statement) {}
  Rows(Rows&& other) noexcept : connection_(other.connection_), statement_(std::exchange(other.statement_, nullptr)) {}
  Rows& operator=(Rows&&) = delete;
  ~Rows();

  // True while there is a row; the columns below belong to it, counted from 0.
  base::Result<bool> next();
  std::string text(int column) const;  // empty for NULL
  std::optional<std::string> text_or_null(int column) const;
  std::int64_t integer(int column) const;  // 0 for NULL

 private:
  friend class Connection;
  Connection* connection_;
  sqlite3_stmt* statement_;
};

// How a file is opened. `immutable` takes no locks, makes no files beside the database and reads no write-ahead log: for a file
// that nobody has open.
enum class Access { read_write, read_write_create, read_only, immutable };

// One connection to one SQLite file and its prepared statements.
//
// Owned by  the thread that uses it, or by whoever opened it until that thread starts.
// Thread    one at a time.
// Errors    name the file, what was being done, and SQLite's own words; busy and full are Code::unavailable, a key that
//           exists is Code::conflict, a refusal of the file system is Code::permission_denied.
class Connection {
 public:
  // Opens `path` and reads its header, so that what cannot be used is refused here. A file that may only be read is an error
  // where writing was asked for. How long a locked database is waited for is `busy`'s matter, which outlives the connection.
  static base::Result<std::unique_ptr<Connection>> open(std::string path, Access access, BusyWait& busy);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Runs statements that take no parameters and whose rows nobody wants.
  base::Result<void> execute(const char* sql);

  // Starts a query. `sql` is prepared once and kept; it is a literal or as stable as one. Parameters: std::string_view,
  // integers, std::optional<std::string> (NULL when empty); text is copied.
  template <class... Args>
  base::Result<Rows> query(std::string_view sql, const Args&... args) {
    auto rows = prepared(sql);
    int position = 0;
    if (rows) (bind(*rows, ++position, args), ...);
    return rows;
  }

  // Runs one statement that changes rows; how many it changed.
  template <class... Args>
  base::Result<std::int64_t> run(std::string_view sql, const Args&... args) {
    auto rows = query(sql, args...);
    if (!rows) return tl::unexpected(std::move(rows.error()));
    auto step = rows->next();
    if (!step) return tl::unexpected(std::move(step.error()));
    return changes();
  }

  // False outside a transaction, and after an error that made SQLite undo the whole of it (disk full, I/O error).
  bool in_transaction() const;
  // Whether what failed last failed for another process's lock.
  bool locked_out() const;
  BusyWait& busy() { return busy_; }
  // What the file's header says (sqlite.org/fileformat2.html §1.3.3); also right for an immutable one.
  bool in_wal_mode() const;
  const std::string& path() const { return path_; }

  // The error that SQLite reported last on this connection, while `doing` ("writing").
  base::Error error(std::string_view doing) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };

  Connection(std::string path, BusyWait& busy) : path_(std::move(path)), busy_(busy) {}
  base::Result<Rows> prepared(std::string_view sql);
  std::int64_t changes() const;
  void bind(Rows& rows, int position, std::string_view text);
  void bind(Rows& rows, int position, const std::string& text) { bind(rows, position, std::string_view(text)); }
  void bind(Rows& rows, int position, const char* text) { bind(rows, position, std::string_view(text)); }
  void bind(Rows& rows, int position, std::int64_t number);
  template <std::integral Integer>
  void bind(Rows& rows, int position, Integer number) {
    bind(rows, position, static_cast<std::int64_t>(number));
  }
  void bind(Rows& rows, int position, const std::optional<std::string>& text);
  base::Error open_error(Access access) const;

  std::string path_;
  BusyWait& busy_;
  sqlite3* db_ = nullptr;
  std::unordered_map<std::string, std::unique_ptr<sqlite3_stmt, Finalize>> statements_;
};

}  // namespace tinker::store
