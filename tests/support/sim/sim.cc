// SPDX-License-Identifier: Apache-2.0
#include "support/sim/sim.h"

#include "base/overloaded.h"

#include <gtest/gtest.h>

#include <functional>
#include <utility>
#include <variant>

namespace tinker::sim {

struct Poll::Line {
  Sim& sim;
  base::SampleId id;
  futures::WaiterId waiter;
  futures::Found found{};
  int told = 0;
  bool open = true;
};

futures::Submission sample(std::string sampling_session, std::int64_t seq_id, std::string content) {
  futures::Submission submission{
      .tenant = {"tenant"},
      .session = {"session_1"},
      .sampling_session = {std::move(sampling_session)},
      .seq_id = seq_id,
      .content_hash = std::hash<std::string>{}(content),
      .model = "base",
  };
  submission.request = base::SharedBytes(std::move(content));
  return submission;
}

bool Poll::waiting() const { return line_->open && std::holds_alternative<futures::Pending>(line_->found); }
bool Poll::gone() const { return std::holds_alternative<futures::Gone>(line_->found); }
int Poll::told() const { return line_->told; }

std::string Poll::body() {
  const auto* ready = std::get_if<futures::Ready>(&line_->found);
  if (ready == nullptr) {
    ADD_FAILURE() << "the poll of " << line_->id.text() << " has no result to read";
    return {};
  }
  std::string read{ready->sample_response.view()};
  hang_up_after(read.size());
  return read;
}

futures::Failure Poll::failure() {
  const auto* failed = std::get_if<futures::Failed>(&line_->found);
  if (failed == nullptr) {
    ADD_FAILURE() << "the poll of " << line_->id.text() << " has no failure to read";
    return {};
  }
  if (std::exchange(line_->open, false)) {
    line_->sim.table.delivered(line_->id, line_->waiter, line_->sim.clock.now());
    line_->sim.lines_.erase(line_->waiter);
  }
  return failed->failure;
}

void Poll::hang_up() {
  if (!std::exchange(line_->open, false)) return;
  line_->sim.table.leave(line_->id, line_->waiter, line_->sim.clock.now());
  line_->sim.lines_.erase(line_->waiter);
}

void Poll::hang_up_after(std::size_t bytes) {
  const auto* ready = std::get_if<futures::Ready>(&line_->found);
  if (ready == nullptr || bytes < ready->sample_response.size()) return hang_up();
  if (!std::exchange(line_->open, false)) return;
  line_->sim.table.delivered(line_->id, line_->waiter, line_->sim.clock.now());
  line_->sim.lines_.erase(line_->waiter);
}

void Poll::confirm() { line_->sim.table.confirmed(line_->id, line_->sim.clock.now()); }

Sim::Sim() : table(futures::first_number_of(clock.wall()), 1'000'000) {}

base::Result<futures::Admitted> Sim::submit(futures::Submission submission) {
  futures::Effects effects;
  auto admitted = table.submit(std::move(submission), clock.now(), effects);
  carry_out(effects);
  return admitted;
}

base::SampleId Sim::accept(futures::Submission submission) {
  const auto admitted = submit(std::move(submission));
  if (!admitted) {
    ADD_FAILURE() << "refused: " << admitted.error().text;
    return {};
  }
  return admitted->id;
}

bool Sim::start(base::SampleId id) { return table.start(id, clock.now()).has_value(); }

bool Sim::complete(base::SampleId id, std::string result) {
  futures::Effects effects;
  const bool first = table.complete(id, base::SharedBytes(std::move(result)), clock.now(), effects).has_value();
  carry_out(effects);
  return first;
}

bool Sim::fail(base::SampleId id, std::string text, futures::Category category) {
  futures::Effects effects;
  const bool first = table.fail(id, {category, std::move(text)}, clock.now(), effects).has_value();
  carry_out(effects);
  return first;
}

bool Sim::cancel(base::SampleId id) {
  futures::Effects effects;
  const bool first = table.cancel(id, clock.now(), effects);
  carry_out(effects);
  return first;
}

Poll Sim::poll(base::SampleId id) {
  const futures::WaiterId waiter{0, ++last_waiter_};
  auto line = std::make_shared<Poll::Line>(Poll::Line{.sim = *this, .id = id, .waiter = waiter});
  line->found = table.poll(id, waiter, clock.now());
  line->open = !std::holds_alternative<futures::Gone>(line->found);
  if (line->open) lines_.emplace(waiter, line);
  return Poll(std::move(line));
}

std::size_t Sim::pass(base::Seconds time) {
  clock.advance(std::chrono::duration_cast<base::Monotonic::duration>(time));
  return table.expire(clock.now(), clocks);
}

void Sim::carry_out(const futures::Effects& effects) {
  for (const futures::Effect& effect : effects) {
    std::visit(base::overloaded{
                   [&](const futures::Forward& e) { forwarded.push_back(e.id); },
                   [&](const futures::Withdraw& e) { withdrawn.push_back(e.id); },
                   [&](const futures::Report& e) { reported.push_back(e); },
                   [&](const futures::Deliver& e) {
                     const auto line = lines_.find(e.waiter);
                     if (line == lines_.end()) return;
                     ++line->second->told;
                     line->second->found = table.poll(e.id, e.waiter, clock.now());
                   },
               },
               effect);
  }
}

}  // namespace tinker::sim
