// SPDX-License-Identifier: Apache-2.0
#include "futures/sample.h"

namespace tinker::futures {

std::string_view text(Category category) {
  switch (category) {
    case Category::user:
      return "user";
    case Category::server:
      return "server";
    case Category::unknown:
      return "unknown";
  }
  __builtin_unreachable();
}

}  // namespace tinker::futures
