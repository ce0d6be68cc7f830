// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tinker::base {

// Percent-encoding of RFC 3986 §2.1: all but the unreserved characters as %XX.
std::string percent_encoded(std::string_view text);

// nullopt when a '%' does not stand before two hex digits.
std::optional<std::string> percent_decoded(std::string_view text);

}  // namespace tinker::base
