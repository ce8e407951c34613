#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

#include "array_io.h"
#include "image.h"

namespace rh::cli {

/// "name=value" as two; throws std::runtime_error naming the option `what`.
std::pair<std::string, std::string> split_entry(const std::string& text, const char* what);

/// The process's environment.
Ort::Env& environment();

/// Registers a library of providers, once a process; gives their names.
std::vector<std::string> register_plugin(const std::string& file);

/// How a session is made.
struct SessionSettings {
  int threads = 0;
  int optimization = 99;
  std::string precision;               ///< empty: the default
  std::vector<std::string> providers;  ///< in order of preference; none: the CPU
  std::vector<std::string> config;     ///< key=value
  std::vector<std::string> plugins;    ///< libraries of providers; theirs are asked for where `providers` is empty

  Ort::Session open(const std::string& model) const;
  Ort::SessionOptions options() const;
  /// "-O 0, precision strict": what differs from the defaults.
  std::string text() const;
};

/// The options that every subcommand which makes a session shares, and what they ask for.
struct ModelOptions {
  std::string model;
  SessionSettings settings;
  std::vector<std::string> inputs;  ///< file, or name=file
  std::vector<std::string> dims;    ///< symbol=size
  ImageOptions image;
  unsigned seed = 0;

  void declare(CLI::App& app);
  Ort::Session session() const { return settings.open(model); }
  /// Values of the inputs that files give.
  std::vector<NamedValue> given(const Ort::Session& session) const;
  /// A value for every input but the optional ones that no file gives: from the files (by name, by their own names, or by position), else
  /// generated from the declared type.
  std::vector<NamedValue> values(const Ort::Session& session) const;
};

}  // namespace rh::cli
