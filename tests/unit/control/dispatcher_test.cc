// SPDX-License-Identifier: Apache-2.0
#include "control/dispatcher.h"

#include <gtest/gtest.h>

#include "support/http_test_server.h"

namespace tinker::control {
namespace {

class DispatcherTest : public ::testing::Test {
 protected:
  DispatcherTest() {
    dispatcher.on<ListFuturesRequest, FutureList>(
        "ListFutures", [this](const ListFuturesRequest& request, Dispatcher::Answer<FutureList> answer) {
          seen = to_json(request);
          answer(FutureList{});
        });
    dispatcher.on<SetConfigRequest, Setting>("SetConfig",
                                             [this](const SetConfigRequest& request, Dispatcher::Answer<Setting> answer) {
                                               seen = to_json(request);
                                               Setting setting;
                                               setting.set_name(request.name());
                                               answer(std::move(setting));
                                             });
    dispatcher.on<ShowFutureRequest, Future>("ShowFuture", [](const ShowFutureRequest&, Dispatcher::Answer<Future> answer) {
      answer(base::fail(base::Code::not_found, "no future s1"));
    });
  }

  std::string send(const std::string& method, const std::string& target, const std::string& body = "") {
    EXPECT_TRUE(client.send(method + " " + target + " HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(body.size()) +
                            "\r\n\r\n" + body));
    const std::string answer = client.answer();
    return answer.substr(9, 3) + " " + answer.substr(answer.find("\r\n\r\n") + 4);
  }

  Dispatcher dispatcher;
  bool may_change = true;
  std::string seen;  // the request that the last handler got
  test::HttpTestServer server{{.handle = [this](http::Request&& request, http::Reply reply) {
    dispatcher.handle(request, may_change, std::move(reply));
  }}};
  test::RawClient client = server.client();
};

TEST_F(DispatcherTest, ReadsTheQuery) {
  EXPECT_EQ(send("GET", "/futures?state=queued&limit=7&model=a%20b%26c").substr(0, 3), "200");

  EXPECT_EQ(seen, R"({"state":"queued","session":"","model":"a b&c","limit":"7"})");
}

TEST_F(DispatcherTest, ReadsThePathOverTheBody) {
  EXPECT_EQ(send("PUT", "/config/poll_hold_sec", R"({"name":"other","value":"3","persist":true})").substr(0, 3), "200");

  EXPECT_EQ(seen, R"({"name":"poll_hold_sec","value":"3","persist":true})");
}

TEST_F(DispatcherTest, RefusesAChangeBeforeItsHandlerRuns) {
  may_change = false;

  const std::string refused = send("PUT", "/config/poll_hold_sec", R"({"value":"3"})");

  EXPECT_EQ(refused.substr(0, 3), "403");
  EXPECT_NE(refused.find("root"), std::string::npos);
  EXPECT_EQ(seen, "");
  EXPECT_EQ(send("GET", "/futures").substr(0, 3), "200") << "looking is allowed";
}

TEST_F(DispatcherTest, SaysWhatIsWrongWithARequest) {
  struct Case {
    std::string method, target, body, status, said;
  };
  for (const Case& test :
       {Case{"GET", "/futures?limit=many", "", "400", "limit 'many'"},
        Case{"GET", "/futures?colour=red", "", "400", "'colour'"},
        Case{"GET", "/futures?state=%zz", "", "400", "two hex digits"},
        Case{"PUT", "/config/x", "{", "400", "SetConfigRequest"}, Case{"PUT", "/config/x", R"({"colour":1})", "400", "colour"},
        Case{"POST", "/futures", "", "405", "POST"}, Case{"GET", "/nothing", "", "404", "/nothing"},
        Case{"GET", "/futures/", "", "404", "/futures/"}}) {
    const std::string refused = send(test.method, test.target, test.body);

    EXPECT_EQ(refused.substr(0, 3), test.status) << test.target << " " << refused;
    EXPECT_NE(refused.find(test.said), std::string::npos) << refused;
  }
  EXPECT_EQ(seen, "");
}

TEST_F(DispatcherTest, PassesOnWhatAHandlerRefuses) {
  EXPECT_EQ(send("GET", "/futures/s1"), R"(404 {"error":"no future s1"})");
}

TEST_F(DispatcherTest, NamesCallsWithoutAHandler) {
  const std::vector<std::string> missing = dispatcher.missing();

  EXPECT_EQ(missing.size(), calls().size() - 3);
  EXPECT_EQ(std::ranges::count(missing, "GetStatus"), 1);
  EXPECT_EQ(send("GET", "/status").substr(0, 3), "500");
}

TEST(Dispatcher, RefusesAHandlerOfOtherTypes) {
  Dispatcher dispatcher;

  EXPECT_THROW((dispatcher.on<DrainRequest, Status>("GetStatus", [](const DrainRequest&, Dispatcher::Answer<Status>) {})),
               std::logic_error);
}

}  // namespace
}  // namespace tinker::control
