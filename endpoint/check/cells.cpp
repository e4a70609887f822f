// Marks and faults of cells; reading, comparing and writing baselines.

#include "cells.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "../messages.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

bool begins_with(const std::string& text, const std::string& beginning) {
  return text.compare(0, beginning.size(), beginning) == 0;
}

const std::string heading =
    "# Known failures for `mock-gateway check --baseline`. A line that no longer applies fails.\n";

/// Whether a line has the form of a fault and names a known scenario. Accepts any line about a sweep.
bool may_be_a_fault(const std::string& line, const std::set<std::string>& names) {
  static const std::regex fault("(\\S+) (plain|streamed) (error|loss|wrong|hang|crash|finding \\S+)");
  std::smatch parts;
  if (begins_with(line, "sweep: ") || begins_with(line, "splits: ")) return true;
  return std::regex_match(line, parts, fault) && names.count(parts[1]) > 0;
}

}  // namespace

const char* to_string(Mark mark) {
  switch (mark) {
    case Mark::ok: return "ok";
    case Mark::error: return "error";
    case Mark::loss: return "loss";
    case Mark::wrong: return "wrong";
    case Mark::hang: return "hang";
    case Mark::crash: return "crash";
    case Mark::skipped: return "skipped";
  }
  return "";
}

std::string shown(const Cell& cell) {
  if (cell.mark == Mark::skipped) return "?";
  std::string text = to_string(cell.mark);
  if (cell.mark == Mark::ok || (cell.mark == Mark::error && cell.good)) return text;
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char letter) { return static_cast<char>(letter - 'a' + 'A'); });
  return text;
}

std::vector<std::string> faults_of(const Cell& cell, const CheckFlags& flags) {
  std::vector<std::string> faults;
  if (cell.mark == Mark::skipped) return faults;
  if (!cell.good) faults.push_back(cell.id() + " " + to_string(cell.mark));
  for (const Finding& finding : cell.findings) {
    const bool counts = finding.severity == Severity::error || (flags.fail_on == "warning" && finding.fails_review);
    const std::string line = cell.id() + " finding " + finding.code;
    if (counts && std::find(faults.begin(), faults.end(), line) == faults.end()) faults.push_back(line);
  }
  return faults;
}

Baseline::Baseline(const std::string& file) {
  std::ifstream in(file);
  if (!std::filesystem::is_regular_file(file) || !in)
    throw BadValue("--baseline: cannot read " + file + "; --write-baseline writes it");
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string even;  // the line with single spaces
    for (std::string word; words >> word;) even += (even.empty() ? "" : " ") + word;
    if (even.empty()) continue;
    if (even.front() != '#')
      lines_.insert(even);
    else if (even + "\n" != heading)
      comments_ += line + "\n";
  }
}

std::vector<std::string> Baseline::unlisted(const Cell& cell, const CheckFlags& flags) const {
  std::vector<std::string> faults = faults_of(cell, flags);
  faults.erase(std::remove_if(faults.begin(), faults.end(),
                              [this](const std::string& fault) { return lines_.count(fault) > 0; }),
               faults.end());
  return faults;
}

std::vector<std::string> Baseline::stale(const std::vector<const Cell*>& cells, const CheckFlags& flags,
                                         const std::set<std::string>* names) const {
  std::set<std::string> stale;
  for (const std::string& line : lines_)
    if (names && !may_be_a_fault(line, *names)) stale.insert(line);
  for (const Cell* const cell : cells) {
    const std::vector<std::string> faults = faults_of(*cell, flags);
    for (const std::string& line : lines_about(*cell))
      if (std::find(faults.begin(), faults.end(), line) == faults.end()) stale.insert(line);
  }
  return {stale.begin(), stale.end()};
}

std::vector<std::string> Baseline::lines_about(const Cell& cell) const {
  std::vector<std::string> lines;
  if (cell.mark == Mark::skipped) return lines;
  const std::string beginning = cell.id() + " ";
  std::copy_if(lines_.begin(), lines_.end(), std::back_inserter(lines),
               [&beginning](const std::string& line) { return begins_with(line, beginning); });
  return lines;
}

std::string Baseline::renewed(const std::vector<const Cell*>& cells, const CheckFlags& flags) const {
  std::set<std::string> lines = lines_;
  for (const Cell* const cell : cells)
    for (const std::string& line : lines_about(*cell)) lines.erase(line);
  for (const Cell* const cell : cells)
    for (const std::string& fault : faults_of(*cell, flags)) lines.insert(fault);
  std::string text = heading + comments_;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

}  // namespace endpoint
}  // namespace mock_gateway
