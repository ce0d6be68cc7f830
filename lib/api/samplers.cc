// SPDX-License-Identifier: Apache-2.0
#include "api/samplers.h"

#include <utility>

#include "api/tinker_path.h"

namespace tinker::api {

using base::Code;
using base::fail;

Samplers::Samplers(loop::EventLoop& loop, store::TinkerDb& db, std::string served_model, std::size_t remembered)
    : loop_(loop), db_(db), served_model_(std::move(served_model)), remembered_(remembered) {}

void Samplers::of_session(const base::SamplingSessionId& id, Done done) {
  find(
      id.text, [this](const std::string& key) { read_session(key); }, std::move(done));
}

void Samplers::of_path(const std::string& model_path, Done done) {
  find(
      model_path, [this](const std::string& key) { check_path(key, {}, key); }, std::move(done));
}

void Samplers::made(const store::SamplingSessionRow& row) {
  if (!row.base_model) return;
  remember(row.id.text, std::make_shared<const Sampler>(Sampler{row.session, *row.base_model, *row.base_model, std::nullopt}));
}

void Samplers::find(const std::string& key, const std::function<void(const std::string&)>& read, Done done) {
  if (const auto known = known_.find(key); known != known_.end()) {
    done(known->second);
    return;
  }
  std::vector<Done>& waiting = asking_[key];
  waiting.push_back(std::move(done));
  if (waiting.size() == 1) read(key);
}

void Samplers::read_session(const std::string& key) {
  db_.find_sampling_session({key}, loop_, [this, key](base::Result<std::optional<store::SamplingSessionRow>> row) {
    if (!row) return finish(key, tl::unexpected(row.error()));
    if (!*row) return finish(key, fail(Code::not_found, "Sampling session not found"));
    store::SamplingSessionRow& session = **row;
    if (session.base_model) {
      return finish(key, std::make_shared<const Sampler>(
                             Sampler{session.session, *session.base_model, *session.base_model, std::nullopt}));
    }
    check_path(key, session.session, session.model_path.value_or(""));
  });
}

void Samplers::check_path(std::string key, base::SessionId session, std::string model_path) {
  std::optional<SamplerPath> path = parse_sampler_path(model_path);
  if (!path) {
    return finish(
        key, fail(Code::invalid_argument,
                  "model_path must be tinker://model_id/checkpoint_id or tinker://model_id/sampler_weights/checkpoint_id"));
  }
  db_.find_model(path->model_id, loop_,
                 [this, key = std::move(key), session = std::move(session), model_path = std::move(model_path),
                  path = *path](base::Result<std::optional<store::ModelRow>> row) mutable {
                   if (!row) return finish(key, tl::unexpected(row.error()));
                   if (!*row) return finish(key, fail(Code::not_found, "Model not found"));
                   // With LoRA the upstream knows the adapter by the model's id, without it only the model that it serves.
                   Sampler sampler{std::move(session), (*row)->is_lora ? path.model_id : served_model_, (*row)->base_model,
                                   std::move(model_path)};
                   check_checkpoint(std::move(key), path.checkpoint_id, path.model_id, std::move(sampler));
                 });
}

void Samplers::check_checkpoint(std::string key, std::string checkpoint_id, std::string model_id, Sampler sampler) {
  std::string name = model_id + "/" + checkpoint_id;
  db_.find_checkpoint(std::move(model_id), std::move(checkpoint_id), store::CheckpointType::sampler, loop_,
                      [this, key = std::move(key), name = std::move(name),
                       sampler = std::move(sampler)](base::Result<std::optional<store::CheckpointRow>> row) mutable {
                        if (!row) return finish(key, tl::unexpected(row.error()));
                        if (!*row) return finish(key, fail(Code::not_found, "Checkpoint not found: " + name));
                        switch ((*row)->status) {
                          case store::CheckpointStatus::pending:
                            return finish(key, fail(Code::too_early, "Checkpoint is still being created"));
                          case store::CheckpointStatus::failed:
                            return finish(key, fail(Code::internal, "Checkpoint creation failed: " + (*row)->error_message));
                          case store::CheckpointStatus::completed:
                            return finish(key, std::make_shared<const Sampler>(std::move(sampler)));
                        }
                      });
}

void Samplers::finish(const std::string& key, base::Result<Found> result) {
  if (result) remember(key, *result);
  const auto waiting = asking_.extract(key);
  if (waiting.empty()) return;
  for (Done& done : waiting.mapped()) done(result);
}

void Samplers::remember(const std::string& key, Found sampler) {
  if (!known_.insert_or_assign(key, std::move(sampler)).second) return;
  order_.push_back(key);
  if (order_.size() <= remembered_) return;
  known_.erase(order_.front());
  order_.pop_front();
}

}  // namespace tinker::api
