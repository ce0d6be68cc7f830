// SPDX-License-Identifier: Apache-2.0
#include "store/read_thread.h"

#include <pthread.h>

#include <utility>

namespace tinker::store {

ReadThread::ReadThread(std::unique_ptr<Connection> db, std::unique_ptr<BusyWait> busy, std::size_t capacity,
                       base::Seconds stop_patience)
    : stop_patience_(stop_patience), busy_(std::move(busy)), db_(std::move(db)), mailbox_(capacity), thread_([this] {
        run();
      }) {
  pthread_setname_np(thread_.native_handle(), "store-r");
}

ReadThread::~ReadThread() {
  busy_->stop_by(BusyWait::Time::clock::now() + std::chrono::duration_cast<BusyWait::Time::duration>(stop_patience_));
  mailbox_.close();
  thread_.join();
}

void ReadThread::run() {
  while (auto reads = mailbox_.take_all(base::Seconds{3600})) {
    for (Read& read : *reads) read(*db_);
  }
}

}  // namespace tinker::store
