// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "base/bytes.h"

namespace tinker::codec {

// Protobuf's wire format, written field by field where the messages would be copied (protobuf.dev, "Encoding").

inline std::size_t varint_size(std::uint64_t value) {
  std::size_t size = 1;
  while (value >= 0x80) {
    value >>= 7;
    ++size;
  }
  return size;
}

inline void append_varint(std::uint64_t value, base::Buffer& out) {
  char bytes[10];
  std::size_t size = 0;
  while (value >= 0x80) {
    bytes[size++] = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  bytes[size++] = static_cast<char>(value);
  out.append(bytes, size);
}

// Field numbers here are below 16, so a tag is one byte.
inline void append_varint_field(int number, std::uint64_t value, base::Buffer& out) {
  append_varint(static_cast<std::uint64_t>(number) << 3, out);
  append_varint(value, out);
}

// The tag and the length of a field whose `size` bytes follow.
inline void append_length_field(int number, std::size_t size, base::Buffer& out) {
  append_varint(static_cast<std::uint64_t>(number) << 3 | 2, out);
  append_varint(size, out);
}

inline std::size_t length_field_size(std::size_t size) { return 1 + varint_size(size) + size; }

inline void append_bytes_field(int number, std::string_view bytes, base::Buffer& out) {
  append_length_field(number, bytes.size(), out);
  out.append(bytes);
}

}  // namespace tinker::codec
