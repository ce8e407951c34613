#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "command.h"

namespace rh::cli {

enum class Style { plain, bold, dim, good, bad, warn };

/// The text in a style, where standard output takes colour: a terminal without NO_COLOR, or --color always.
std::string styled(const Globals& globals, Style style, const std::string& text);

/// Rows of text under headings, each column as wide as its widest cell. Columns of numbers are set flush right. Where the terminal is too
/// narrow, the cells of the widest elastic columns are cut in the middle.
class Table {
 public:
  struct Column {
    std::string title;
    bool right = false;
    bool elastic = false;
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add(std::vector<std::string> cells, Style style = Style::plain) { rows_.push_back({std::move(cells), style}); }
  void print(const Globals& globals) const;

 private:
  struct Row {
    std::vector<std::string> cells;
    Style style;
  };
  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

/// A bar on standard error for work that takes longer than a second, where that is a terminal; gone when the work ends.
class Progress {
 public:
  explicit Progress(std::string label);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// `done` of 1.
  void update(double done);

 private:
  std::string label_;
  bool on_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now(), drawn_ = begin_;
};

/// "3.21", "0.0123", "12345".
std::string number_text(double value, int digits = 4);

}  // namespace rh::cli
