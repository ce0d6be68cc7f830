// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "store/tinker_db.h"

namespace tinker::api {

// A database in memory that answers when the loop runs, and counts what it is asked.
class FakeDb final : public store::TinkerDb {
 public:
  void insert_session(store::SessionRow row, loop::EventLoop& loop, Done<void> done) override {
    training.insert(row.id.text);
    loop.post([done] { done({}); });
  }
  void heartbeat(base::SessionId id, loop::EventLoop& loop, Done<void> done) override {
    loop.post([this, id, done] { done(known(id)); });
  }
  void find_session(base::SessionId id, loop::EventLoop& loop, Done<bool> done) override {
    loop.post([this, id, done] { done(training.contains(id.text)); });
  }
  void insert_sampling_session(store::SamplingSessionRow row, loop::EventLoop& loop, Done<void> done) override {
    const auto result = known(row.session);
    if (result) sessions[row.id.text] = row;
    loop.post([result, done] { done(result); });
  }
  void find_sampling_session(base::SamplingSessionId id, loop::EventLoop& loop,
                             Done<std::optional<store::SamplingSessionRow>> done) override {
    ++reads;
    loop.post([this, id, done] {
      done(failure ? base::Result<std::optional<store::SamplingSessionRow>>(tl::unexpected(*failure))
                   : lookup(sessions, id.text));
    });
  }
  void find_model(std::string id, loop::EventLoop& loop, Done<std::optional<store::ModelRow>> done) override {
    ++reads;
    loop.post([this, id, done] { done(lookup(models, id)); });
  }
  void find_checkpoint(std::string model, std::string checkpoint, store::CheckpointType, loop::EventLoop& loop,
                       Done<std::optional<store::CheckpointRow>> done) override {
    ++reads;
    loop.post([this, key = model + "/" + checkpoint, done] { done(lookup(checkpoints, key)); });
  }
  void read_upstream_url(loop::EventLoop&, Done<std::optional<std::string>>) override {}
  const std::string& path() const override { return path_; }

  std::set<std::string> training;
  std::map<std::string, store::SamplingSessionRow> sessions;
  std::map<std::string, store::ModelRow> models;
  std::map<std::string, store::CheckpointRow> checkpoints;
  std::optional<base::Error> failure;
  int reads = 0;

 private:
  base::Result<void> known(const base::SessionId& id) const {
    if (!training.contains(id.text)) return base::fail(base::Code::not_found, "Session not found");
    return {};
  }
  template <class Row>
  static std::optional<Row> lookup(const std::map<std::string, Row>& rows, const std::string& key) {
    const auto found = rows.find(key);
    return found == rows.end() ? std::nullopt : std::optional(found->second);
  }
  std::string path_ = "/fake";
};

}  // namespace tinker::api
