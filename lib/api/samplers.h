// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "base/ids.h"
#include "loop/event_loop.h"
#include "store/tinker_db.h"

namespace tinker::api {

// What a sampling session, or a path of weights, samples from.
struct Sampler {
  base::SessionId session;     // empty for a path that came without a sampling session
  std::string upstream_model;  // the name that the upstream serves it under
  std::string base_model;      // for samplers/{id}
  std::optional<std::string> model_path;
};

// Sampling sessions and trained weights, checked once and then remembered (server-contract.md §1.3 (16), §1.5).
//
// What is remembered never changes for the life of its row; failures are not remembered. Many requests for one sampler that is
// not known yet share one reading.
//
// Owned by  a worker's Api.
// Thread    its loop's.
// Blocks    never: the store's threads read.
class Samplers {
 public:
  using Found = std::shared_ptr<const Sampler>;
  using Done = std::function<void(base::Result<Found>)>;

  // `served_model` is the base model that the upstream serves: the name of weights without LoRA.
  Samplers(loop::EventLoop& loop, store::TinkerDb& db, std::string served_model, std::size_t remembered = 65536);

  // `done` runs at once when the sampler is remembered, else later.
  // Errors: not_found (`Sampling session not found`, `Model not found`, `Checkpoint not found: M/CK`), too_early, internal, and
  // invalid_argument for a path that is no path of sampler weights.
  void of_session(const base::SamplingSessionId& id, Done done);
  void of_path(const std::string& model_path, Done done);

  // Remembers a sampling session that was just made, if it samples the base model.
  void made(const store::SamplingSessionRow& row);

 private:
  void find(const std::string& key, const std::function<void(const std::string& key)>& read, Done done);
  void read_session(const std::string& key);
  void check_path(std::string key, base::SessionId session, std::string model_path);
  void check_checkpoint(std::string key, std::string checkpoint_id, std::string model_id, Sampler sampler);
  void finish(const std::string& key, base::Result<Found> result);
  void remember(const std::string& key, Found sampler);

  loop::EventLoop& loop_;
  store::TinkerDb& db_;
  const std::string served_model_;
  const std::size_t remembered_;
  std::unordered_map<std::string, Found> known_;  // by sampling session id or path: neither can be the other
  std::deque<std::string> order_;                 // of known_, oldest first
  std::unordered_map<std::string, std::vector<Done>> asking_;
};

}  // namespace tinker::api
