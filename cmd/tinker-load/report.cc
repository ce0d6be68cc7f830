// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/report.h"

#include <rapidjson/prettywriter.h>
#include <rapidjson/stringbuffer.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string_view>
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

std::vector<Figure> figures_of(const RunOutcome& outcome) {
  const double samples = static_cast<double>(outcome.totals.counts.completed);
  const auto a_sample = [&](double sum) { return samples > 0 ? sum / samples : 0; };
  std::vector<Figure> figures;
  for (const CountRow& row : kCounts)
    figures.push_back({row.name, static_cast<double>(outcome.totals.counts.*row.member), Unit::count});
  figures.push_back({"seconds", outcome.seconds, Unit::sec});
  figures.push_back({"samples_per_sec", outcome.seconds > 0 ? samples / outcome.seconds : 0, Unit::per_sec});
  const auto add_times = [&](const char* p50, const char* p90, const char* p99, const char* most, const Histogram& times) {
    if (times.count() == 0) return;
    figures.push_back({p50, times.percentile_sec(0.5) * 1e3, Unit::ms});
    figures.push_back({p90, times.percentile_sec(0.9) * 1e3, Unit::ms});
    figures.push_back({p99, times.percentile_sec(0.99) * 1e3, Unit::ms});
    figures.push_back({most, times.percentile_sec(1) * 1e3, Unit::ms});
  };
  add_times("submit_p50_ms", "submit_p90_ms", "submit_p99_ms", "submit_max_ms", outcome.totals.submit_times);
  add_times("sample_p50_ms", "sample_p90_ms", "sample_p99_ms", "sample_max_ms", outcome.totals.sample_times);
  add_times("healthz_p50_ms", "healthz_p90_ms", "healthz_p99_ms", "healthz_max_ms", outcome.health_times);
  figures.push_back({"healthz_failed", static_cast<double>(outcome.healthz_failed), Unit::count});
  if (outcome.server) {
    figures.push_back({"server_cpu_us_per_sample", a_sample(outcome.server->cpu_sec * 1e6), Unit::us});
    figures.push_back({"server_peak_rss_mb", static_cast<double>(outcome.server->peak_rss_bytes) / 1e6, Unit::mb});
  }
  if (outcome.server_peak_connections)
    figures.push_back({"server_peak_connections", static_cast<double>(*outcome.server_peak_connections), Unit::count});
  figures.push_back({"own_cpu_us_per_sample", a_sample(outcome.own_cpu_sec * 1e6), Unit::us});
  return figures;
}

using Json = rapidjson::PrettyWriter<rapidjson::StringBuffer>;

void write_text(const std::string& text, Json& json) {
  json.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}

void write_figures(const std::vector<Figure>& figures, Json& json) {
  for (const Figure& figure : figures) {
    json.Key(figure.name);
    if (figure.unit == Unit::count) {
      json.Int64(std::llround(figure.value));
    } else {
      json.Double(figure.value);
    }
  }
}

void write_outcome(const RunOutcome& outcome, Json& json) {
  json.StartObject();
  write_figures(figures_of(outcome), json);
  json.Key("troubles");
  json.StartArray();
  for (const Troubles::Trouble& trouble : outcome.totals.troubles.all()) {
    json.StartObject();
    json.Key("times");
    json.Uint64(trouble.times);
    json.Key("text");
    write_text(trouble.text, json);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
}

// What `write` writes, to three decimals.
template <class Write>
std::string json_of(Write write) {
  rapidjson::StringBuffer buffer;
  Json json(buffer);
  json.SetMaxDecimalPlaces(3);
  write(json);
  return std::string(buffer.GetString(), buffer.GetSize()) + "\n";
}

std::string value_text(const Figure& figure) {
  char text[64];
  std::snprintf(text, sizeof text, format_of(figure.unit), figure.value);
  return text;
}

std::string text_of(const std::vector<Figure>& figures) {
  std::string text;
  for (const Figure& figure : figures) {
    char line[128];
    std::snprintf(line, sizeof line, "%-26s %16s\n", figure.name, value_text(figure).c_str());
    text += line;
  }
  return text;
}

std::string troubles_text(const Troubles& troubles) {
  std::string text;
  for (const Troubles::Trouble& trouble : troubles.all())
    text += "trouble, " + std::to_string(trouble.times) + " times: " + trouble.text + "\n";
  return text;
}

// The figure of that name; nullptr where a server has none.
const Figure* find(const std::vector<Figure>& figures, std::string_view name) {
  const auto found = std::ranges::find(figures, name, [](const Figure& figure) { return std::string_view(figure.name); });
  return found == figures.end() ? nullptr : &*found;
}

// Of `figure` to that of the first server; nullopt without one.
std::optional<double> ratio(const Figure& figure, const std::vector<Figure>& first) {
  const Figure* other = find(first, figure.name);
  if (other == nullptr || other->value == 0) return std::nullopt;
  return figure.value / other->value;
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

std::string report_text(const RunOutcome& outcome) {
  return text_of(figures_of(outcome)) + troubles_text(outcome.totals.troubles);
}

std::string report_json(const RunOutcome& outcome) {
  return json_of([&](Json& json) { write_outcome(outcome, json); });
}

std::string router_text(const RouterCounts& counts) { return text_of(figures_of(counts)); }

std::string router_json(const RouterCounts& counts) {
  return json_of([&](Json& json) {
    json.StartObject();
    write_figures(figures_of(counts), json);
    json.EndObject();
  });
}

std::string compare_text(const NamedOutcomes& outcomes) {
  const auto first = figures_of(outcomes.front().second);
  std::string text = std::string(26, ' ');
  char cell[64];
  for (const auto& [name, outcome] : outcomes) {
    std::snprintf(cell, sizeof cell, " %16s %8s", name.c_str(), &outcome == &outcomes.front().second ? "" : "ratio");
    text += cell;
  }
  text += '\n';
  for (const Figure& row : first) {
    std::snprintf(cell, sizeof cell, "%-26s", row.name);
    text += cell;
    for (const auto& [name, outcome] : outcomes) {
      const auto figures = figures_of(outcome);
      const Figure* figure = find(figures, row.name);
      const auto against = figure == nullptr || &outcome == &outcomes.front().second ? std::nullopt : ratio(*figure, first);
      char times[32] = "";
      if (against) std::snprintf(times, sizeof times, "%.2f", *against);
      std::snprintf(cell, sizeof cell, " %16s %8s", figure == nullptr ? "-" : value_text(*figure).c_str(), times);
      text += cell;
    }
    text += '\n';
  }
  for (const auto& [name, outcome] : outcomes) {
    const std::string troubles = troubles_text(outcome.totals.troubles);
    if (!troubles.empty()) text += name + ":\n" + troubles;
  }
  return text;
}

std::string compare_json(const NamedOutcomes& outcomes) {
  const auto first = figures_of(outcomes.front().second);
  return json_of([&](Json& json) {
    json.StartObject();
    json.Key("servers");
    json.StartObject();
    for (const auto& [name, outcome] : outcomes) {
      write_text(name, json);
      write_outcome(outcome, json);
    }
    json.EndObject();
    json.Key("ratios");  // to the first
    json.StartObject();
    for (std::size_t i = 1; i < outcomes.size(); ++i) {
      write_text(outcomes[i].first, json);
      json.StartObject();
      for (const Figure& figure : figures_of(outcomes[i].second)) {
        const auto against = ratio(figure, first);
        if (!against) continue;
        json.Key(figure.name);
        json.Double(*against);
      }
      json.EndObject();
    }
    json.EndObject();
    json.EndObject();
  });
}

}  // namespace tinker::load
