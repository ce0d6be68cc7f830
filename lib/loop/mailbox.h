// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"

namespace tinker::loop {

// A bounded queue into a thread that waits for it: the store's and the log's.
//
// Senders never wait: a full or closed mailbox refuses. Any thread sends, one receives.
template <class T>
class Mailbox {
 public:
  explicit Mailbox(std::size_t capacity) : capacity_(capacity) {}

  // False when the mailbox is full or closed; `item` is then untouched.
  bool try_push(T&& item) {
    {
      std::lock_guard lock(mutex_);
      if (closed_ || items_.size() >= capacity_) return false;
      items_.push_back(std::move(item));
      if (items_.size() > 1) return true;  // the receiver has been woken for the first and takes all
    }
    ready_.notify_one();
    return true;
  }

  // Waits for items and takes all of them, in order. Empty after `patience` without any; nullopt once it is closed and empty.
  std::optional<std::vector<T>> take_all(base::Seconds patience) {
    std::unique_lock lock(mutex_);
    ready_.wait_for(lock, patience, [this] { return closed_ || !items_.empty(); });
    if (closed_ && items_.empty()) return std::nullopt;
    return std::exchange(items_, {});
  }

  // Refuses what comes from now on; what is in it can still be taken.
  void close() {
    {
      std::lock_guard lock(mutex_);
      closed_ = true;
    }
    ready_.notify_one();
  }

  std::size_t size() const {
    std::lock_guard lock(mutex_);
    return items_.size();
  }

 private:
  const std::size_t capacity_;
  mutable std::mutex mutex_;  // guards items_ and closed_; nothing is called while it is held
  std::condition_variable ready_;
  std::vector<T> items_;
  bool closed_ = false;
};

}  // namespace tinker::loop
