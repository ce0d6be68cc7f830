// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

struct bufferevent;
struct event;
struct event_base;
struct event_config;
struct evbuffer;

namespace tinker::loop {

// Owners of libevent's objects.
struct Free {
  void operator()(bufferevent* p) const;
  void operator()(event* p) const;
  void operator()(event_base* p) const;
  void operator()(event_config* p) const;
  void operator()(evbuffer* p) const;
};
using BuffereventPtr = std::unique_ptr<bufferevent, Free>;
using EventPtr = std::unique_ptr<event, Free>;
using EventBasePtr = std::unique_ptr<event_base, Free>;
using EventConfigPtr = std::unique_ptr<event_config, Free>;
using EvbufferPtr = std::unique_ptr<evbuffer, Free>;

// Owner of a file descriptor; -1 is none.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FileDescriptor() { reset(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void reset();

 private:
  int fd_ = -1;
};

}  // namespace tinker::loop
