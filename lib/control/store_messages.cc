// SPDX-License-Identifier: Apache-2.0
#include "control/store_messages.h"

namespace tinker::control {

Store store_message(const store::StoreView& view, bool daemon_running) {
  Store store;
  store.set_path(view.path);
  store.set_bytes(static_cast<std::int64_t>(view.file_bytes));
  store.set_wal_bytes(static_cast<std::int64_t>(view.wal_bytes));
  store.set_journal_mode(view.journal_mode);
  for (const store::TableSize& size : view.tables) {
    Store::Table& table = *store.add_tables();
    table.set_name(size.name);
    table.set_rows(size.rows);
  }
  store.set_engine_url(view.upstream_url.value_or(""));
  store.set_engine_url_updated_at(view.upstream_updated_at.value_or(""));
  store.set_note(view.note);
  store.set_daemon_running(daemon_running);
  return store;
}

SessionList session_list_message(const store::SessionList& sessions, bool daemon_running) {
  SessionList list;
  list.set_note(sessions.note);
  list.set_daemon_running(daemon_running);
  for (const store::SessionView& view : sessions.sessions) {
    SessionList::Session& session = *list.add_sessions();
    session.set_id(view.id);
    session.set_status(view.status);
    session.set_sdk_version(view.sdk_version);
    session.set_created_at(view.created_at);
    session.set_last_heartbeat_at(view.last_heartbeat_at.value_or(""));
    session.set_heartbeat_age_sec(view.heartbeat_age ? view.heartbeat_age->count() : -1);
    session.set_heartbeats(view.heartbeats);
    session.set_sampling_sessions(view.sampling_sessions);
  }
  return list;
}

}  // namespace tinker::control
