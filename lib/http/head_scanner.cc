// SPDX-License-Identifier: Apache-2.0
#include "http/head_scanner.h"

namespace tinker::http {

HeadScanner::State HeadScanner::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    if (line_ == 0 && started_ && (bytes.front() == ' ' || bytes.front() == '\t')) return State::folded;
    const std::size_t end = bytes.find('\n');
    if (end == std::string_view::npos) {
      line_ += bytes.size();
      size_ += bytes.size();
      last_ = bytes.back();
      started_ = started_ || line_ > 1 || last_ != '\r';
      return State::more;
    }
    if ((end > 0 ? bytes[end - 1] : last_) != '\r') return State::bare_line_feed;
    const bool empty = line_ + end == 1;
    size_ += end + 1;
    if (empty && (started_ || lead_ > 0)) return State::whole;
    if (empty)
      lead_ = size_;
    else
      started_ = true;
    line_ = 0;
    last_ = 0;
    bytes.remove_prefix(end + 1);
  }
  return State::more;
}

}  // namespace tinker::http
