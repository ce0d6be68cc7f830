// SPDX-License-Identifier: Apache-2.0
// The control socket from tinkerctl's client to the daemon's rooms: real ones, without its listeners.
#include "control/server.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <optional>

#include "control/client.h"
#include "support/loop_thread.h"
#include "support/raw_client.h"
#include "support/temporary_folder.h"

namespace tinker::control {
namespace {

using base::Code;

class ControlServerTest : public ::testing::Test {
 protected:
  ControlServerTest() {
    EXPECT_TRUE(settings.state_dir.set({folder.path()}, config::Source::file));
    db = std::move(*store::TinkerDb::open("sqlite:///" + folder.file("tinker.db"), clock));
    shared.reset(new api::Shared{settings, clock, table, *db, metrics, jobs, 0});
    aside.emplace();
    house.reset(new House{.loop = home.loop(),
                          .shared = *shared,
                          .upstreams = upstreams,
                          .workers = {{&worker.loop(), [] { return WorkerCounts{.connections = 3}; }},
                                      {&worker.loop(), [] { return WorkerCounts{.connections = 4}; }}},
                          .listening = "http://127.0.0.1:8000",
                          .started = clock.now(),
                          .access_lines_dropped = [] { return std::uint64_t{5}; },
                          .settings_changed = [this] { ++changes; },
                          .aside = *aside});
    home.call([this] {
      auto listening = ControlServer::listen(*house, socket);
      EXPECT_TRUE(listening) << (listening ? "" : listening.error().text);
      if (listening) server = std::move(*listening);
    });
  }
  ~ControlServerTest() override {
    home.call([this] { server.reset(); });
    aside.reset();
    upstreams.stop();
    db.reset();
  }

  static const CallRow& row(std::string_view method) {
    return *std::ranges::find_if(calls(), [&](const CallRow& call_row) { return call_row.method->name() == method; });
  }
  template <class Reply, class Request>
  base::Result<Reply> ask_for(std::string_view method, const Request& request) {
    auto reply = ask(socket, row(method), request, base::Seconds{20});
    if (!reply) return tl::unexpected(reply.error());
    return static_cast<const Reply&>(**reply);
  }
  base::SampleId submit(std::int64_t seq_id) {
    futures::Effects effects;
    futures::Submission submission;
    submission.session = {"session_1"};
    submission.sampling_session = {"sampling_1"};
    submission.seq_id = seq_id;
    submission.model = "tiny";
    return table.submit(std::move(submission), clock.now(), effects)->id;
  }

  const test::TemporaryFolder folder;
  const std::string socket = folder.file("control.sock");
  config::Settings settings;
  base::SystemClock clock;
  futures::Table table{1 << 20, 100};
  observe::Metrics metrics;
  forward::JobBoard jobs;
  std::unique_ptr<store::TinkerDb> db;
  std::unique_ptr<api::Shared> shared;
  forward::Upstreams upstreams{{*forward::UpstreamUrl::parse("http://127.0.0.1:9")}};
  std::optional<loop::Aside> aside;
  int changes = 0;  // on the loop of `home`
  std::unique_ptr<House> house;
  std::unique_ptr<ControlServer> server;
  test::LoopThread worker{"w0"}, home{"control"};
};

TEST_F(ControlServerTest, AnswersEveryCallOfTheDeclaration) {
  for (const CallRow& call_row : calls()) {
    const auto request = new_message(*call_row.method->input_type());
    for (int i = 0; i < request->GetDescriptor()->field_count(); ++i) {
      const auto& field = *request->GetDescriptor()->field(i);
      if (field.name() == "id") {
        ASSERT_TRUE(set_field(*request, field, "s1"));
      }
      if (field.name() == "name") {
        ASSERT_TRUE(set_field(*request, field, "poll_hold_sec"));
      }
      if (field.name() == "value") {
        ASSERT_TRUE(set_field(*request, field, "9"));
      }
    }
    const auto reply = ask(socket, call_row, *request, base::Seconds{20});

    if (call_row.command == "futures show") {
      EXPECT_EQ(reply.error().code, Code::not_found);
    } else {
      ASSERT_TRUE(reply) << call_row.command << ": " << reply.error().text;
      EXPECT_EQ((*reply)->GetDescriptor(), call_row.method->output_type());
    }
  }
}

TEST_F(ControlServerTest, StatusAddsUpWhatTheWorkersCount) {
  submit(0);

  const auto status = ask_for<Status>("GetStatus", GetStatusRequest{});

  ASSERT_TRUE(status);
  EXPECT_EQ(status->clients().connections(), 7);
  EXPECT_EQ(status->samples().queued(), 1);
  EXPECT_EQ(status->upstreams(0), "http://127.0.0.1:9");
  const auto dropped =
      std::ranges::find(status->counters(), "access_lines_dropped", [](const auto& counter) { return counter.name(); });
  EXPECT_EQ(dropped->value(), 5);
}

TEST_F(ControlServerTest, FuturesAreCountedListedAndShown) {
  const base::SampleId first = submit(0);
  submit(1);
  table.start(first, clock.now());

  const auto counts = ask_for<FutureCounts>("CountFutures", CountFuturesRequest{});
  ListFuturesRequest only_queued;
  only_queued.set_state("queued");
  const auto queued = ask_for<FutureList>("ListFutures", only_queued);
  ListFuturesRequest one;
  one.set_limit(1);
  const auto oldest = ask_for<FutureList>("ListFutures", one);
  ShowFutureRequest show;
  show.set_id(first.text());
  const auto shown = ask_for<Future>("ShowFuture", show);

  EXPECT_EQ(counts->total(), 2);
  EXPECT_EQ(counts->by_session(0).name(), "session_1");
  ASSERT_EQ(queued->futures_size(), 1);
  EXPECT_EQ(queued->futures(0).seq_id(), "1");
  EXPECT_EQ(oldest->futures(0).id(), first.text());
  EXPECT_EQ(oldest->more(), 1);
  EXPECT_EQ(shown->state(), "in_flight");
  EXPECT_EQ(shown->attempts(), 1);
}

TEST_F(ControlServerTest, RefusesFuturesThatCannotBe) {
  ListFuturesRequest list;
  list.set_state("asleep");
  ShowFutureRequest show;
  show.set_id("../../etc");

  EXPECT_NE(ask_for<FutureList>("ListFutures", list).error().text.find("'asleep'"), std::string::npos);
  EXPECT_NE(ask_for<Future>("ShowFuture", show).error().text.find("'../../etc'"), std::string::npos);
}

TEST_F(ControlServerTest, ASettingIsSetLivePersistedAndTakenBack) {
  SetConfigRequest set;
  set.set_name("poll_hold_sec");
  set.set_value("7");
  set.set_persist(true);
  const auto changed = ask_for<Setting>("SetConfig", set);

  ASSERT_TRUE(changed);
  EXPECT_EQ(changed->source(), "live");
  EXPECT_EQ(settings.poll_hold_sec.text(), "7");
  EXPECT_TRUE(std::filesystem::exists(folder.file("overrides.toml")));

  UnsetConfigRequest unset;
  unset.set_name("poll_hold_sec");
  const auto back = ask_for<Setting>("UnsetConfig", unset);

  ASSERT_TRUE(back);
  EXPECT_EQ(back->source(), "default");
  EXPECT_EQ(settings.poll_hold_sec.text(), "30");
  EXPECT_EQ(home.call([this] { return changes; }), 2);
}

TEST_F(ControlServerTest, DrainsAndResumes) {
  submit(0);

  EXPECT_EQ(ask_for<DrainState>("Drain", DrainRequest{})->live_samples(), 1);
  EXPECT_TRUE(table.draining());
  EXPECT_FALSE(ask_for<DrainState>("Resume", ResumeRequest{})->draining());
  EXPECT_FALSE(table.draining());
}

TEST_F(ControlServerTest, ShowsTheStoreAndItsSessionsWithTheirLiveSamples) {
  std::promise<void> stored;
  db->insert_session({.id = {"session_1"}, .sdk_version = "0.38.0"}, worker.loop(), [&](base::Result<void> done) {
    EXPECT_TRUE(done);
    stored.set_value();
  });
  stored.get_future().wait();
  submit(0);

  const auto store = ask_for<Store>("GetStore", GetStoreRequest{});
  const auto sessions = ask_for<SessionList>("ListSessions", ListSessionsRequest{});

  EXPECT_TRUE(store->daemon_running());
  EXPECT_TRUE(store->path().ends_with("/tinker.db"));
  ASSERT_EQ(sessions->sessions_size(), 1);
  EXPECT_EQ(sessions->sessions(0).live_samples(), 1);
}

TEST_F(ControlServerTest, TheSocketIsForItsOwnerAndItsGroup) {
  struct stat found {};
  ASSERT_EQ(stat(socket.c_str(), &found), 0);

  EXPECT_EQ(found.st_mode & 0777, 0660u);
}

TEST_F(ControlServerTest, ASecondServerOnTheSocketIsRefusedInWords) {
  const auto second = home.call([this] {
    auto listening = ControlServer::listen(*house, socket);
    return listening ? std::string() : listening.error().text;
  });

  EXPECT_NE(second.find(socket), std::string::npos);
  EXPECT_TRUE(ask_for<Version>("GetVersion", GetVersionRequest{})) << "the first goes on";
}

TEST_F(ControlServerTest, TheClientSaysWhyNobodyCanBeReached) {
  const auto refusal_on = [](const std::string& path) {
    return ask(path, row("GetVersion"), GetVersionRequest{}, base::Seconds{1}).error();
  };
  home.call([this] { server.reset(); });

  EXPECT_EQ(refusal_on(folder.file("absent.sock")).code, Code::unavailable);
  EXPECT_NE(refusal_on(folder.file("absent.sock")).text.find("tinkerd is not running"), std::string::npos);
  EXPECT_EQ(refusal_on(std::string(200, 'x')).code, Code::invalid_argument);
}

TEST(ControlClient, NoticesADaemonThatDoesNotAnswer) {
  const test::TemporaryFolder folder;
  test::LoopThread silent;
  std::vector<http::Reply> kept;
  auto server = silent.call([&] {
    http::ServerHooks hooks;
    hooks.handle = [&](http::Request&&, http::Reply reply) { kept.push_back(std::move(reply)); };
    return std::move(
        *http::Server::listen(silent.loop(), http::ListenAddress::unix_socket(folder.file("s"), 0600), std::move(hooks)));
  });

  const auto reply = ask(folder.file("s"), calls().front(), GetStatusRequest{}, base::Seconds{0.1});

  EXPECT_EQ(reply.error().code, Code::timed_out);
  silent.call([&] {
    server.reset();
    kept.clear();
  });
}

}  // namespace
}  // namespace tinker::control
