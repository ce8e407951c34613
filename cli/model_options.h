#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

#include "array_io.h"

namespace rh::cli {

/// The options that every subcommand which makes a session shares, and what they ask for.
struct ModelOptions {
  std::string model;
  int threads = 0;
  int optimization = 99;
  std::vector<std::string> config;  ///< key=value
  std::vector<std::string> inputs;  ///< file, or name=file
  std::vector<std::string> dims;    ///< symbol=size
  unsigned seed = 0;

  void declare(CLI::App& app);
  Ort::Env& environment() const;
  Ort::Session session() const;
  /// Values of the inputs that files give.
  std::vector<NamedValue> given(const Ort::Session& session) const;
  /// A value for every input but the optional ones that no file gives: from the files (by name, by their own names, or by position), else
  /// generated from the declared type.
  std::vector<NamedValue> values(const Ort::Session& session) const;
};

}  // namespace rh::cli
