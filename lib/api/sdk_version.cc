// SPDX-License-Identifier: Apache-2.0
#include "api/sdk_version.h"

#include <charconv>
#include <system_error>

namespace tinker::api {

SdkVersion SdkVersion::parse(std::string_view text) {
  SdkVersion version;
  const char* const end = text.data() + text.size();
  const auto [dot, no_major] = std::from_chars(text.data(), end, version.major);
  if (no_major != std::errc{} || version.major < 0 || dot == end || *dot != '.') return {};
  const auto [rest, no_minor] = std::from_chars(dot + 1, end, version.minor);
  if (no_minor != std::errc{} || version.minor < 0) return {};
  return version;
}

}  // namespace tinker::api
