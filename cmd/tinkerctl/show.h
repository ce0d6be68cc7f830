// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <google/protobuf/message.h>

#include <string>

#include "tinkerd/control.pb.h"

namespace tinker::ctl {

// A reply as people read it; a form for each type below, names and values for any other.
std::string show(const google::protobuf::Message& reply);

std::string show_status(const control::Status& status);
std::string show_store(const control::Store& store);
std::string show_future_counts(const control::FutureCounts& counts);
std::string show_future_list(const control::FutureList& list);
std::string show_session_list(const control::SessionList& list);
std::string show_setting_list(const control::SettingList& list);

}  // namespace tinker::ctl
