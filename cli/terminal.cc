#include "terminal.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "system.h"

namespace rh::cli {

namespace {

bool has_colour(const Globals& globals) {
  if (globals.color != "auto") return globals.color == "always";
  const char* none = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return is_terminal(stdout) && !(none && *none) && !(terminal && std::string(terminal) == "dumb");
}

// Characters of UTF-8 text.
size_t length(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

// The first or last `count` characters of UTF-8 text.
std::string head(const std::string& text, size_t count) {
  size_t at = 0;
  for (size_t seen = 0; at < text.size(); ++at) {
    if ((text[at] & 0xc0) != 0x80 && seen++ == count) break;
  }
  return text.substr(0, at);
}
std::string tail(const std::string& text, size_t count) { return text.substr(head(text, length(text) - count).size()); }

std::string cut(const std::string& text, size_t width) {
  if (length(text) <= width || width < 3) return text;
  const size_t right = (width - 1) / 2;
  return head(text, width - 1 - right) + "…" + tail(text, right);
}

std::string padded(const std::string& text, size_t width, bool right) {
  const std::string fill(width > length(text) ? width - length(text) : 0, ' ');
  return right ? fill + text : text + fill;
}

constexpr size_t kNarrowest = 12;

}  // namespace

std::string styled(const Globals& globals, Style style, const std::string& text) {
  if (style == Style::plain || !has_colour(globals)) return text;
  const char* code = style == Style::bold   ? "1"
                     : style == Style::dim  ? "2"
                     : style == Style::good ? "32"
                     : style == Style::bad  ? "31"
                                            : "33";
  return std::string("\x1b[") + code + "m" + text + "\x1b[0m";
}

void Table::print(const Globals& globals) const {
  std::vector<size_t> widths;
  for (size_t c = 0; c < columns_.size(); ++c) {
    size_t width = length(columns_[c].title);
    for (const Row& row : rows_) width = std::max(width, length(row.cells[c]));
    widths.push_back(width);
  }
  size_t total = 2 * (columns_.size() - 1);
  for (size_t width : widths) total += width;
  const size_t limit = terminal_columns();
  while (limit && total > limit) {
    size_t widest = columns_.size();
    for (size_t c = 0; c < columns_.size(); ++c) {
      if (columns_[c].elastic && widths[c] > kNarrowest && (widest == columns_.size() || widths[c] > widths[widest])) widest = c;
    }
    if (widest == columns_.size()) break;
    --widths[widest];
    --total;
  }
  const auto line = [&](auto&& cell) {
    std::string text;
    for (size_t c = 0; c < columns_.size(); ++c) text += (c ? "  " : "") + padded(cut(cell(c), widths[c]), widths[c], columns_[c].right);
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  };
  std::printf("%s\n", styled(globals, Style::bold, line([&](size_t c) { return columns_[c].title; })).c_str());
  for (const Row& row : rows_) std::printf("%s\n", styled(globals, row.style, line([&](size_t c) { return row.cells[c]; })).c_str());
}

Progress::Progress(std::string label) : label_(std::move(label)), on_(is_terminal(stderr)) {}

Progress::~Progress() {
  if (shown_) std::fprintf(stderr, "\r\x1b[K");
}

void Progress::update(double done) {
  if (!on_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - begin_ < std::chrono::seconds(1) || (shown_ && now - drawn_ < std::chrono::milliseconds(100))) return;
  drawn_ = now;
  shown_ = true;
  constexpr int kWidth = 30;
  const int filled = static_cast<int>(std::clamp(done, 0.0, 1.0) * kWidth);
  std::string bar;
  for (int i = 0; i < kWidth; ++i) bar += i < filled ? "█" : "░";
  std::fprintf(stderr, "\r\x1b[K%s %s %3d %%", label_.c_str(), bar.c_str(), static_cast<int>(std::clamp(done, 0.0, 1.0) * 100));
  std::fflush(stderr);
}

std::string number_text(double value, int digits) {
  char text[40];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return text;
}

}  // namespace rh::cli
