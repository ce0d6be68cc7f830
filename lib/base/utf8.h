// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tinker::base {

// At most `most` bytes of `text`, cut between characters, with U+FFFD for each byte that belongs to no well-formed character
// (Unicode 15, table 3-7: no overlong form, no surrogate, nothing above U+10FFFF). For the text of others that goes into JSON.
std::string valid_utf8(std::string_view text, std::size_t most = std::string::npos);

// Appends a code point of at most U+10FFFF.
void append_utf8(std::uint32_t code, std::string& text);

}  // namespace tinker::base
