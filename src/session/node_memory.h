#pragma once

#include <map>
#include <mutex>
#include <string>

#include "session/observer.h"

namespace rh {

/// What each node takes of memory, the most of all runs, as a table in a file ("session.collect_node_memory_stats_to_file"): bytes of
/// inputs that are made in a run, of weights, of outputs, and of working memory. Thread-safe.
class NodeMemory {
 public:
  explicit NodeMemory(std::string path) : path_(std::move(path)) {}

  void add(const StepEvent& event);
  /// Throws Error where the file cannot be written.
  void write() const;

 private:
  struct Row {
    size_t inputs = 0, weights = 0, outputs = 0, scratch = 0;
  };

  const std::string path_;
  mutable std::mutex mutex_;
  std::map<std::string, Row> rows_;
};

/// Watches a run for the table, and tells another observer as well, who may be null.
class NodeMemoryObserver final : public RunObserver {
 public:
  NodeMemoryObserver(NodeMemory& table, RunObserver* next) : table_(table), next_(next) {}
  void after_step(const StepEvent& event) override {
    table_.add(event);
    if (next_) next_->after_step(event);
  }

 private:
  NodeMemory& table_;
  RunObserver* next_;
};

}  // namespace rh
