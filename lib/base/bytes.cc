// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace tinker::base {

Buffer::Buffer(Buffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      capacity_(std::exchange(other.capacity_, 0)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(capacity_, other.capacity_);
  return *this;
}

Buffer::~Buffer() { std::free(data_); }

void Buffer::reserve(std::size_t capacity) {
  if (capacity <= capacity_) return;
  void* grown = std::realloc(data_, capacity + kPadding);
  if (grown == nullptr) throw std::bad_alloc{};
  data_ = static_cast<char*>(grown);
  capacity_ = capacity;
  std::memset(data_ + capacity, 0, kPadding);
}

void Buffer::resize(std::size_t size) {
  if (size > capacity_) reserve(std::max(size, capacity_ + capacity_ / 2));
  size_ = size;
}

void Buffer::append(const void* bytes, std::size_t count) {
  if (count == 0) return;
  const std::size_t at = size_;
  resize(size_ + count);
  std::memcpy(data_ + at, bytes, count);
}

SharedBytes::SharedBytes(std::string bytes) {
  auto owned = std::make_shared<const std::string>(std::move(bytes));
  view_ = *owned;
  owner_ = std::move(owned);
}

SharedBytes::SharedBytes(Buffer bytes) {
  auto owned = std::make_shared<const Buffer>(std::move(bytes));
  view_ = owned->view();
  owner_ = std::move(owned);
}

}  // namespace tinker::base
