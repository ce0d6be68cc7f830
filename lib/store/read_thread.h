// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <thread>

#include "base/clock.h"
#include "loop/mailbox.h"
#include "store/busy_wait.h"
#include "store/sqlite.h"

namespace tinker::store {

// The thread `store-r`: reads in the order of asking, on a connection that cannot write. In WAL mode it waits for no writer.
//
// Owned by  TinkerDb, from open to destruction. Destruction answers what is queued.
// Thread    its own; try_push() may be called from any.
class ReadThread {
 public:
  using Read = std::function<void(Connection&)>;  // reads, and posts the answer to whoever waits

  ReadThread(std::unique_ptr<Connection> db, std::unique_ptr<BusyWait> busy, std::size_t capacity, base::Seconds stop_patience);
  ~ReadThread();

  // False when `capacity` reads wait already; `read` is then untouched.
  bool try_push(Read&& read) { return mailbox_.try_push(std::move(read)); }

 private:
  void run();

  const base::Seconds stop_patience_;
  std::unique_ptr<BusyWait> busy_;
  std::unique_ptr<Connection> db_;
  loop::Mailbox<Read> mailbox_;
  std::thread thread_;
};

}  // namespace tinker::store
