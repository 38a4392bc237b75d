// SPDX-License-Identifier: MIT
// From trace events to lanes, and from lanes to SVG. A column of the drawing shows the share of each
// kind in its time, so a million events cost no more to show than ten.

#include "apps/uts/timeline.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "apps/uts/format.hpp"
#include "apps/uts/plot.hpp"

namespace weft::uts {
namespace {

constexpr std::size_t kinds_with_colour = 6; // the rest share the colour "k6"
constexpr double width = 1120;
constexpr double label_width = 90;
constexpr std::size_t columns = 1000;
constexpr std::size_t drawn_one_by_one = 250; // more stretches than that in a lane become columns
constexpr int detail_candidates = 41; // places tried for the detail, to find one where all lanes have work
constexpr double lane_height = 44;
constexpr double lane_gap = 10;

struct span {
  double begin;
  double end;
  std::size_t kind;
};

class reader {
 public:
  timeline read(const json::value& trace) {
    const json::value* events = trace.find("traceEvents");
    for (const json::value& e : (events != nullptr ? *events : trace).items()) {
      event(e);
    }
    finish();
    return std::move(timeline_);
  }

 private:
  struct raw_lane {
    std::string name;
    std::vector<span> spans;
    std::vector<span> open; // begun, not ended
  };

  void event(const json::value& e) {
    const std::string& phase = e.text_at("ph");
    if (phase.empty()) {
      return;
    }
    const double at = e.number_at("ts");
    switch (phase[0]) {
    case 'M':
      if (const json::value* arguments = e.find("args");
          e.text_at("name") == "thread_name" && arguments != nullptr) {
        lane_of(e).name = arguments->text_at("name");
      }
      break;
    case 'X':
      lane_of(e).spans.push_back({at, at + e.number_at("dur"), kind(timeline_.kinds, kind_index_, e)});
      break;
    case 'B':
      lane_of(e).open.push_back({at, at, kind(timeline_.kinds, kind_index_, e)});
      break;
    case 'E':
      end(lane_of(e), at);
      break;
    case 'i':
    case 'I':
      ++timeline_.instants[kind(timeline_.instants, instant_index_, e)].number;
      break;
    default:
      break;
    }
  }

  raw_lane& lane_of(const json::value& e) {
    raw_lane& l = lanes_[{e.number_at("pid"), e.number_at("tid")}];
    if (l.name.empty()) {
      l.name = "thread " + std::to_string(static_cast<long>(e.number_at("tid")));
    }
    return l;
  }

  static void end(raw_lane& l, double at) {
    if (!l.open.empty()) {
      l.open.back().end = at;
      l.spans.push_back(l.open.back());
      l.open.pop_back();
    }
  }

  // A unit's stretch is told by its kind, whatever it is called, and by what ended it: "thread, then wait".
  static std::string kind_name(const json::value& e) {
    const json::value* arguments = e.find("args");
    const json::value& told = arguments != nullptr ? *arguments : e;
    const std::string& kind = told.text_at("kind");
    const std::string& name = kind.empty() ? e.text_at("name") : kind;
    const std::string& stop = told.text_at("stop");
    return stop.empty() ? name : name + ", then " + stop;
  }

  static std::size_t kind(std::vector<event_kind>& kinds, std::map<std::string, std::size_t>& index,
                          const json::value& e) {
    const auto [at, fresh] = index.try_emplace(kind_name(e), kinds.size());
    if (fresh) {
      kinds.push_back({at->first, 0, 0});
    }
    return at->second;
  }

  // Cuts nested spans into stretches of self time: an inner span interrupts the one around it.
  static std::vector<stretch> flatten(std::vector<span> spans) {
    std::sort(spans.begin(), spans.end(), [](const span& a, const span& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
    });
    std::vector<stretch> out;
    std::vector<span> around;
    double at = 0;
    const auto advance = [&](double to) {
      while (!around.empty() && around.back().end <= to) {
        if (around.back().end > at) {
          out.push_back({at, around.back().end, around.back().kind});
          at = around.back().end;
        }
        around.pop_back();
      }
      if (!around.empty() && to > at) {
        out.push_back({at, to, around.back().kind});
      }
      at = std::max(at, to);
    };
    for (const span& s : spans) {
      advance(s.begin);
      around.push_back(s);
    }
    advance(std::numeric_limits<double>::infinity());
    return out;
  }

  void finish() {
    double first = std::numeric_limits<double>::infinity();
    for (auto& [id, raw] : lanes_) {
      if (!raw.spans.empty()) {
        timeline_.lanes.push_back({raw.name, flatten(std::move(raw.spans))});
        first = std::min(first, timeline_.lanes.back().stretches.front().begin);
      }
    }
    for (lane& l : timeline_.lanes) {
      for (stretch& s : l.stretches) {
        s.begin -= first;
        s.end -= first;
        timeline_.length = std::max(timeline_.length, s.end);
        timeline_.kinds[s.kind].total += s.end - s.begin;
        ++timeline_.kinds[s.kind].number;
      }
    }
    sort_kinds();
  }

  void sort_kinds() {
    auto& kinds = timeline_.kinds;
    std::vector<std::size_t> order(kinds.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return kinds[a].total > kinds[b].total; });
    std::vector<std::size_t> place(kinds.size());
    std::vector<event_kind> sorted;
    for (const std::size_t k : order) {
      place[k] = sorted.size();
      sorted.push_back(kinds[k]);
    }
    kinds = std::move(sorted);
    for (lane& l : timeline_.lanes) {
      for (stretch& s : l.stretches) {
        s.kind = place[s.kind];
      }
    }
  }

  timeline timeline_;
  std::map<std::pair<double, double>, raw_lane> lanes_;
  std::map<std::string, std::size_t> kind_index_;
  std::map<std::string, std::size_t> instant_index_;
};

using shares = std::array<double, kinds_with_colour + 1>;

// Share of each colour in the time of each column.
std::vector<shares> column_shares(const lane& l, double begin, double end) {
  std::vector<shares> all(columns, shares{});
  const double step = (end - begin) / static_cast<double>(columns);
  for (const stretch& s : l.stretches) {
    if (s.end <= begin || s.begin >= end || step <= 0) {
      continue;
    }
    const std::size_t colour = std::min(s.kind, kinds_with_colour);
    const double from = std::max(s.begin, begin) - begin;
    const double to = std::min(s.end, end) - begin;
    for (auto c = static_cast<std::size_t>(from / step); c < columns && static_cast<double>(c) * step < to;
         ++c) {
      const double left = static_cast<double>(c) * step;
      all[c][colour] += (std::min(to, left + step) - std::max(from, left)) / step;
    }
  }
  return all;
}

// One path a colour, a rectangle a column and colour.
std::string shares_svg(const lane& l, double begin, double end, double y) {
  const std::vector<shares> all = column_shares(l, begin, end);
  const double column_width = (width - label_width) / static_cast<double>(columns);
  std::array<std::string, kinds_with_colour + 1> paths;
  for (std::size_t c = 0; c < columns;) {
    std::size_t next = c + 1; // equal columns become one rectangle
    while (next < columns && all[next] == all[c]) {
      ++next;
    }
    double base = y + lane_height;
    for (std::size_t k = 0; k < paths.size(); ++k) {
      const double high = std::min(1.0, all[c][k]) * lane_height;
      if (high >= 0.3) {
        base -= high;
        const double w = column_width * static_cast<double>(next - c);
        paths[k] += format("M%.1f %.1fh%.2fv%.1fh-%.2fz", label_width + column_width * static_cast<double>(c),
                           base, w, high, w);
      }
    }
    c = next;
  }
  std::string svg;
  for (std::size_t k = 0; k < paths.size(); ++k) {
    if (!paths[k].empty()) {
      svg += format("<path class=\"k%zu\" d=\"", k) + paths[k] + "\"/>";
    }
  }
  return svg;
}

// A rectangle a stretch, set apart from its neighbours.
std::string stretches_svg(const timeline& t, const lane& l, double begin, double end, double y) {
  const double scale = (width - label_width) / (end - begin);
  std::string svg;
  for (const stretch& s : l.stretches) {
    if (s.end <= begin || s.begin >= end) {
      continue;
    }
    const double left = (std::max(s.begin, begin) - begin) * scale;
    const double right = (std::min(s.end, end) - begin) * scale;
    svg += format("<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.0f\" class=\"k%zu\"><title>",
                  label_width + left, y, right - left > 3 ? right - left - 0.5 : std::max(0.4, right - left),
                  lane_height, std::min(s.kind, kinds_with_colour));
    svg += escaped(t.kinds[s.kind].name) + format(", %.3f µs</title></rect>", s.end - s.begin);
  }
  return svg;
}

std::size_t stretches_between(const lane& l, double begin, double end) {
  return static_cast<std::size_t>(
      std::count_if(l.stretches.begin(), l.stretches.end(),
                    [&](const stretch& s) { return s.end > begin && s.begin < end; }));
}

std::string lane_svg(const timeline& t, const lane& l, double begin, double end, double y) {
  std::string svg = format("<rect x=\"%.0f\" y=\"%.1f\" width=\"%.0f\" height=\"%.0f\" class=\"lane\"/>",
                           label_width, y, width - label_width, lane_height);
  svg += format("<text x=\"%.0f\" y=\"%.1f\" class=\"label\">", label_width - 8, y + lane_height / 2 + 4) +
         escaped(l.name) + "</text>";
  const std::size_t inside = stretches_between(l, begin, end);
  return svg +
         (inside <= drawn_one_by_one ? stretches_svg(t, l, begin, end, y) : shares_svg(l, begin, end, y));
}

// 1, 2 or 5 times a power of ten, for five to ten ticks.
double tick_step(double length) {
  const double power = std::pow(10, std::floor(std::log10(length / 5)));
  const double factor = length / 5 / power;
  return power * (factor < 2 ? 1 : factor < 5 ? 2 : 5);
}

// Milliseconds, with as many decimals as tell two ticks apart.
std::string tick_text(double at, double step) {
  const int decimals = std::max(0, static_cast<int>(std::ceil(-std::log10(step / 1000) - 1e-9)));
  return format("%.*f ms", decimals, at / 1000);
}

} // namespace

timeline read_timeline(const json::value& trace) {
  return reader().read(trace);
}

std::string timeline_plot(const timeline& t, double begin, double end) {
  const double bottom = static_cast<double>(t.lanes.size()) * (lane_height + lane_gap);
  std::string svg =
      format("<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"Timeline of the workers\" "
             "class=\"timeline\">",
             width, bottom + 22);
  double y = 0;
  for (const lane& l : t.lanes) {
    svg += lane_svg(t, l, begin, end, y);
    y += lane_height + lane_gap;
  }
  const double step = end > begin ? tick_step(end - begin) : 1;
  for (double at = std::ceil(begin / step) * step; at < end; at += step) {
    const double x = label_width + (at - begin) / (end - begin) * (width - label_width);
    svg += format("<line x1=\"%.1f\" x2=\"%.1f\" y1=\"0\" y2=\"%.1f\" class=\"grid\"/>", x, x, bottom);
    const bool cut = x > width - 25; // its text would leave the drawing
    svg += format("<text x=\"%.1f\" y=\"%.1f\" class=\"tick\">%s</text>", cut ? width - 25 : x, bottom + 14,
                  tick_text(at, step).c_str());
  }
  return svg + "</svg>";
}

std::string timeline_legend(const timeline& t) {
  const double whole = t.length * static_cast<double>(t.lanes.size());
  std::string html = "<ul class=\"legend\">";
  event_kind rest{"other", 0, 0};
  for (std::size_t k = 0; k < t.kinds.size(); ++k) {
    const event_kind& kind = t.kinds[k];
    if (k >= kinds_with_colour) {
      rest.total += kind.total;
      rest.number += kind.number;
      continue;
    }
    html += format("<li><i class=\"k%zu\"></i>", k) + escaped(kind.name) +
            format(" <span>%.1f %% of the time, %s times</span></li>",
                   whole > 0 ? kind.total / whole * 100 : 0, with_commas(kind.number).c_str());
  }
  if (rest.number > 0) {
    html += format("<li><i class=\"k%zu\"></i>other <span>%.1f %%</span></li>", kinds_with_colour,
                   whole > 0 ? rest.total / whole * 100 : 0);
  }
  const double own = std::accumulate(t.kinds.begin(), t.kinds.end(), whole,
                                     [](double left, const event_kind& kind) { return left - kind.total; });
  html += format("<li><i class=\"own\"></i>scheduling and searching <span>%.1f %%</span></li>",
                 whole > 0 ? own / whole * 100 : 0);
  for (const event_kind& kind : t.instants) {
    html += "<li>" + escaped(kind.name) + " <span>" + with_commas(kind.number) + " times</span></li>";
  }
  return html + "</ul>";
}

std::pair<double, double> timeline_detail(const timeline& t, std::size_t events) {
  std::size_t most = 0;
  for (const lane& l : t.lanes) {
    most = std::max(most, l.stretches.size());
  }
  if (most <= events) {
    return {0, t.length};
  }
  const double part = t.length * static_cast<double>(events) / static_cast<double>(most);
  double best = (t.length - part) / 2;
  std::size_t best_score = 0;
  for (int i = 0; i < detail_candidates; ++i) {
    const double begin = (t.length - part) * i / (detail_candidates - 1);
    std::size_t score = drawn_one_by_one;
    for (const lane& l : t.lanes) {
      score = std::min(score, stretches_between(l, begin, begin + part));
    }
    if (score > best_score) {
      best = begin;
      best_score = score;
    }
  }
  return {best, best + part};
}

} // namespace weft::uts
