// SPDX-License-Identifier: Apache-2.0
#include "loop/handles.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <unistd.h>

namespace tinker::loop {

void Free::operator()(bufferevent* p) const { bufferevent_free(p); }
void Free::operator()(event* p) const { event_free(p); }
void Free::operator()(event_base* p) const { event_base_free(p); }
void Free::operator()(event_config* p) const { event_config_free(p); }
void Free::operator()(evbuffer* p) const { evbuffer_free(p); }

void FileDescriptor::reset() {
  if (fd_ >= 0) close(std::exchange(fd_, -1));
}

}  // namespace tinker::loop
