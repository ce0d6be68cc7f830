// SPDX-License-Identifier: Apache-2.0
#include "control/calls.h"

#include <gtest/gtest.h>

#include <set>

namespace tinker::control {
namespace {

TEST(Calls, EachHasARouteACommandAndHelp) {
  std::set<std::string> commands;
  std::set<std::string> routes;
  for (const CallRow& call : calls()) {
    EXPECT_FALSE(call.http_method.empty()) << call.method->name();
    EXPECT_TRUE(call.path.starts_with('/')) << call.method->name();
    EXPECT_TRUE(call.help.ends_with('.')) << call.method->name();
    EXPECT_TRUE(commands.insert(call.command).second) << call.command << " stands twice";
    EXPECT_TRUE(routes.insert(std::string(call.http_method) + call.path).second) << call.path << " stands twice";
  }
  EXPECT_FALSE(commands.empty());
}

TEST(Calls, WhatChangesSomethingIsNoGet) {
  for (const CallRow& call : calls()) EXPECT_EQ(call.access == Access::CHANGE, call.http_method != "GET") << call.command;
}

TEST(Calls, EachFieldOfARequestHasHelpAndATypeThatTextCanSet) {
  for (const CallRow& call : calls()) {
    const auto request = new_message(*call.method->input_type());
    for (int i = 0; i < request->GetDescriptor()->field_count(); ++i) {
      const auto& field = *request->GetDescriptor()->field(i);
      EXPECT_FALSE(field.options().GetExtension(help).empty()) << field.full_name();
      const bool text = set_field(*request, field, "true").has_value();
      const bool number = set_field(*request, field, "7").has_value();
      EXPECT_TRUE(text || number) << field.full_name();
    }
  }
}

TEST(SetField, RefusesTextThatIsNoNumber) {
  ListFuturesRequest request;
  const auto& limit = *request.GetDescriptor()->FindFieldByName("limit");

  const auto set = set_field(request, limit, "7x");

  ASSERT_FALSE(set);
  EXPECT_NE(set.error().text.find("limit '7x'"), std::string::npos);
}

TEST(Json, ShowsEveryFieldUnderItsName) {
  DrainState state;

  EXPECT_EQ(to_json(state), R"({"draining":false,"live_samples":"0"})");
}

TEST(Json, RefusesWhatIsNoMessage) {
  DrainState state;

  EXPECT_FALSE(from_json("{\"draining\":7", state));
  EXPECT_FALSE(from_json("[]", state));
  EXPECT_FALSE(from_json("{\"unknown\":1}", state));
}

}  // namespace
}  // namespace tinker::control
