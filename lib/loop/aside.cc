// SPDX-License-Identifier: Apache-2.0
#include "loop/aside.h"

#include <pthread.h>

namespace tinker::loop {

Aside::Aside()
    : thread_([this] {
        pthread_setname_np(pthread_self(), "aside");
        while (const auto tasks = tasks_.take_all(base::Seconds{3600})) {
          for (const auto& task : *tasks) task();
        }
      }) {}

Aside::~Aside() {
  tasks_.close();
  thread_.join();
}

bool Aside::run(std::function<void()> task) { return tasks_.try_push(std::move(task)); }

}  // namespace tinker::loop
