// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "loop/mailbox.h"
#include "store/busy_wait.h"
#include "store/sqlite.h"

namespace tinker::store {

// One change, made within a transaction that it shares with others.
struct Write {
  std::function<base::Result<void>(Connection&)> apply;  // may run again when a shared transaction was lost
  std::function<void(base::Result<void>)> settle;        // called once, after the commit; posts to whoever waits
  base::Monotonic asked{};                               // the busy limit counts from here
};

// The thread `store`: all writes that wait go into one transaction, so that a thousand cost one commit.
//
// A write that fails is undone by itself and does not touch the others. A transaction that fails as a whole (disk full, I/O
// error) is made again write by write. While another process holds the lock, each write waits at most the busy limit from
// when it was asked for.
//
// Owned by  TinkerDb, from open to destruction. Destruction commits what is queued, within `stop_patience`, and settles all.
// Thread    its own; try_push() may be called from any.
class GroupCommit {
 public:
  GroupCommit(std::unique_ptr<Connection> db, std::unique_ptr<BusyWait> busy, std::size_t capacity,
              base::Seconds stop_patience);
  ~GroupCommit();

  // False when `capacity` writes wait already; `write` is then untouched.
  bool try_push(Write&& write) { return mailbox_.try_push(std::move(write)); }
  std::size_t waiting() const { return mailbox_.size(); }

 private:
  using Batch = std::vector<Write>;

  void run();
  // Adds what has arrived meanwhile, as long as the batch stays within the capacity. False once no more will arrive.
  bool take(Batch& batch, base::Seconds patience);
  void commit(Batch& batch);
  base::Result<void> begin(Batch& batch);
  // After begin() failed: settles those that have waited for the lock for as long as they may.
  void expire(Batch& batch, const base::Error& error);
  void commit_together(Batch& batch);
  void commit_singly(Batch& batch);
  base::Result<void> apply_alone(Write& write);

  const std::size_t capacity_;
  const base::Seconds stop_patience_;
  std::unique_ptr<BusyWait> busy_;
  std::unique_ptr<Connection> db_;
  loop::Mailbox<Write> mailbox_;
  std::thread thread_;
};

}  // namespace tinker::store
