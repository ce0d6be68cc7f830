// SPDX-License-Identifier: Apache-2.0
#include "api/futures_request.h"

#include <algorithm>
#include <utility>

#include <rapidjson/document.h>

#include "codec/field_reader.h"

namespace tinker::api {
namespace {

using codec::FieldReader;

void read_target(FieldReader& body, futures::FeedKey& feed, std::vector<base::Fault>& faults) {
  const rapidjson::Value* value = body.required("target");
  if (value == nullptr) return;
  FieldReader target(*value, body.at("target"), faults);
  target.literal("type", "sampling_session");
  feed.sampling_session.text = target.text("sampling_session_id");
  feed.clone = target.optional_integer("cloned_sampler_id").value_or(0);
}

void read_retrieved(FieldReader& body, std::vector<base::SampleId>& ids) {
  if (body.find("retrieved_request_ids") == nullptr) return;
  const rapidjson::Value* list = body.array("retrieved_request_ids");
  if (list == nullptr) return;
  ids.reserve(list->Size());
  for (rapidjson::SizeType i = 0; i < list->Size(); ++i) {
    const rapidjson::Value& text = (*list)[i];
    if (!text.IsString()) {
      body.text_of(text, body.at("retrieved_request_ids").at(i));
    } else if (const auto id = base::SampleId::parse({text.GetString(), text.GetStringLength()})) {
      ids.push_back(*id);
    }
  }
}

}  // namespace

base::Result<FuturesRequest> parse_futures_request(std::string_view text) {
  rapidjson::Document document;
  if (auto error = codec::parse_body(text, document)) return tl::unexpected(std::move(*error));
  FuturesRequest request;
  std::vector<base::Fault> faults;
  FieldReader body(document, {}, faults);
  read_target(body, request.feed, faults);
  request.prev_cursor = body.optional_integer("prev_cursor").value_or(0);
  if (const auto timeout = body.optional_number("timeout")) request.timeout = base::Seconds{std::max(0.0, *timeout)};
  read_retrieved(body, request.retrieved);
  if (!faults.empty()) return tl::unexpected(codec::unprocessable(std::move(faults)));
  return request;
}

}  // namespace tinker::api
