// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "control/server.h"

namespace tinker::control {
namespace {

using base::Code;
using base::fail;

void add_count(google::protobuf::RepeatedPtrField<FutureCounts::Count>& counts, std::string_view name, std::uint64_t count) {
  FutureCounts::Count& row = *counts.Add();
  row.set_name(std::string(name));
  row.set_count(static_cast<std::int64_t>(count));
}

void add_groups(google::protobuf::RepeatedPtrField<FutureCounts::Count>& counts, const std::vector<futures::Group>& groups) {
  for (const futures::Group& group : groups) add_count(counts, group.name, group.held);
}

FutureCounts counts_message(const futures::Census& census) {
  FutureCounts counts;
  counts.set_total(static_cast<std::int64_t>(census.totals.all()));
  for (std::size_t i = 0; i < futures::kStates; ++i)
    add_count(*counts.mutable_by_state(), futures::text(static_cast<futures::State>(i)), census.totals.held[i]);
  add_groups(*counts.mutable_by_session(), census.by_session);
  add_groups(*counts.mutable_by_sampling_session(), census.by_sampling_session);
  add_groups(*counts.mutable_by_model(), census.by_model);
  for (const futures::AgeBand& band : census.by_age) add_count(*counts.mutable_by_age(), band.text, band.live);
  return counts;
}

Future future_message(const futures::Record& record) {
  Future future;
  future.set_id(record.id.text());
  future.set_state(std::string(futures::text(record.state)));
  future.set_session(record.session.text);
  future.set_sampling_session(record.sampling_session.text);
  future.set_model(record.model);
  if (record.seq_id) future.set_seq_id(std::to_string(*record.seq_id));
  future.set_num_samples(record.num_samples);
  future.set_age_sec(record.age.count());
  future.set_queued_sec(record.queued.count());
  future.set_upstream_sec(record.upstream.count());
  future.set_attempts(record.attempts);
  future.set_waiters(record.waiters);
  future.set_polls(record.polls);
  future.set_duplicates(record.duplicates);
  future.set_deliveries(record.deliveries);
  future.set_request_bytes(static_cast<std::int64_t>(record.request_bytes));
  future.set_result_bytes(static_cast<std::int64_t>(record.result_bytes));
  if (record.failure) {
    future.set_failure(record.failure->text);
    future.set_failure_category(std::string(futures::text(record.failure->category)));
  }
  return future;
}

base::Result<futures::Filter> filter_of(const ListFuturesRequest& request) {
  futures::Filter filter;
  if (!request.state().empty()) {
    filter.state = futures::state_named(request.state());
    if (!filter.state)
      return fail(Code::invalid_argument,
                  "state '" + request.state() + "': expected queued, in_flight, completed, failed, delivered or confirmed");
  }
  if (request.limit() < 0)
    return fail(Code::invalid_argument, "limit " + std::to_string(request.limit()) + ": expected a positive number");
  filter.session = request.session();
  filter.model = request.model();
  if (request.limit() > 0) filter.limit = static_cast<std::size_t>(request.limit());
  return filter;
}

}  // namespace

void add_futures_calls(Dispatcher& dispatcher, House& house) {
  dispatcher.on<CountFuturesRequest, FutureCounts>(
      "CountFutures", [&house](const CountFuturesRequest&, Dispatcher::Answer<FutureCounts> answer) {
        answer(counts_message(house.shared.table.census(house.shared.clock.now())));
      });

  dispatcher.on<ListFuturesRequest, FutureList>(
      "ListFutures", [&house](const ListFuturesRequest& request, Dispatcher::Answer<FutureList> answer) {
        const auto filter = filter_of(request);
        if (!filter) return answer(tl::unexpected(filter.error()));
        const futures::Listing listing = house.shared.table.list(*filter, house.shared.clock.now());
        FutureList list;
        for (const futures::Record& record : listing.records) *list.add_futures() = future_message(record);
        list.set_more(static_cast<std::int64_t>(listing.more));
        answer(std::move(list));
      });

  dispatcher.on<ShowFutureRequest, Future>(
      "ShowFuture", [&house](const ShowFutureRequest& request, Dispatcher::Answer<Future> answer) {
        const auto id = base::SampleId::parse(request.id());
        if (!id)
          return answer(
              fail(Code::invalid_argument, "'" + request.id() + "' is no request_id; expected s and a number, e.g. s4711"));
        const auto record = house.shared.table.show(*id, house.shared.clock.now());
        if (!record)
          return answer(fail(Code::not_found, "no future " + request.id() + ": it was evicted, or is of an earlier run"));
        answer(future_message(*record));
      });
}

void add_live_samples(SessionList& list, const House& house) {
  const futures::Census census = house.shared.table.census(house.shared.clock.now());
  for (SessionList::Session& session : *list.mutable_sessions()) {
    const auto group = std::ranges::lower_bound(census.by_session, session.id(), {}, &futures::Group::name);
    if (group != census.by_session.end() && group->name == session.id())
      session.set_live_samples(static_cast<std::int64_t>(group->live));
  }
}

}  // namespace tinker::control
