// Reports of `check` as an HTML page: a table, and details of each cell.

#include "../messages.hpp"
#include "../xml.hpp"
#include "check_report.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

constexpr const char* style = R"(
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; margin: 1rem 0; }
th, td { text-align: left; padding: .25rem .6rem; border-bottom: 1px solid #8884; vertical-align: top; }
code, pre { font: 13px/1.45 ui-monospace, monospace; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: #8881; padding: .6rem; border-radius: .3rem; }
a.mark { padding: .05rem .45rem; border-radius: .3rem; text-decoration: none; color: inherit; }
.ok, .error { background: #2a92; } .bad { background: #d337; font-weight: bold; } .skipped { background: #8883; }
.known, .flaky { background: #ca05; }
pre:target { outline: 2px solid #48f8; }
)";

std::string class_of(const CheckResults& results, const Cell& cell) {
  if (results.fails(cell)) return "bad";
  if (cell.flaky) return "flaky";
  if (cell.accepted) return "known";
  return to_string(cell.mark);
}

std::string anchor(std::size_t number) { return "c" + std::to_string(number); }

std::string mark_link(const CheckResults& results, const Cell& cell, std::size_t number) {
  return "<a class=\"mark " + class_of(results, cell) + "\" href=\"#" + anchor(number) + "\">" + shown(cell) + "</a>";
}

std::string element(const char* name, const std::string& text) {
  return std::string("<") + name + ">" + escaped_lines(text) + "</" + name + ">";
}

std::string bad_cells(const CheckResults& results) {
  std::string html;
  std::size_t number = 0;
  for (const Cell& cell : results.run.cells()) {
    ++number;
    if (results.fails(cell))
      html += "<li>" + mark_link(results, cell, number) + " " + escaped_lines(cell.id()) + "</li>\n";
  }
  return html.empty() ? "" : "<ul>\n" + html + "</ul>\n";
}

std::string details_of(const CheckResults& results, const Cell& cell, std::size_t number) {
  std::string html = std::string("<details") + (results.fails(cell) ? " open" : "") + "><summary>" +
                     escaped_lines(cell.id()) + " <span class=\"" + class_of(results, cell) + "\">" + shown(cell) +
                     "</span></summary>\n";
  html += "<pre id=\"" + anchor(number) + "\">" + escaped_lines(results.story(cell)) +
          "</pre>";  // a link opens its <details>
  for (const auto& [title, text] : {std::pair<const char*, const std::string&>{"stdout", cell.result.output},
                                    std::pair<const char*, const std::string&>{"stderr", cell.result.errors}})
    if (!text.empty()) html += "<p>its " + std::string(title) + "</p>" + element("pre", printable(text));
  return html + "</details>\n";
}

}  // namespace

std::string check_report_html(const CheckResults& results) {
  const CheckRun& run = results.run;
  std::string client = results.client();
  if (client.empty()) client = results.command.front();
  std::string html =
      "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n" +
      element("title", "check: " + client) + "<style>" + style + "</style></head>\n<body>\n" + element("h1", client) +
      "\n" + element("p", results.conclusion()) + element("p", results.summary()) + "\n";
  html += bad_cells(results);
  for (const std::string& remark : run.remarks()) html += element("p", remark) + "\n";
  for (const std::string& line : results.stale) html += element("p", "no longer true: " + line) + "\n";
  std::string group;
  std::string details;
  std::size_t number = 0;
  for (const Row& row : rows_of(run)) {
    const Cell& first = *row.front();
    if (group != first.group) {
      if (!group.empty()) html += "</table>\n";
      group = first.group;
      html += element("h2", group) + "<table><tr><th>scenario</th><th>expected</th>";
      for (const Form form : run.forms()) html += element("th", to_string(form));
      html += "<th>findings</th><th>beyond the documented surface</th></tr>\n";
    }
    html += "<tr><td title=\"" + escaped_for_xml(first.scenario->description()) + "\">" + escaped_lines(first.name) +
            "</td>" + element("td", to_string(first.scenario->expected()));
    std::vector<Finding> findings;
    std::vector<Finding> beyond;
    auto next = row.begin();
    for (const Form form : run.forms()) {
      if (next == row.end() || (*next)->form != form) {
        html += next == row.end() ? "<td></td>" : "<td>–</td>";
        continue;
      }
      const Cell& cell = **next++;
      html += "<td>" + mark_link(results, cell, ++number) + "</td>";
      findings.insert(findings.end(), cell.findings.begin(), cell.findings.end());
      beyond.insert(beyond.end(), cell.beyond.begin(), cell.beyond.end());
      details += details_of(results, cell, number);
    }
    html += element("td", codes_of(findings)) + element("td", codes_of(beyond)) + "</tr>\n";
  }
  if (!group.empty()) html += "</table>\n";
  return html + "<h2>What happened</h2>\n" + details + "</body>\n</html>\n";
}

}  // namespace endpoint
}  // namespace mock_gateway
