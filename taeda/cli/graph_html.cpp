// SPDX-License-Identifier: Apache-2.0
#include "taeda/cli/graph_html.h"

#include <string_view>

namespace taeda::cli {

namespace {

constexpr std::string_view kHead = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Graph</title><style>
body { font: 14px/1.4 system-ui, sans-serif; margin: 1.5rem; color: #1a1a1a; background: #fff; }
h1 { font-size: 1.1rem; margin: 0 0 .5rem; } h2 { font-size: 1rem; margin: 1.5rem 0 .3rem; }
.graphs { display: grid; grid-template-columns: 1fr 1fr; gap: 1.5rem; }
pre { font: 12px/1.5 ui-monospace, monospace; overflow-x: auto; background: #f6f7f8; padding: .7rem; border-radius: 6px; margin: 0; }
pre a { color: inherit; text-decoration: none; } pre a.def { font-weight: 600; }
pre a:target { outline: 2px solid #d97706; } pre a.on { background: #fde68a; }
.in { color: #0f766e; } .op { color: #1d4ed8; } summary { cursor: pointer; }
@media (max-width: 900px) { .graphs { grid-template-columns: 1fr; } }
@media (prefers-color-scheme: dark) {
  body { color: #e5e5e5; background: #161616; } pre { background: #222; } pre a.on { background: #854d0e; } .in { color: #5eead4; } .op { color: #93c5fd; } }
</style></head><body>
)";

constexpr std::string_view kTail = R"(<script>
let on = [];
document.addEventListener('mouseover', e => {
  for (const a of on) a.classList.remove('on');
  const a = e.target.closest('pre a');
  on = a ? [...document.querySelectorAll(`a[data-v="${a.dataset.v}"]`)] : [];
  for (const b of on) b.classList.add('on');
});
</script></body></html>
)";

void escape(std::string& out, std::string_view text) {
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// One line of a graph's text. `side` keeps the values of the two graphs apart.
void show_line(std::string& out, std::string_view line, const char* side) {
  const size_t operation = line.find(" = ");
  bool in_quotes = false;
  for (size_t i = 0; i < line.size();) {
    if (line[i] == '"' && (i == 0 || line[i - 1] != '\\')) in_quotes = !in_quotes;
    size_t end = i + 1;
    if (in_quotes || line[i] != '%') {
      const bool first = i == 0 || (operation != line.npos && i == operation + 3);
      while (first && end < line.size() && line[end] != ' ' && line[end] != '(' && line[end] != '%') ++end;
      if (first) out += i == 0 ? "<span class=in>" : "<span class=op>";
      escape(out, line.substr(i, end - i));
      if (first) out += "</span>";
      i = end;
      continue;
    }
    while (end < line.size() && is_digit(line[end])) ++end;
    const std::string value = side + std::string(line.substr(i + 1, end - i - 1));
    // A colon stands behind a value where it is made.
    const bool made = end < line.size() && line[end] == ':';
    out += made ? "<a class=def id=" + value : "<a href=#" + value;
    out += " data-v=" + value + ">";
    escape(out, line.substr(i, end - i));
    out += "</a>";
    i = end;
  }
  out += '\n';
}

void show_graph(std::string& out, const char* title, const graph::Graph& graph, const char* side) {
  out += str("<section><h1>", title, ": ", graph.nodes.size(), " nodes</h1><pre>");
  const std::string text = graph.text();
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    show_line(out, std::string_view(text).substr(at, end - at), side);
    at = end + 1;
  }
  out += "</pre></section>\n";
}

}  // namespace

std::string graph_html(const graph::Graph& before, const std::vector<graph::PassRun>& runs, const graph::Graph& after) {
  std::string out(kHead);
  out += "<div class=graphs>\n";
  show_graph(out, "Before", before, "b");
  show_graph(out, "After", after, "a");
  out += "</div>\n<h2>Passes</h2>\n";
  for (const graph::PassRun& run : runs) {
    out += str("<details><summary>", run.pass, ": ", run.changes, " changes, ", run.nodes, " nodes left</summary><pre>");
    for (const std::string& line : run.notes) escape(out, line + '\n');
    out += "</pre></details>\n";
  }
  out += kTail;
  return out;
}

}  // namespace taeda::cli
