#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

namespace rh::cli {

/// What every subcommand gets: how to print.
struct Globals {
  bool json = false;
  std::string color = "auto";  ///< auto, always, never
};

/// A subcommand's options are added to the app when it is declared; the function runs once they are parsed.
/// Returns the exit code.
using Command = std::function<int()>;

/// The exit code of a comparison or check that went well and found something.
inline constexpr int kDiffers = 3;

#define RH_COMMAND(name, help) Command declare_##name(CLI::App& app, const Globals& globals);
#include "command_list.inc"
#undef RH_COMMAND

}  // namespace rh::cli
