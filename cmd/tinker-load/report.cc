// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/report.h"

#include <rapidjson/prettywriter.h>
#include <rapidjson/stringbuffer.h>

#include <cmath>
#include <cstdio>
#include <vector>

namespace tinker::load {
namespace {

enum class Unit { count, per_sec, sec, ms, us, mb };

// A figure of a report, by its name in JSON.
struct Figure {
  const char* name;
  double value;
  Unit unit;
};

const char* format_of(Unit unit) {
  switch (unit) {
    case Unit::count:
      return "%.0f";
    case Unit::per_sec:
      return "%.1f /s";
    case Unit::sec:
      return "%.3f s";
    case Unit::ms:
      return "%.2f ms";
    case Unit::us:
      return "%.1f us";
    case Unit::mb:
      return "%.1f MB";
  }
  __builtin_unreachable();
}

std::vector<Figure> figures_of(const LoadReport& report) {
  const Client& client = report.client;
  const LoadCounts& counts = client.counts();
  const double samples = static_cast<double>(counts.completed);
  const double seconds = client.took().count();
  std::vector<Figure> figures{
      {"completed", samples, Unit::count},
      {"failed", static_cast<double>(counts.failed), Unit::count},
      {"wrong", static_cast<double>(counts.wrong), Unit::count},
      {"seconds", seconds, Unit::sec},
      {"samples_per_sec", seconds > 0 ? samples / seconds : 0, Unit::per_sec},
      {"repolls", static_cast<double>(counts.repolls), Unit::count},
      {"abandoned_polls", static_cast<double>(counts.abandoned_polls), Unit::count},
      {"reconnects", static_cast<double>(counts.reconnects), Unit::count},
      {"throttled", static_cast<double>(counts.throttled), Unit::count},
  };
  const auto add_times = [&](const char* p50, const char* p90, const char* p99, const char* most, const Samples& times) {
    figures.push_back({p50, times.percentile_sec(0.5) * 1e3, Unit::ms});
    figures.push_back({p90, times.percentile_sec(0.9) * 1e3, Unit::ms});
    figures.push_back({p99, times.percentile_sec(0.99) * 1e3, Unit::ms});
    figures.push_back({most, times.percentile_sec(1) * 1e3, Unit::ms});
  };
  add_times("submit_p50_ms", "submit_p90_ms", "submit_p99_ms", "submit_max_ms", client.submit_times());
  add_times("sample_p50_ms", "sample_p90_ms", "sample_p99_ms", "sample_max_ms", client.sample_times());
  add_times("healthz_p50_ms", "healthz_p90_ms", "healthz_p99_ms", "healthz_max_ms", client.health_times());
  figures.push_back({"healthz_failed", static_cast<double>(counts.healthz_failed), Unit::count});
  if (report.server) {
    figures.push_back({"server_cpu_us_per_sample", samples > 0 ? report.server->cpu_sec * 1e6 / samples : 0, Unit::us});
    figures.push_back({"server_peak_rss_mb", static_cast<double>(report.server->peak_rss_bytes) / 1e6, Unit::mb});
  }
  figures.push_back({"own_cpu_us_per_sample", samples > 0 ? report.own_cpu_sec * 1e6 / samples : 0, Unit::us});
  return figures;
}

// `first_trouble` is nullptr where there is no such figure.
std::string json_of(const std::vector<Figure>& figures, const std::string* first_trouble) {
  rapidjson::StringBuffer buffer;
  rapidjson::PrettyWriter<rapidjson::StringBuffer> json(buffer);
  json.SetMaxDecimalPlaces(3);
  json.StartObject();
  for (const Figure& figure : figures) {
    json.Key(figure.name);
    if (figure.unit == Unit::count) {
      json.Int64(std::llround(figure.value));
    } else {
      json.Double(figure.value);
    }
  }
  if (first_trouble != nullptr) {
    json.Key("first_trouble");
    json.String(first_trouble->data(), static_cast<rapidjson::SizeType>(first_trouble->size()));
  }
  json.EndObject();
  return std::string(buffer.GetString(), buffer.GetSize()) + "\n";
}

std::string text_of(const std::vector<Figure>& figures, const std::string& first_trouble) {
  std::string text;
  for (const Figure& figure : figures) {
    char value[64];
    std::snprintf(value, sizeof value, format_of(figure.unit), figure.value);
    char line[128];
    std::snprintf(line, sizeof line, "%-26s %16s\n", figure.name, value);
    text += line;
  }
  if (!first_trouble.empty()) text += "first trouble: " + first_trouble + "\n";
  return text;
}

std::vector<Figure> figures_of(const RouterCounts& counts) {
  return {{"requests", static_cast<double>(counts.requests), Unit::count},
          {"answered", static_cast<double>(counts.answered), Unit::count},
          {"aborted", static_cast<double>(counts.aborted), Unit::count},
          {"refused", static_cast<double>(counts.refused), Unit::count},
          {"most_in_flight", static_cast<double>(counts.most_in_flight), Unit::count},
          {"most_connections", static_cast<double>(counts.most_connections), Unit::count}};
}

}  // namespace

std::string report_text(const LoadReport& report) { return text_of(figures_of(report), report.client.counts().first_trouble); }
std::string report_json(const LoadReport& report) { return json_of(figures_of(report), &report.client.counts().first_trouble); }
std::string router_text(const RouterCounts& counts) { return text_of(figures_of(counts), ""); }
std::string router_json(const RouterCounts& counts) { return json_of(figures_of(counts), nullptr); }

}  // namespace tinker::load
