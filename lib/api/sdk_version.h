// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <string_view>

namespace tinker::api {

// The release of a client's SDK, as far as what it knows depends on it.
struct SdkVersion {
  int major = 0;
  int minor = 0;
  auto operator<=>(const SdkVersion&) const = default;

  // "0.38.0", "1.2rc1", …; 0.0 for anything else.
  static SdkVersion parse(std::string_view text);
};

}  // namespace tinker::api
