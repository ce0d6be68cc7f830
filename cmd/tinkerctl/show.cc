// SPDX-License-Identifier: Apache-2.0
#include "tinkerctl/show.h"

#include "tinkerctl/text_table.h"

namespace tinker::ctl {
namespace {

namespace pb = google::protobuf;

// "name  value" a line, for replies that are one thing: a future, a setting, a version.
std::string show_fields(const pb::Message& reply) {
  const pb::Reflection& reflection = *reply.GetReflection();
  TextTable table({"", ""});
  for (int i = 0; i < reply.GetDescriptor()->field_count(); ++i) {
    const pb::FieldDescriptor* field = reply.GetDescriptor()->field(i);
    std::string value;
    switch (field->cpp_type()) {
      case pb::FieldDescriptor::CPPTYPE_STRING:
        value = reflection.GetString(reply, field);
        break;
      case pb::FieldDescriptor::CPPTYPE_INT64:
        value = std::to_string(reflection.GetInt64(reply, field));
        break;
      case pb::FieldDescriptor::CPPTYPE_BOOL:
        value = reflection.GetBool(reply, field) ? "yes" : "no";
        break;
      case pb::FieldDescriptor::CPPTYPE_DOUBLE:
        value = duration_text(reflection.GetDouble(reply, field));
        break;
      default:
        continue;
    }
    if (value.empty()) value = "-";
    if (field->name().ends_with("_bytes")) value = bytes_text(reflection.GetInt64(reply, field));
    table.row({field->name(), value});
  }
  const std::string text = table.text();
  return text.substr(text.find('\n') + 1);  // without the empty head
}

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

template <class Counts>
void add_counts(std::string& text, const char* title, const Counts& counts) {
  if (counts.empty()) return;
  TextTable table({title, ">COUNT"});
  for (const auto& count : counts) table.row({or_dash(count.name()), std::to_string(count.count())});
  text += "\n" + table.text();
}

}  // namespace

std::string show(const pb::Message& reply) {
  if (const auto* status = dynamic_cast<const control::Status*>(&reply)) return show_status(*status);
  if (const auto* store = dynamic_cast<const control::Store*>(&reply)) return show_store(*store);
  if (const auto* counts = dynamic_cast<const control::FutureCounts*>(&reply)) return show_future_counts(*counts);
  if (const auto* futures = dynamic_cast<const control::FutureList*>(&reply)) return show_future_list(*futures);
  if (const auto* sessions = dynamic_cast<const control::SessionList*>(&reply)) return show_session_list(*sessions);
  if (const auto* settings = dynamic_cast<const control::SettingList*>(&reply)) return show_setting_list(*settings);
  return show_fields(reply);
}

std::string show_status(const control::Status& status) {
  const control::Status::Samples& samples = status.samples();
  const control::Status::Upstream& upstream = status.upstream();
  std::string urls;
  for (const std::string& url : status.upstreams()) urls += (urls.empty() ? "" : ", ") + url;

  std::string text = "tinkerd " + status.version() + ", pid " + std::to_string(status.pid()) + ", up " +
                     duration_text(status.uptime_sec()) + (status.draining() ? ", DRAINING: no new samples are taken" : "") +
                     "\n";
  text += "listening " + status.listening() + ", serving " + status.base_model() + ", " + std::to_string(status.workers()) +
          " worker(s)\n";
  text += "upstream " + (urls.empty() ? std::string("none known yet") : urls) + "\n\n";

  TextTable states(
      {"SAMPLES", ">QUEUED", ">IN FLIGHT", ">COMPLETED", ">FAILED", ">DELIVERED", ">OLDEST LIVE", ">REQUESTS", ">RESULTS"});
  states.row({"", std::to_string(samples.queued()), std::to_string(samples.in_flight()), std::to_string(samples.completed()),
              std::to_string(samples.failed()), std::to_string(samples.delivered()), duration_text(samples.oldest_live_sec()),
              bytes_text(samples.request_bytes()), bytes_text(samples.result_bytes())});
  text += states.text() + "\n";

  TextTable connections(
      {"CONNECTIONS", ">CLIENTS", ">POLLS WAITING", ">UPSTREAM", ">IDLE", ">MOST", ">ACCEPT PAUSES", ">IDLE SHED"});
  connections.row({"", std::to_string(status.clients().connections()), std::to_string(status.clients().polls_waiting()),
                   std::to_string(upstream.connections()), std::to_string(upstream.idle()),
                   std::to_string(upstream.max_connections()), std::to_string(status.clients().accept_pauses()),
                   std::to_string(status.clients().idle_shed())});
  text += connections.text() + "\n";

  TextTable stages({"WHERE THE TIME GOES", ">SAMPLES", ">MEAN", ">P50", ">P90", ">P99"});
  for (const control::Status::Stage& stage : status.stages()) {
    stages.row({stage.name(), std::to_string(stage.count()), duration_text(stage.mean_sec()), duration_text(stage.p50_sec()),
                duration_text(stage.p90_sec()), duration_text(stage.p99_sec())});
  }
  text += stages.text() + "\n";

  TextTable counters({"COUNTER", ">SINCE START", "WHAT"});
  for (const control::Status::Counter& counter : status.counters())
    counters.row({counter.name(), std::to_string(counter.value()), counter.help()});
  return text + counters.text();
}

std::string show_store(const control::Store& store) {
  std::string text = store.path() + ", " + bytes_text(store.bytes()) + " and " + bytes_text(store.wal_bytes()) +
                     " of write-ahead log, journal mode " + store.journal_mode() +
                     (store.daemon_running() ? "" : " (read from the file; tinkerd is not running)") + "\n";
  text += "the engine's URL: " + (store.engine_url().empty() ? std::string("none published") : store.engine_url()) + "\n\n";
  if (!store.note().empty()) text += store.note() + "\n\n";
  TextTable table({"TABLE", ">ROWS"});
  for (const control::Store::Table& row : store.tables()) table.row({row.name(), std::to_string(row.rows())});
  return text + table.text();
}

std::string show_future_counts(const control::FutureCounts& counts) {
  std::string text = std::to_string(counts.total()) + " futures\n";
  add_counts(text, "STATE", counts.by_state());
  add_counts(text, "SESSION", counts.by_session());
  add_counts(text, "SAMPLING SESSION", counts.by_sampling_session());
  add_counts(text, "MODEL", counts.by_model());
  add_counts(text, "AGE (LIVE)", counts.by_age());
  return text;
}

std::string show_future_list(const control::FutureList& list) {
  TextTable table(
      {"ID", "STATE", ">AGE", ">QUEUED", ">UPSTREAM", ">TRIES", ">WAITERS", "SAMPLING SESSION", ">SEQ", "MODEL", ">RESULT"});
  for (const control::Future& future : list.futures()) {
    table.row({future.id(), future.state(), duration_text(future.age_sec()), duration_text(future.queued_sec()),
               duration_text(future.upstream_sec()), std::to_string(future.attempts()), std::to_string(future.waiters()),
               or_dash(future.sampling_session()), or_dash(future.seq_id()), future.model(),
               bytes_text(future.result_bytes())});
  }
  std::string text = table.text();
  if (list.more() > 0) text += "and " + std::to_string(list.more()) + " more (see --limit)\n";
  return text;
}

std::string show_session_list(const control::SessionList& list) {
  TextTable table({"SESSION", "STATUS", "SDK", "CREATED (UTC)", ">LAST HEARTBEAT", ">BEATS", ">SAMPLERS", ">LIVE SAMPLES"});
  for (const control::SessionList::Session& session : list.sessions()) {
    table.row({session.id(), session.status(), session.sdk_version(), session.created_at().substr(0, 19),
               session.heartbeat_age_sec() < 0 ? "none yet" : duration_text(session.heartbeat_age_sec()) + " ago",
               std::to_string(session.heartbeats()), std::to_string(session.sampling_sessions()),
               list.daemon_running() ? std::to_string(session.live_samples()) : "-"});
  }
  return (list.note().empty() ? "" : list.note() + "\n\n") + table.text();
}

std::string show_setting_list(const control::SettingList& list) {
  TextTable table({"SETTING", ">VALUE", "UNIT", "RANGE", "CHANGE", "SOURCE"});
  for (const control::Setting& setting : list.settings()) {
    table.row({setting.name(), or_dash(setting.value()), setting.unit(), setting.range(), setting.change(), setting.source()});
  }
  return table.text();
}

}  // namespace tinker::ctl
