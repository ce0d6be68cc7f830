// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.h"

namespace tinker::base {

// Deadlines in order, without a scan: a doubly linked list through the entries themselves.
//
// Entries derive from DeadlineList<T>::Hook. As long as a clock has one length, a new deadline is the latest and goes to the
// end at once; after the length was changed live it walks back to its place. An entry is in one list at most, and not copied
// while it is in one. One thread, or under the lock of whoever owns the list.
template <class T>
class DeadlineList {
 public:
  struct Hook {
    Hook() = default;
    Hook(const Hook&) = delete;
    Hook& operator=(const Hook&) = delete;
    ~Hook() { unlink(*this); }  // leaves its list
    Monotonic deadline{};

   private:
    friend class DeadlineList;
    Hook* before_ = nullptr;
    Hook* after_ = nullptr;
    DeadlineList* list_ = nullptr;
  };

  DeadlineList() = default;
  DeadlineList(const DeadlineList&) = delete;
  DeadlineList& operator=(const DeadlineList&) = delete;
  ~DeadlineList() {
    while (first_ != nullptr) unlink(*first_);
  }

  bool empty() const { return first_ == nullptr; }
  T* first() const { return first_ == nullptr ? nullptr : &entry(first_); }
  // The one after `item`, which is in this list; nullptr after the last.
  T* after(const T& item) const {
    const Hook& hook = item;
    return hook.after_ == nullptr ? nullptr : &entry(hook.after_);
  }

  // The first entry if it is due at `now`, else nullptr. The caller removes or moves it before it asks again.
  T* due(Monotonic now) const { return first_ != nullptr && first_->deadline <= now ? &entry(first_) : nullptr; }

  // Puts `item` in with `deadline`, or moves it if it is in this list.
  void put(T& item, Monotonic deadline) {
    Hook& hook = item;
    unlink(hook);
    hook.deadline = deadline;
    hook.list_ = this;
    Hook* before = last_;
    while (before != nullptr && before->deadline > deadline) before = before->before_;
    hook.before_ = before;
    hook.after_ = before == nullptr ? first_ : before->after_;
    (hook.before_ == nullptr ? first_ : hook.before_->after_) = &hook;
    (hook.after_ == nullptr ? last_ : hook.after_->before_) = &hook;
  }

  // Takes `item` out; nothing happens when it is in no list.
  void remove(T& item) { unlink(item); }

 private:
  static void unlink(Hook& hook) {
    if (hook.list_ == nullptr) return;
    DeadlineList& list = *hook.list_;
    (hook.before_ == nullptr ? list.first_ : hook.before_->after_) = hook.after_;
    (hook.after_ == nullptr ? list.last_ : hook.after_->before_) = hook.before_;
    hook.before_ = hook.after_ = nullptr;
    hook.list_ = nullptr;
  }
  static T& entry(Hook* hook) { return static_cast<T&>(*hook); }
  Hook* first_ = nullptr;
  Hook* last_ = nullptr;
};

}  // namespace tinker::base
