// SPDX-License-Identifier: Apache-2.0
#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "tinker-load/totals.h"

namespace tinker::load {
namespace {

using Writer = rapidjson::Writer<rapidjson::StringBuffer>;

void write_text(const std::string& text, Writer& json) {
  json.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}

// [microseconds, count, microseconds, count …]
void write_times(const char* name, const Histogram& times, Writer& json) {
  json.Key(name);
  json.StartArray();
  times.each([&](std::uint64_t us, std::uint64_t count) {
    json.Uint64(us);
    json.Uint64(count);
  });
  json.EndArray();
}

void write_totals(const LoadTotals& totals, Writer& json) {
  json.StartObject();
  for (const CountRow& row : kCounts) {
    json.Key(row.name);
    json.Uint64(totals.counts.*row.member);
  }
  json.Key("began_sec");
  json.Double(totals.began_sec);
  json.Key("ended_sec");
  json.Double(totals.ended_sec);
  write_times("submit_times", totals.submit_times, json);
  write_times("sample_times", totals.sample_times, json);
  json.Key("troubles");
  json.StartArray();
  for (const Troubles::Trouble& trouble : totals.troubles.all()) {
    write_text(trouble.text, json);
    json.Uint64(trouble.times);
  }
  json.EndArray();
  json.EndObject();
}

// Members may be missing: the client around the SDK knows fewer.
class Reader {
 public:
  explicit Reader(const rapidjson::Value& object) : object_(object) {}

  const rapidjson::Value* find(const char* name) const {
    const auto member = object_.FindMember(name);
    return member == object_.MemberEnd() ? nullptr : &member->value;
  }
  std::uint64_t count(const char* name) const {
    const rapidjson::Value* value = find(name);
    return value != nullptr && value->IsUint64() ? value->GetUint64() : 0;
  }
  double number(const char* name) const {
    const rapidjson::Value* value = find(name);
    return value != nullptr && value->IsNumber() ? value->GetDouble() : 0;
  }
  // Calls visit(first, count) for each pair of a list.
  template <class Visit>
  void each_pair(const char* name, Visit visit) const {
    const rapidjson::Value* list = find(name);
    if (list == nullptr || !list->IsArray()) return;
    for (rapidjson::SizeType i = 0; i + 1 < list->Size(); i += 2) {
      if ((*list)[i + 1].IsUint64()) visit((*list)[i], (*list)[i + 1].GetUint64());
    }
  }

 private:
  const rapidjson::Value& object_;
};

LoadTotals read_totals(const Reader& json) {
  LoadTotals totals;
  for (const CountRow& row : kCounts) totals.counts.*row.member = json.count(row.name);
  totals.began_sec = json.number("began_sec");
  totals.ended_sec = json.number("ended_sec");
  const auto read_times = [&](const char* name, Histogram& times) {
    json.each_pair(name, [&](const rapidjson::Value& us, std::uint64_t count) {
      if (us.IsUint64()) times.add(us.GetUint64(), count);
    });
  };
  read_times("submit_times", totals.submit_times);
  read_times("sample_times", totals.sample_times);
  json.each_pair("troubles", [&](const rapidjson::Value& text, std::uint64_t times) {
    if (text.IsString()) totals.troubles.add({text.GetString(), text.GetStringLength()}, times);
  });
  return totals;
}

}  // namespace

std::string message_line(const Message& message) {
  rapidjson::StringBuffer buffer;
  Writer json(buffer);
  json.StartObject();
  if (message.totals) {
    json.Key("totals");
    write_totals(*message.totals, json);
  }
  if (!message.fatal.empty()) {
    json.Key("fatal");
    write_text(message.fatal, json);
  }
  if (message.outstanding) {
    json.Key("progress");
    json.Uint64(message.progress);
    json.Key("outstanding");
    json.Uint64(*message.outstanding);
  }
  json.EndObject();
  return std::string(buffer.GetString(), buffer.GetSize()) + "\n";
}

base::Result<Message> read_message(std::string_view line) {
  rapidjson::Document document;
  document.Parse(line.data(), line.size());
  if (document.HasParseError() || !document.IsObject()) {
    return base::fail(base::Code::invalid_argument,
                      "a client process wrote '" + std::string(line.substr(0, 200)) + "', which is no message of ours");
  }
  const Reader json(document);
  Message message;
  if (const auto* totals = json.find("totals"); totals != nullptr && totals->IsObject())
    message.totals = read_totals(Reader(*totals));
  if (const auto* fatal = json.find("fatal"); fatal != nullptr && fatal->IsString()) message.fatal = fatal->GetString();
  if (json.find("outstanding") != nullptr) {
    message.progress = json.count("progress");
    message.outstanding = json.count("outstanding");
  }
  return message;
}

}  // namespace tinker::load
