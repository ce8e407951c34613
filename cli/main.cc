#include <roundhouse/onnxruntime_cxx_api.h>
#include <roundhouse/roundhouse_c_api.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <vector>

#include "command.h"

namespace {

// Errors go to stderr, as {"error": text} where JSON was asked for.
int report(const rh::cli::Globals& globals, const std::string& text, int code) {
  if (globals.json) {
    const nlohmann::json error{{"error", text}};
    std::fprintf(stderr, "%s\n", error.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  } else {
    std::fprintf(stderr, "roundhouse: %s\n", text.c_str());
  }
  return code;
}

// What is wrong with the arguments, and where help is.
std::string usage_error(const CLI::App& app, const std::vector<std::string>& arguments, const CLI::ParseError& error) {
  const auto word = std::find_if(arguments.begin(), arguments.end(), [](const std::string& a) { return !a.starts_with("-"); });
  std::string names;
  for (const CLI::App* sub : app.get_subcommands({})) {
    if (word != arguments.end() && *word == sub->get_name()) return std::string(error.what()) + "; see roundhouse " + *word + " --help";
    names += (names.empty() ? "" : ", ") + sub->get_name();
  }
  if (word == arguments.end()) return "no command is given, expected one of: " + names + "; see roundhouse --help";
  return "there is no command '" + *word + "', expected one of: " + names;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace rh::cli;
  CLI::App app("Runs ONNX models.", "roundhouse");
  Globals globals;
  app.add_flag("--json", globals.json, "Print JSON")->configurable(false);
  app.set_version_flag("--version", std::string("roundhouse ") + RhGetVersionString());
  app.require_subcommand(1);
  app.fallthrough();
  std::map<CLI::App*, Command> commands;
#define RH_COMMAND(name, help)                            \
  {                                                       \
    CLI::App* sub = app.add_subcommand(#name, help);      \
    commands.emplace(sub, declare_##name(*sub, globals)); \
  }
#include "command_list.inc"
#undef RH_COMMAND
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    globals.json = std::find(arguments.begin(), arguments.end(), "--json") != arguments.end();
    return report(globals, usage_error(app, arguments, error), 2);
  }
  try {
    commands.at(app.get_subcommands().front())();
    return 0;
  } catch (const std::exception& error) {
    return report(globals, error.what(), 1);
  }
}
