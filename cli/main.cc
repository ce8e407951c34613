#include <roundhouse/onnxruntime_cxx_api.h>
#include <roundhouse/roundhouse_c_api.h>

#include <cstdio>
#include <map>

#include "command.h"

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
    return app.exit(error);
  }
  try {
    commands.at(app.get_subcommands().front())();
    return 0;
  } catch (const std::exception& error) {
    if (globals.json) {
      std::fprintf(stderr, "%s\n", nlohmann::json{{"error", error.what()}}.dump().c_str());
    } else {
      std::fprintf(stderr, "roundhouse: %s\n", error.what());
    }
    return 1;
  }
}
