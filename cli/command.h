#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

namespace rh::cli {

/// What every subcommand gets: whether to print JSON instead of text.
struct Globals {
  bool json = false;
};

/// A subcommand's options are added to the app when it is declared; the function runs once they are parsed.
using Command = std::function<void()>;

#define RH_COMMAND(name, help) Command declare_##name(CLI::App& app, const Globals& globals);
#include "command_list.inc"
#undef RH_COMMAND

}  // namespace rh::cli
