// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "http/client_connection.h"
#include "loop/event_loop.h"
#include "tinker-load/load_options.h"
#include "tinker-load/totals.h"

namespace tinker::load {

// One held retrieve_futures poll for all samples of a sampling session (wire.md §5.6): tells which have ended, and tells the
// server which results may be dropped.
//
// Owned by  Client.
// Thread    the loop's.
class MultiPoll {
 public:
  struct Hooks {
    std::function<void(const std::string& request_id)> finished;  // once for each that was awaited
    std::function<void(const std::string& why)> lost;             // an answer after which the SDK gives all its samples up
  };
  // `head` is that of the requests, all but the length. Counts polls in `totals`.
  MultiPoll(loop::EventLoop& loop, const http::SocketAddress& server, const LoadOptions& options, std::string sampling_session,
            std::string head, LoadTotals& totals, Hooks hooks);
  ~MultiPoll();

  void await(const std::string& request_id);
  // Its result has been fetched.
  void retrieved(const std::string& request_id);
  // Runs `done` when the server has been told of all results that were fetched, or can not be.
  void finish(std::function<void()> done);

 private:
  void poll();
  void answered(const tl::expected<http::Answer, http::Broken>& answer, std::size_t told);
  void again(const std::string& trouble);

  loop::EventLoop& loop_;
  const http::SocketAddress server_;
  const LoadOptions& options_;
  const std::string sampling_session_, head_;
  LoadTotals& totals_;
  const Hooks hooks_;
  std::unique_ptr<http::ClientConnection> connection_;
  loop::Timer pause_;
  bool polling_ = false;  // or in a pause before it
  bool polled_ = false;
  std::uint64_t cursor_ = 0;
  std::unordered_set<std::string> awaited_;
  std::unordered_set<std::string> early_;  // ended before the answer to their asample was read
  std::vector<std::string> retrieved_;     // to be told
  std::function<void()> done_;
};

}  // namespace tinker::load
