// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/report.h"

#include <rapidjson/prettywriter.h>
#include <rapidjson/stringbuffer.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <vector>

namespace tinker::load {
namespace {

enum class Unit { count, per_sec, sec, ms, us, mb };

// A figure of a report, by its name in JSON. One without a value was not measured, and is left out.
struct Figure {
  const char* name;
  std::optional<double> value;
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

// The same rows for each outcome.
std::vector<Figure> figures_of(const RunOutcome& outcome) {
  const double samples = static_cast<double>(outcome.totals.counts.completed);
  const auto a_sample = [&](double sum) { return samples > 0 ? sum / samples : 0; };
  std::vector<Figure> figures;
  for (const CountRow& row : kCounts)
    figures.push_back({row.name, static_cast<double>(outcome.totals.counts.*row.member), Unit::count});
  figures.push_back({"seconds", outcome.seconds, Unit::sec});
  figures.push_back({"samples_per_sec", outcome.seconds > 0 ? samples / outcome.seconds : 0, Unit::per_sec});
  const auto add_times = [&](const char* p50, const char* p90, const char* p99, const char* most, const Histogram& times) {
    const auto add = [&](const char* name, double part) {
      const auto ms = times.count() > 0 ? std::optional(times.percentile_sec(part) * 1e3) : std::nullopt;
      figures.push_back({name, ms, Unit::ms});
    };
    add(p50, 0.5);
    add(p90, 0.9);
    add(p99, 0.99);
    add(most, 1);
  };
  add_times("submit_p50_ms", "submit_p90_ms", "submit_p99_ms", "submit_max_ms", outcome.totals.submit_times);
  add_times("sample_p50_ms", "sample_p90_ms", "sample_p99_ms", "sample_max_ms", outcome.totals.sample_times);
  add_times("healthz_p50_ms", "healthz_p90_ms", "healthz_p99_ms", "healthz_max_ms", outcome.health_times);
  figures.push_back({"healthz_failed", static_cast<double>(outcome.healthz_failed), Unit::count});
  const auto of_server = [&](const auto& figure) {
    return outcome.server ? std::optional(figure(*outcome.server)) : std::nullopt;
  };
  figures.push_back(
      {"server_cpu_us_per_sample", of_server([&](const ProcessUse& use) { return a_sample(use.cpu_sec * 1e6); }), Unit::us});
  figures.push_back({"server_peak_rss_mb",
                     of_server([](const ProcessUse& use) { return static_cast<double>(use.peak_rss_bytes) / 1e6; }), Unit::mb});
  figures.push_back({"server_peak_connections", outcome.server_peak_connections, Unit::count});
  figures.push_back({"own_cpu_us_per_sample", a_sample(outcome.own_cpu_sec * 1e6), Unit::us});
  return figures;
}

using Json = rapidjson::PrettyWriter<rapidjson::StringBuffer>;

void write_text(const std::string& text, Json& json) {
  json.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}

void write_figures(const std::vector<Figure>& figures, Json& json) {
  for (const Figure& figure : figures) {
    if (!figure.value) continue;
    json.Key(figure.name);
    if (figure.unit == Unit::count) {
      json.Int64(std::llround(*figure.value));
    } else {
      json.Double(*figure.value);
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
  if (!figure.value) return "-";
  char text[64];
  std::snprintf(text, sizeof text, format_of(figure.unit), *figure.value);
  return text;
}

std::string text_of(const std::vector<Figure>& figures) {
  std::string text;
  for (const Figure& figure : figures) {
    if (!figure.value) continue;
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

// Of `figure` to that of the first server.
std::optional<double> ratio(const Figure& figure, const Figure& first) {
  if (!figure.value || first.value.value_or(0) == 0) return std::nullopt;
  return *figure.value / *first.value;
}

// The figures of each server.
std::vector<std::vector<Figure>> columns_of(const NamedOutcomes& outcomes) {
  std::vector<std::vector<Figure>> columns;
  for (const auto& [name, outcome] : outcomes) columns.push_back(figures_of(outcome));
  return columns;
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
  const auto columns = columns_of(outcomes);
  char cell[64];
  std::string text(26, ' ');
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    std::snprintf(cell, sizeof cell, i == 0 ? " %16.40s" : " %16.40s    ratio", outcomes[i].first.c_str());
    text += cell;
  }
  text += '\n';
  for (std::size_t row = 0; row < columns.front().size(); ++row) {
    if (std::ranges::none_of(columns, [&](const auto& column) { return column[row].value.has_value(); })) continue;
    std::snprintf(cell, sizeof cell, "%-26s", columns.front()[row].name);
    text += cell;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      std::snprintf(cell, sizeof cell, " %16s", value_text(columns[i][row]).c_str());
      text += cell;
      if (i == 0) continue;
      const auto against = ratio(columns[i][row], columns.front()[row]);
      std::snprintf(cell, sizeof cell, against ? " %8.2f" : "        -", against.value_or(0));
      text += cell;
    }
    text += '\n';
  }
  for (const auto& [name, outcome] : outcomes) {
    const std::string troubles = troubles_text(outcome.totals.troubles);
    if (!troubles.empty()) text.append(name).append(":\n").append(troubles);
  }
  return text;
}

std::string compare_json(const NamedOutcomes& outcomes) {
  const auto columns = columns_of(outcomes);
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
      for (std::size_t row = 0; row < columns[i].size(); ++row) {
        const auto against = ratio(columns[i][row], columns.front()[row]);
        if (!against) continue;
        json.Key(columns[i][row].name);
        json.Double(*against);
      }
      json.EndObject();
    }
    json.EndObject();
    json.EndObject();
  });
}

}  // namespace tinker::load
