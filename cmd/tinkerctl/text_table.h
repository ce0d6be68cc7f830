// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace tinker::ctl {

// A table for people: columns padded to their widest cell, numbers to the right.
class TextTable {
 public:
  // Names of columns; one that begins with '>' is aligned to the right.
  explicit TextTable(std::vector<std::string> columns);
  void row(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  std::string text() const;

 private:
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;  // the first is the head
};

// "12.5 MiB", "980 B".
std::string bytes_text(std::int64_t bytes);
// "1 d 2 h", "3 m 20 s", "1.25 s", "3 ms".
std::string duration_text(double seconds);

}  // namespace tinker::ctl
