// SPDX-License-Identifier: Apache-2.0
#include "api/samplers.h"

#include <gtest/gtest.h>

#include "unit/api/fake_db.h"

namespace tinker::api {
namespace {

using base::Code;

class SamplersTest : public ::testing::Test {
 protected:
  SamplersTest() {
    db.sessions["base"] = base_session("base");
    db.sessions["trained"] = base_session("trained");
    db.sessions["trained"].base_model.reset();
    db.sessions["trained"].model_path = "tinker://m1/sampler_weights/ck1";
    db.models["m1"] = {.id = "m1", .base_model = "tiny-base", .status = "created", .is_lora = true};
    db.checkpoints["m1/ck1"] = {store::CheckpointStatus::completed, ""};
  }

  static store::SamplingSessionRow base_session(const std::string& id) { return {{id}, {"s1"}, 0, "tiny", std::nullopt}; }

  base::Result<Samplers::Found> of_session(const std::string& id) {
    std::optional<base::Result<Samplers::Found>> result;
    samplers.of_session({id}, [&](base::Result<Samplers::Found> found) { result = std::move(found); });
    run();
    return *result;
  }
  Code code_of_session(const std::string& id) { return of_session(id).error().code; }
  void run() {
    loop::Timer end(loop, [this] { loop.stop(); });
    end.after(base::Seconds{0.02});
    loop.run();
  }

  loop::EventLoop loop{"test"};
  FakeDb db;
  Samplers samplers{loop, db, "served", 2};
};

TEST_F(SamplersTest, NamesTheBaseModelAsItIs) {
  const auto sampler = of_session("base");

  ASSERT_TRUE(sampler);
  EXPECT_EQ((*sampler)->upstream_model, "tiny");
  EXPECT_EQ((*sampler)->session.text, "s1");
}

TEST_F(SamplersTest, NamesALoraAdapterByItsModel) {
  const auto sampler = of_session("trained");

  ASSERT_TRUE(sampler);
  EXPECT_EQ((*sampler)->upstream_model, "m1");
  EXPECT_EQ((*sampler)->base_model, "tiny-base");
}

TEST_F(SamplersTest, NamesWeightsWithoutLoraAsTheServedModel) {
  db.models["m1"].is_lora = false;

  EXPECT_EQ((*of_session("trained"))->upstream_model, "served");
}

TEST_F(SamplersTest, RefusesAsThePeerDoes) {
  EXPECT_EQ(code_of_session("absent"), Code::not_found);
  db.checkpoints["m1/ck1"].status = store::CheckpointStatus::pending;
  EXPECT_EQ(code_of_session("trained"), Code::too_early);
  db.checkpoints["m1/ck1"] = {store::CheckpointStatus::failed, "no room"};
  EXPECT_EQ(of_session("trained").error().text, "Checkpoint creation failed: no room");
  db.checkpoints.clear();
  EXPECT_EQ(of_session("trained").error().text, "Checkpoint not found: m1/ck1");
  db.models.clear();
  EXPECT_EQ(of_session("trained").error().text, "Model not found");
  db.sessions["trained"].model_path = "tinker://m1/weights/ck1";
  EXPECT_EQ(code_of_session("trained"), Code::invalid_argument);
}

TEST_F(SamplersTest, ReadsOnceForManyRequestsAtOnce) {
  int answered = 0;
  for (int i = 0; i < 512; ++i)
    samplers.of_session({"trained"}, [&](base::Result<Samplers::Found> found) { answered += found.has_value(); });

  run();

  EXPECT_EQ(answered, 512);
  EXPECT_EQ(db.reads, 3) << "the session, its model and its checkpoint";
}

TEST_F(SamplersTest, RemembersASuccessAndNoFailure) {
  db.checkpoints["m1/ck1"].status = store::CheckpointStatus::pending;
  EXPECT_FALSE(of_session("trained"));
  db.checkpoints["m1/ck1"].status = store::CheckpointStatus::completed;
  EXPECT_TRUE(of_session("trained"));
  const int reads = db.reads;

  bool at_once = false;
  samplers.of_session({"trained"}, [&](base::Result<Samplers::Found> found) { at_once = found.has_value(); });

  EXPECT_TRUE(at_once);
  EXPECT_EQ(db.reads, reads);
}

TEST_F(SamplersTest, PassesOnAFailureOfTheDatabase) {
  db.failure = base::Error{Code::unavailable, "database is locked"};

  EXPECT_EQ(code_of_session("base"), Code::unavailable);
}

TEST_F(SamplersTest, RemembersABoundedNumber) {
  for (const char* id : {"a", "b", "c"}) db.sessions[id] = base_session(id);
  of_session("a");
  of_session("b");
  of_session("c");
  const int reads = db.reads;

  of_session("a");

  EXPECT_EQ(db.reads, reads + 1) << "the oldest of two was forgotten";
}

}  // namespace
}  // namespace tinker::api
