#pragma once

#include <atomic>
#include <string>

#include "roundhouse/roundhouse_c_api.h"

/// Takes messages at or above its level; to the caller's function where there is one, else to stderr. Thread-safe.
struct OrtLogger {
  OrtLogger() = default;
  OrtLogger(const OrtLogger& other) : id(other.id), level(other.level.load()), function(other.function), parameter(other.parameter) {}
  OrtLogger& operator=(const OrtLogger&) = delete;

  bool enabled(OrtLoggingLevel severity) const { return severity >= level.load(std::memory_order_relaxed); }
  /// `location`: "file:line function", or empty.
  void log(OrtLoggingLevel severity, const char* category, const char* location, const char* message) const {
    if (enabled(severity)) write(severity, category, location, message);
  }
  /// The same whatever the level.
  void write(OrtLoggingLevel severity, const char* category, const char* location, const char* message) const;

  /// Takes what would go to stderr, unless it answers 0; null: nobody does.
  static std::atomic<RhLogFunction> instead_of_stderr;

  std::string id;
  std::atomic<OrtLoggingLevel> level{ORT_LOGGING_LEVEL_WARNING};
  OrtLoggingFunction function = nullptr;
  void* parameter = nullptr;
};
