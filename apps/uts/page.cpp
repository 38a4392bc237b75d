// SPDX-License-Identifier: MIT
// The page: verdict and headline figures first, then a section a tree, the blocked threads, the
// timeline, the machine.

#include <algorithm>

#include "apps/uts/format.hpp"
#include "apps/uts/page_style.hpp"
#include "apps/uts/plot.hpp"
#include "apps/uts/results.hpp"
#include "apps/uts/timeline.hpp"

namespace weft::uts {
namespace {

constexpr std::size_t detail_events = 60;

std::string colour(const adapter& a) {
  static constexpr std::pair<std::string_view, const char*> known[] = {
      {"serial", "f0"}, {"openmp", "f1"}, {"onetbb", "f2"}, {"weft", "f3"}};
  for (const auto& [name, css_class] : known) {
    if (name == a.name) {
      return css_class;
    }
  }
  return "f4";
}

const measurement* find(const results& r, std::string_view tree, std::string_view runtime, int workers) {
  for (const measurement& m : r.measurements) {
    if (m.input->name() == tree && m.runtime->name == runtime && m.workers == workers) {
      return &m;
    }
  }
  return nullptr;
}

std::string tile(const std::string& figure, const std::string& text, bool bad = false) {
  return std::string("<div class=\"tile\"><b") + (bad ? " class=\"bad\"" : "") + ">" + escaped(figure) +
         "</b><span>" + escaped(text) + "</span></div>";
}

// "1.4 × OpenMP tasks, 0.9 × oneTBB", of the runs with as many workers.
std::string against_peers(const results& r, const measurement& mine) {
  std::string text;
  for (const measurement& m : r.measurements) {
    if (m.input == mine.input && m.workers == mine.workers && m.runtime != mine.runtime &&
        m.runtime->parallel && m.ok() && m.nodes_per_second() > 0) {
      text += (text.empty() ? "" : ", ") + format("%.2f × %s", mine.nodes_per_second() / m.nodes_per_second(),
                                                  m.runtime->short_title().c_str());
    }
  }
  return text;
}

std::string tiles(const results& r) {
  std::string html = "<div class=\"tiles\">";
  int most = 1;
  for (const measurement& m : r.measurements) {
    most = std::max(most, m.workers);
  }
  for (const tree& t : published_trees()) {
    const measurement* m = find(r, t.name(), "weft", most);
    if (m == nullptr) {
      continue;
    }
    const std::string peers = against_peers(r, *m);
    html +=
        tile(m->ok() ? rate_text(m->nodes_per_second()) + " nodes/s" : "failed",
             std::string(t.name()) + " on Weft, " + workers_text(most) + (peers.empty() ? "" : "; " + peers),
             !m->ok());
  }
  if (r.blocked) {
    const blocked_measurement& b = *r.blocked;
    html += tile(format("%.0f + %.0f bytes", b.resident_per_thread(), b.tables_per_thread()),
                 with_commas(b.result.arrived) + " threads blocked at once, each: resident + page tables",
                 !b.failure.empty());
  }
  return html + "</div>";
}

std::string head(const results& r) {
  const int failed = r.failed_checks();
  std::string html = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                     "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
                     "<title>Weft demo</title><style>";
  html += page_style;
  html += "</style></head><body><main><h1>Unbalanced trees, one thread a node</h1>";
  html += "<p class=\"soft\">The published trees of the UTS benchmark, counted by each runtime with one task "
          "a node. Every "
          "count is compared with the published numbers of nodes, depth and leaves. " +
          escaped(r.machine.date) + (r.quick ? ", quick run" : ", full run") + ", took " +
          escaped(seconds_text(r.seconds)) + ".</p>";
  if (failed > 0) {
    html += format("<div class=\"verdict bad\">%d of %d checks failed</div>", failed, r.checks());
  } else {
    html += format("<div class=\"verdict good\">All %d checks passed</div>", r.checks());
  }
  if (!r.weft_built) {
    html += "<p class=\"bad\">Weft itself is not built in: this is a run of the others only.</p>";
  }
  for (const std::string& note : r.notes) {
    html += "<p class=\"soft\">" + escaped(note) + ".</p>";
  }
  return html + tiles(r);
}

std::string row_label(const measurement& m) {
  const std::string title = m.runtime->short_title();
  return m.runtime->parallel ? title + ", " + workers_text(m.workers) : title;
}

std::string tree_plots(const std::vector<const measurement*>& rows) {
  std::vector<bar> rates;
  std::vector<bar> peaks;
  for (const measurement* m : rows) {
    const std::string css_class =
        colour(*m->runtime) + (m->workers == 1 && m->runtime->parallel ? " one" : "");
    const std::string rate = m->ok() ? rate_text(m->nodes_per_second()) : "failed";
    const std::string peak = m->peak_bytes > 0 ? bytes_text(static_cast<double>(m->peak_bytes)) : "failed";
    rates.push_back({row_label(*m), m->ok() ? m->nodes_per_second() : 0, rate, css_class, !m->ok()});
    peaks.push_back({row_label(*m), static_cast<double>(m->peak_bytes), peak, css_class, !m->ok()});
  }
  return "<div class=\"plots\"><div class=\"card\">" + bar_plot("Nodes per second", rates) +
         "</div><div class=\"card\">" +
         dot_plot("Peak resident memory of the process (log scale)", peaks, bytes_text) + "</div></div>";
}

std::string checked(std::uint64_t found, std::uint64_t published) {
  return found == published ? "<td>" + with_commas(found) + " <span class=\"good\">✓</span></td>"
                            : "<td class=\"bad\">" + with_commas(found) + " ✗</td>";
}

std::string spread(const measurement& m) {
  if (m.seconds.size() < 2) {
    return "–";
  }
  const auto [least, most] = std::minmax_element(m.seconds.begin(), m.seconds.end());
  return format("%.3g – %.3g s", *least, *most);
}

std::string table_row(const measurement& m, const measurement* serial) {
  std::string html =
      format("<tr class=\"%s%s\"><td><i class=\"dot %s\"></i>", m.runtime->name == "weft" ? "weft" : "",
             m.ok() ? "" : " bad", colour(*m.runtime).c_str()) +
      escaped(m.runtime->title) + format("</td><td>%d</td>", m.workers);
  if (m.seconds.empty()) {
    return html + "<td colspan=\"9\" class=\"reason\">failed: " + escaped(m.failure) + "</td></tr>";
  }
  const double rate = m.nodes_per_second();
  const bool has_ratio = serial != nullptr && serial->nodes_per_second() > 0;
  html += "<td>" + rate_text(rate) + "</td><td>" + seconds_text(m.median_seconds()) + "</td><td>" +
          spread(m) + "</td>";
  html += format("<td>%.0f ns</td>", rate > 0 ? 1e9 * m.workers / rate : 0);
  html += has_ratio ? format("<td>%.2f ×</td>", rate / serial->nodes_per_second()) : "<td>–</td>";
  html += "<td>" + bytes_text(static_cast<double>(m.peak_bytes)) + "</td>";
  const counts& right = m.input->published();
  html += checked(m.found.nodes, right.nodes) + checked(m.found.max_depth, right.max_depth) +
          checked(m.found.leaves, right.leaves) + "</tr>";
  if (!m.ok()) {
    html += "<tr class=\"bad\"><td colspan=\"11\" class=\"reason\">" + escaped(m.failure) + "</td></tr>";
  }
  return html;
}

std::string tree_section(const results& r, const tree& t) {
  std::vector<const measurement*> rows;
  for (const measurement& m : r.measurements) {
    if (m.input == &t) {
      rows.push_back(&m);
    }
  }
  if (rows.empty()) {
    return {};
  }
  std::string html = "<h2>" + escaped(t.name()) + "<code>" + escaped(t.parameters()) +
                     "</code></h2><p class=\"soft\">" + with_commas(t.published().nodes) + " nodes, depth " +
                     with_commas(t.published().max_depth) + ", " + with_commas(t.published().leaves) +
                     " leaves.</p>" + tree_plots(rows);
  html +=
      "<div class=\"card\"><table><tr><th>runtime</th><th>workers</th><th>nodes/s</th><th>time, median</th>"
      "<th>least – most</th><th>worker time a node</th><th>vs serial</th><th>peak "
      "memory</th><th>nodes</th><th>depth</th>"
      "<th>leaves</th></tr>";
  for (const measurement* m : rows) {
    html += table_row(*m, find(r, t.name(), "serial", 1));
  }
  return html + "</table></div>";
}

std::string fact(const char* name, const std::string& text) {
  return std::string("<tr><td>") + name + "</td><td>" + escaped(text) + "</td></tr>";
}

std::string blocked_section(const blocked_measurement& b) {
  const blocked_result& r = b.result;
  const auto size = [](std::size_t bytes) { return bytes_text(static_cast<double>(bytes)); };
  std::string html = "<h2>" + with_commas(b.wanted) + " threads blocked at once</h2>";
  html += "<p class=\"soft\">Each thread has a stack of " + size(b.stack_bytes) +
          " of its own and waits on one latch; when all of them wait, the memory of the process is read, the "
          "latch is "
          "opened, and all are joined. The figures are differences to the process before the first thread, "
          "with the "
          "handles that join them.</p>";
  if (!b.failure.empty()) {
    html += "<div class=\"verdict bad\">" + escaped(b.failure) + "</div>";
  }
  html += "<div class=\"card\"><table class=\"facts\">";
  html += fact("blocked at once", with_commas(r.arrived) + " of " + with_commas(b.wanted));
  html += fact("woken and joined", with_commas(r.woken));
  html += fact("resident", format("%.0f bytes a thread", b.resident_per_thread()) + " (" +
                               size(r.resident_before) + " before, " + size(r.resident_blocked) +
                               " blocked, " + size(r.resident_after) + " after)");
  html += fact("page tables", format("%.0f bytes a thread", b.tables_per_thread()) + " (" +
                                  size(r.tables_before) + " before, " + size(r.tables_blocked) +
                                  " blocked, " + size(r.tables_after) + " after)");
  html += fact("time to create and block all", seconds_text(r.seconds_to_block));
  html += fact("time to wake and join all", seconds_text(r.seconds_to_wake));
  html += fact("workers", std::to_string(b.workers));
  return html + "</table></div>";
}

std::string timeline_section(const timeline_measurement& m) {
  std::string html = "<h2>What the workers did<code>" + escaped(m.input->parameters()) + "</code></h2>";
  if (!m.failure.empty()) {
    return html + "<div class=\"verdict bad\">" + escaped(m.failure) + "</div>";
  }
  const timeline t = read_timeline(m.trace);
  html += "<p class=\"soft\">A small tree (" + with_commas(m.input->published().nodes) + " nodes) on " +
          workers_text(m.workers) +
          ", recorded by Weft's trace; a column shows the share of each activity in its time. "
          "The same file, weft-trace.json, opens in Perfetto and chrome://tracing.</p>";
  if (t.lanes.empty()) {
    return html + "<p class=\"bad\">The trace holds no event with a duration.</p>";
  }
  html += "<div class=\"card\">" + timeline_plot(t, 0, t.length);
  const auto [begin, end] = timeline_detail(t, detail_events);
  if (end - begin < t.length) {
    html += "<figcaption style=\"margin-top:18px\">" + escaped(seconds_text((end - begin) / 1e6)) +
            " of it, event by event</figcaption>" + timeline_plot(t, begin, end);
  }
  return html + timeline_legend(t) + "</div>";
}

std::string machine_section(const results& r) {
  const machine_facts& m = r.machine;
  std::string html = "<h2>Machine and build</h2><div class=\"card\"><table class=\"facts\">";
  html += fact("processor", m.processor + ", " + std::to_string(m.processors) + " usable; " +
                                workers_text(m.workers) + " by default");
  html += fact("memory", bytes_text(static_cast<double>(m.memory)));
  html += fact("system", m.system + ", " + m.kernel);
  html += fact("compiler", m.compiler + " " + m.build_flags);
  html += fact("commit", m.commit);
  html += fact("SHA-1", m.sha1 + ", one compression a node, the same code under every runtime");
  for (const adapter& a : adapters()) {
    html += "<tr><td>" + escaped(a.title) + "</td><td>" + escaped(a.how) + "</td></tr>";
  }
  html += "</table></div><p class=\"soft\">Each run is a process of its own; peak memory is that process's "
          "high-water mark "
          "of resident memory. Times are wall-clock, without starting the process; with several repetitions "
          "the median "
          "counts. The same figures in machine-readable form: weft-demo.json.</p>";
  return html;
}

} // namespace

std::string to_html(const results& r) {
  std::string html = head(r);
  for (const tree& t : published_trees()) {
    html += tree_section(r, t);
  }
  if (r.blocked) {
    html += blocked_section(*r.blocked);
  }
  if (r.timeline) {
    html += timeline_section(*r.timeline);
  }
  return html + machine_section(r) + "</main></body></html>\n";
}

} // namespace weft::uts
