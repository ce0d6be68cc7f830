// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite.h"

#include <sqlite3.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace tinker::store {
namespace {

using base::Code;
using base::Error;
using base::Result;

std::string number_text(base::Seconds seconds) {
  std::string text = std::to_string(seconds.count());
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

// The file's name as a URI that asks for `immutable`; '?', '#' and '%' in it are literal (sqlite.org/uri.html).
std::string immutable_uri(std::string_view path) {
  std::string uri = "file:";
  for (const char c : path) {
    switch (c) {
      case '?':
        uri += "%3f";
        break;
      case '#':
        uri += "%23";
        break;
      case '%':
        uri += "%25";
        break;
      default:
        uri += c;
    }
  }
  return uri + "?immutable=1";
}

int open_flags(Access access) {
  constexpr int kAlways = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  switch (access) {
    case Access::read_write:
      return kAlways | SQLITE_OPEN_READWRITE;
    case Access::read_write_create:
      return kAlways | SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    case Access::read_only:
      return kAlways | SQLITE_OPEN_READONLY;
    case Access::immutable:
      return kAlways | SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
  }
  return kAlways;
}

Code code_of(int sqlite_code) {
  switch (sqlite_code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
      return Code::unavailable;
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return Code::permission_denied;
    case SQLITE_CONSTRAINT:
      return Code::conflict;
    default:
      return Code::internal;
  }
}

}  // namespace

void Connection::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Rows::~Rows() {
  if (statement_ == nullptr) return;
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

Result<bool> Rows::next() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return tl::unexpected(connection_->error(sqlite3_stmt_readonly(statement_) != 0 ? "reading" : "writing"));
}

std::string Rows::text(int column) const {
  const unsigned char* text = sqlite3_column_text(statement_, column);
  if (text == nullptr) return {};
  return {reinterpret_cast<const char*>(text), static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

std::optional<std::string> Rows::text_or_null(int column) const {
  if (sqlite3_column_type(statement_, column) == SQLITE_NULL) return std::nullopt;
  return text(column);
}

std::int64_t Rows::integer(int column) const { return sqlite3_column_int64(statement_, column); }

Result<std::unique_ptr<Connection>> Connection::open(std::string path, Access access, BusyWait& busy) {
  std::unique_ptr<Connection> self(new Connection(std::move(path), busy));
  const std::string name = access == Access::immutable ? immutable_uri(self->path_) : self->path_;
  if (sqlite3_open_v2(name.c_str(), &self->db_, open_flags(access), nullptr) != SQLITE_OK)
    return tl::unexpected(self->open_error(access));

  sqlite3_busy_handler(
      self->db_, [](void* wait, int attempt) { return static_cast<BusyWait*>(wait)->pause(attempt) ? 1 : 0; }, &busy);
  // Who only looks changes nothing: neither a checkpoint at the end, nor a write by mistake.
  if (access == Access::read_only || access == Access::immutable)
    sqlite3_db_config(self->db_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);

  // SQLite reads the file at the first query, and falls back to reading when it may not write.
  if (sqlite3_exec(self->db_, "SELECT count(*) FROM sqlite_master", nullptr, nullptr, nullptr) != SQLITE_OK)
    return tl::unexpected(self->open_error(access));
  const bool writes = access == Access::read_write || access == Access::read_write_create;
  if (writes && sqlite3_db_readonly(self->db_, "main") == 1)
    return base::fail(Code::permission_denied, "cannot open " + self->path_ +
                                                   " for writing: permission denied (it belongs to another user, or its file "
                                                   "system is read-only)");
  return self;
}

Connection::~Connection() {
  statements_.clear();
  sqlite3_close(db_);
}

Error Connection::open_error(Access access) const {
  const std::string start = "cannot open " + path_ + ": ";
  if (db_ == nullptr) return {Code::internal, start + "out of memory"};
  const int code = sqlite3_extended_errcode(db_);
  switch (code & 0xff) {
    case SQLITE_NOTADB:
      return {Code::internal, start + "it is not an SQLite database (move the file away, or name another one)"};
    case SQLITE_CORRUPT:
      return {Code::internal,
              start + "the database is damaged (" + sqlite3_errmsg(db_) +
                  "); it was left as it is: move it away and start with a copy, or try `sqlite3 FILE .recover`"};
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_READONLY:
      break;
    default:
      return error("opening");
  }

  std::error_code ignored;
  const std::filesystem::path folder = std::filesystem::path(path_).parent_path();
  const int number = sqlite3_system_errno(db_);
  if (std::filesystem::is_directory(path_, ignored)) return {Code::not_found, start + "it is a directory; name a file in it"};
  if (number == ENOENT && !folder.empty() && !std::filesystem::exists(folder, ignored))
    return {Code::not_found, start + "the directory " + folder.string() + " does not exist (create it, or name another place)"};
  if (number == ENOENT && access == Access::read_write_create)
    return {Code::permission_denied, start + "there is no such file, and none can be made in " + folder.string() +
                                         " (run as the user that owns the directory, or name another place)"};
  if (number == ENOENT) return {Code::not_found, start + "no such file"};
  if (number == EACCES || number == EPERM || number == EROFS)
    return {Code::permission_denied, start + std::strerror(number) +
                                         " (SQLite needs to read the file and its -wal and -shm, and a writer needs to create "
                                         "files beside it; run as the user that owns it)"};
  return {Code::unavailable, start + sqlite3_errmsg(db_) + (number != 0 ? std::string(": ") + std::strerror(number) : "")};
}

Error Connection::error(std::string_view doing) const {
  const int code = sqlite3_extended_errcode(db_);
  const std::string start = std::string(doing) + " " + path_ + " failed: ";
  switch (code & 0xff) {
    case SQLITE_BUSY:
      if (busy_.stopping()) return {Code::unavailable, start + "another process holds its lock, and tinkerd is stopping"};
      return {Code::unavailable, start + "another process held its lock for longer than the busy limit of " +
                                     number_text(busy_.limit()) +
                                     " s (the engine? a shell with an open transaction?); try again"};
    case SQLITE_FULL:
      return {Code::unavailable, start + "the disk is full; nothing was stored, try again when there is room"};
    default:
      break;
  }
  std::string text = start + sqlite3_errmsg(db_);
  if (const int number = sqlite3_system_errno(db_); number != 0 && (code & 0xff) == SQLITE_IOERR)
    text += std::string(": ") + std::strerror(number);
  return {code_of(code), std::move(text)};
}

Result<void> Connection::execute(const char* sql) {
  if (sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) return tl::unexpected(error("using"));
  return {};
}

Result<Rows> Connection::prepared(std::string_view sql) {
  auto& statement = statements_[std::string(sql)];
  if (!statement) {
    sqlite3_stmt* fresh = nullptr;
    if (sqlite3_prepare_v3(db_, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT, &fresh, nullptr) !=
        SQLITE_OK)
      return tl::unexpected(error("using"));
    statement.reset(fresh);
  }
  return Rows(*this, statement.get());
}

void Connection::bind(Rows& rows, int position, std::string_view text) {
  sqlite3_bind_text64(rows.statement_, position, text.data() == nullptr ? "" : text.data(), text.size(), SQLITE_TRANSIENT,
                      SQLITE_UTF8);
}

void Connection::bind(Rows& rows, int position, std::int64_t number) { sqlite3_bind_int64(rows.statement_, position, number); }

void Connection::bind(Rows& rows, int position, const std::optional<std::string>& text) {
  if (text) return bind(rows, position, std::string_view(*text));
  sqlite3_bind_null(rows.statement_, position);
}

std::int64_t Connection::changes() const { return sqlite3_changes64(db_); }
bool Connection::locked_out() const { return (sqlite3_errcode(db_) & 0xff) == SQLITE_BUSY; }

bool Connection::in_wal_mode() const {
  // Through SQLite's own descriptor: to close another one would drop the locks that this process has on the file.
  sqlite3_file* file = nullptr;
  if (sqlite3_file_control(db_, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK || file->pMethods == nullptr)
    return false;
  constexpr sqlite3_int64 kReadVersionAt = 19;
  constexpr char kWal = 2;
  char version = 0;
  return file->pMethods->xRead(file, &version, 1, kReadVersionAt) == SQLITE_OK && version == kWal;
}

bool Connection::in_transaction() const { return sqlite3_get_autocommit(db_) == 0; }

}  // namespace tinker::store
