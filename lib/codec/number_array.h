// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/bytes.h"
#include "base/error.h"

namespace tinker::codec {

// Scans a JSON array of integers into little-endian int32, the wire form of SampledSequence.tokens (wire.md §6).
//
// `json` starts after '['. Appends 4 bytes a token to `out`; after an error, those before it. Returns the position after ']',
// or an Error naming the byte offset of the first value that is no int32. Never reads past the end of `json` plus
// base::Buffer::kPadding.
base::Result<const char*> scan_int32_array(std::string_view json, base::Buffer& out);

// The same for floats: each appended float32 equals strtof of its text; null becomes NaN (0x7fc00000).
base::Result<const char*> scan_float_array(std::string_view json, base::Buffer& out);

}  // namespace tinker::codec
