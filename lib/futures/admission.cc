// SPDX-License-Identifier: Apache-2.0
#include "futures/admission.h"

#include <cassert>
#include <string>

namespace tinker::futures {

bool Admission::take() {
  if (draining()) return false;
  std::size_t outstanding = outstanding_.load(std::memory_order_relaxed);
  do {
    if (outstanding >= max_outstanding()) return false;
  } while (!outstanding_.compare_exchange_weak(outstanding, outstanding + 1, std::memory_order_relaxed));
  return true;
}

void Admission::give_back() {
  [[maybe_unused]] const std::size_t before = outstanding_.fetch_sub(1, std::memory_order_relaxed);
  assert(before > 0);
}

base::Error Admission::refusal() const {
  if (draining()) {
    return {.code = base::Code::exhausted,
            .text = "the server is draining and takes no new samples: try again after a resume or restart"};
  }
  return {.code = base::Code::exhausted,
          .text = std::to_string(outstanding()) + " samples are outstanding and max_outstanding is " +
                  std::to_string(max_outstanding()) + ": try again when some have ended, or raise max_outstanding"};
}

}  // namespace tinker::futures
