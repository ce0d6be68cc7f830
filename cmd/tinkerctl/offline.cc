// SPDX-License-Identifier: Apache-2.0
#include "tinkerctl/offline.h"

#include <utility>

#include "base/clock.h"
#include "control/store_messages.h"
#include "store/database_url.h"
#include "store/inspect.h"

namespace tinker::ctl {
namespace {

using Reply = base::Result<std::unique_ptr<google::protobuf::Message>>;

Reply store_info(const std::string& path) {
  const auto view = store::inspect_store(path);
  if (!view) return tl::unexpected(view.error());
  return std::make_unique<control::Store>(control::store_message(*view, false));
}

Reply sessions_list(const std::string& path, std::int64_t limit) {
  const auto sessions = store::inspect_sessions(path, base::SystemClock{}.wall(),
                                                limit > 0 ? static_cast<std::size_t>(limit) : control::kDefaultLimit);
  if (!sessions) return tl::unexpected(sessions.error());
  return std::make_unique<control::SessionList>(control::session_list_message(*sessions, false));
}

}  // namespace

std::optional<Reply> offline_reply(const control::CallRow& call, const google::protobuf::Message& request,
                                   const std::string& database_url) {
  const std::string& name = call.method->name();
  if (name == "GetVersion") return std::make_unique<control::Version>();
  if (name != "GetStore" && name != "ListSessions") return std::nullopt;
  const auto path = store::database_path(database_url);
  if (!path) return tl::unexpected(path.error());
  if (name == "GetStore") return store_info(*path);
  return sessions_list(*path, static_cast<const control::ListSessionsRequest&>(request).limit());
}

void add_own_version(google::protobuf::Message& reply) {
  if (auto* version = dynamic_cast<control::Version*>(&reply)) version->set_tinkerctl_version(TINKER_VERSION);
}

}  // namespace tinker::ctl
