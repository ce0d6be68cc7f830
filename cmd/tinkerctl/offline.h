// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <google/protobuf/message.h>

#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "control/calls.h"

namespace tinker::ctl {

// What can be said without the daemon, from the database's file alone (read-only): `store info`, `sessions list`, `version`.
// nullopt for any other call. Errors: those of reading the file.
std::optional<base::Result<std::unique_ptr<google::protobuf::Message>>> offline_reply(const control::CallRow& call,
                                                                                      const google::protobuf::Message& request,
                                                                                      const std::string& database_url);

// `tinkerctl version` shows both versions: fills in this program's.
void add_own_version(google::protobuf::Message& reply);

}  // namespace tinker::ctl
