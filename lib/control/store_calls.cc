// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>

#include "control/server.h"
#include "control/store_messages.h"
#include "store/inspect.h"

namespace tinker::control {
namespace {

// Looks at the database's file on a thread of its own, since that may wait, and answers on the control loop.
template <class View, class Look, class Done>
void look_aside(House& house, Look look, Done done) {
  const bool taken = house.aside.run([look = std::move(look), done, &loop = house.loop] {
    auto view = std::make_shared<base::Result<View>>(look());
    loop.post([view, done] { done(std::move(*view)); });
  });
  if (!taken) done(base::fail(base::Code::exhausted, "too many looks into the database at once; try again"));
}

}  // namespace

void add_store_calls(Dispatcher& dispatcher, House& house) {
  dispatcher.on<GetStoreRequest, Store>("GetStore", [&house](const GetStoreRequest&, Dispatcher::Answer<Store> answer) {
    look_aside<store::StoreView>(
        house, [path = house.shared.db.path()] { return store::inspect_store(path); },
        [answer](base::Result<store::StoreView> view) {
          if (!view) return answer(tl::unexpected(view.error()));
          answer(store_message(*view, true));
        });
  });

  dispatcher.on<ListSessionsRequest, SessionList>(
      "ListSessions", [&house](const ListSessionsRequest& request, Dispatcher::Answer<SessionList> answer) {
        const std::size_t limit = request.limit() > 0 ? static_cast<std::size_t>(request.limit()) : kDefaultLimit;
        look_aside<store::SessionList>(
            house,
            [path = house.shared.db.path(), wall = house.shared.clock.wall(), limit] {
              return store::inspect_sessions(path, wall, limit);
            },
            [&house, answer](base::Result<store::SessionList> sessions) {
              if (!sessions) return answer(tl::unexpected(sessions.error()));
              SessionList list = session_list_message(*sessions, true);
              add_live_samples(list, house);
              answer(std::move(list));
            });
      });
}

}  // namespace tinker::control
