// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "config/overrides.h"
#include "control/server.h"

namespace tinker::control {
namespace {

std::string_view change_text(config::Change change) {
  switch (change) {
    case config::Change::live:
      return "live";
    case config::Change::start:
      return "restart";
  }
  __builtin_unreachable();
}

Setting setting_message(const config::AnySetting& setting) {
  Setting message;
  message.set_name(setting.about().name);
  message.set_value(setting.text());
  message.set_default_(setting.fallback_text());
  message.set_range(setting.range_text());
  message.set_unit(setting.about().unit);
  message.set_change(std::string(change_text(setting.about().change)));
  message.set_source(std::string(config::name_of(setting.source())));
  message.set_help(setting.about().help);
  return message;
}

}  // namespace

void add_config_calls(Dispatcher& dispatcher, House& house) {
  dispatcher.on<ListConfigRequest, SettingList>("ListConfig",
                                                [&house](const ListConfigRequest&, Dispatcher::Answer<SettingList> answer) {
                                                  SettingList list;
                                                  for (const config::AnySetting* setting : house.shared.settings.all.list())
                                                    *list.add_settings() = setting_message(*setting);
                                                  answer(std::move(list));
                                                });

  dispatcher.on<GetConfigRequest, Setting>("GetConfig",
                                           [&house](const GetConfigRequest& request, Dispatcher::Answer<Setting> answer) {
                                             const auto setting = house.shared.settings.all.require(request.name());
                                             if (!setting) return answer(tl::unexpected(setting.error()));
                                             answer(setting_message(**setting));
                                           });

  dispatcher.on<SetConfigRequest, Setting>(
      "SetConfig", [&house](const SetConfigRequest& request, Dispatcher::Answer<Setting> answer) {
        const auto setting = config::set_live(house.shared.settings, request.name(), request.value());
        if (!setting) return answer(tl::unexpected(setting.error()));
        house.settings_changed();
        if (request.persist()) {
          // A small file, written on the control loop: no worker waits for it.
          if (auto kept = config::persist(house.shared.settings, **setting); !kept) return answer(tl::unexpected(kept.error()));
        }
        answer(setting_message(**setting));
      });

  dispatcher.on<UnsetConfigRequest, Setting>("UnsetConfig",
                                             [&house](const UnsetConfigRequest& request, Dispatcher::Answer<Setting> answer) {
                                               const auto setting = config::unset(house.shared.settings, request.name());
                                               if (!setting) return answer(tl::unexpected(setting.error()));
                                               house.settings_changed();
                                               answer(setting_message(**setting));
                                             });
}

}  // namespace tinker::control
