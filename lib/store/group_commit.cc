// SPDX-License-Identifier: Apache-2.0
#include "store/group_commit.h"

#include <pthread.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace tinker::store {

using base::Result;

GroupCommit::GroupCommit(std::unique_ptr<Connection> db, std::unique_ptr<BusyWait> busy, std::size_t capacity,
                         base::Seconds stop_patience)
    : capacity_(capacity),
      stop_patience_(stop_patience),
      busy_(std::move(busy)),
      db_(std::move(db)),
      mailbox_(capacity),
      thread_([this] { run(); }) {
  pthread_setname_np(thread_.native_handle(), "store");
}

GroupCommit::~GroupCommit() {
  busy_->stop_by(BusyWait::Time::clock::now() + std::chrono::duration_cast<BusyWait::Time::duration>(stop_patience_));
  mailbox_.close();
  thread_.join();
}

void GroupCommit::run() {
  Batch batch;
  while (take(batch, base::Seconds{3600})) {
    while (!batch.empty()) commit(batch);
  }
}

bool GroupCommit::take(Batch& batch, base::Seconds patience) {
  if (batch.size() >= capacity_) return true;
  auto arrived = mailbox_.take_all(patience);
  if (!arrived) return false;
  batch.insert(batch.end(), std::make_move_iterator(arrived->begin()), std::make_move_iterator(arrived->end()));
  return true;
}

void GroupCommit::commit(Batch& batch) {
  if (auto begun = begin(batch); !begun) return expire(batch, begun.error());
  take(batch, base::Seconds{0});
  commit_together(batch);
  batch.clear();
}

// The oldest write says how long the lock may be waited for.
Result<void> GroupCommit::begin(Batch& batch) {
  const auto oldest = std::min_element(batch.begin(), batch.end(), [](auto& a, auto& b) { return a.asked < b.asked; });
  busy_->wait_until(busy_->deadline(oldest->asked));
  return db_->execute("BEGIN IMMEDIATE");
}

void GroupCommit::expire(Batch& batch, const base::Error& error) {
  const auto now = BusyWait::Time::clock::now();
  const bool locked = db_->locked_out() && !busy_->stopping();
  // Those that came later than the oldest may wait on; but for what is no lock, waiting does not help.
  const auto gone = std::stable_partition(batch.begin(), batch.end(),
                                          [&](const Write& write) { return locked && busy_->deadline(write.asked) > now; });
  for (auto write = gone; write != batch.end(); ++write) write->settle(tl::unexpected(error));
  batch.erase(gone, batch.end());
}

void GroupCommit::commit_together(Batch& batch) {
  std::vector<Result<void>> results;
  results.reserve(batch.size());
  for (Write& write : batch) {
    results.push_back(apply_alone(write));
    if (!db_->in_transaction()) return commit_singly(batch);
  }
  if (auto committed = db_->execute("COMMIT"); !committed) {
    if (db_->in_transaction()) (void)db_->execute("ROLLBACK");
    return commit_singly(batch);
  }
  for (std::size_t i = 0; i < batch.size(); ++i) batch[i].settle(std::move(results[i]));
}

void GroupCommit::commit_singly(Batch& batch) {
  for (Write& write : batch) {
    Result<void> result = db_->execute("BEGIN IMMEDIATE");
    if (result) result = apply_alone(write);
    if (db_->in_transaction()) {
      if (result) result = db_->execute("COMMIT");
      if (db_->in_transaction()) (void)db_->execute("ROLLBACK");
    }
    write.settle(std::move(result));
  }
}

// Within the transaction, as if alone in it. The savepoint is there for writes of several statements.
Result<void> GroupCommit::apply_alone(Write& write) {
  static constexpr char kSavepoint[] = "SAVEPOINT one_write";
  static constexpr char kRelease[] = "RELEASE one_write";
  static constexpr char kUndo[] = "ROLLBACK TO one_write";
  if (auto saved = db_->run(kSavepoint); !saved) return tl::unexpected(saved.error());
  Result<void> result = write.apply(*db_);
  if (!db_->in_transaction()) return result;
  if (!result) (void)db_->run(kUndo);
  if (auto released = db_->run(kRelease); !released && result) return tl::unexpected(released.error());
  return result;
}

}  // namespace tinker::store
