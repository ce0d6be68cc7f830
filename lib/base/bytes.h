// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace tinker::base {

// A growing array of bytes that is not zeroed when it grows and always has kPadding readable bytes behind its end (simdjson
// reads past the end of what it parses). Used where a std::string would clear megabytes that are overwritten at once.
class Buffer {
 public:
  static constexpr std::size_t kPadding = 64;

  Buffer() = default;
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  ~Buffer();

  char* data() { return data_; }
  const char* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }
  std::string_view view() const { return {data_, size_}; }

  // Room for `capacity` bytes in all, padding not counted. Never shrinks.
  void reserve(std::size_t capacity);
  // Bytes that come into being are uninitialised.
  void resize(std::size_t size);
  void append(const void* bytes, std::size_t count);
  void append(std::string_view bytes) { append(bytes.data(), bytes.size()); }
  void clear() { size_ = 0; }

 private:
  char* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

// Immutable bytes with a count of owners: one result is written to any number of connections without a copy. Any thread.
class SharedBytes {
 public:
  SharedBytes() = default;
  explicit SharedBytes(std::string bytes);
  explicit SharedBytes(Buffer bytes);

  const char* data() const { return view_.data(); }
  std::size_t size() const { return view_.size(); }
  bool empty() const { return view_.empty(); }
  std::string_view view() const { return view_; }

 private:
  std::shared_ptr<const void> owner_;
  std::string_view view_;
};

}  // namespace tinker::base
