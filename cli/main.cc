#include <roundhouse/onnxruntime_cxx_api.h>
#include <roundhouse/roundhouse_c_api.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <vector>

#include "command.h"
#include "peer.h"
#include "probe.h"
#include "provider_checks.h"
#include "words.h"

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

// The option of the command, or of all, that is nearest to the first word that is none.
std::string nearest_option(const CLI::App& app, const CLI::App& sub, const std::vector<std::string>& arguments) {
  std::vector<std::string> known;
  for (const CLI::App* one : {&app, &sub}) {
    for (const CLI::Option* option : one->get_options()) {
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    }
  }
  for (const std::string& argument : arguments) {
    const std::string name = argument.substr(0, argument.find('='));
    if (!name.starts_with("--") || std::find(known.begin(), known.end(), name) != known.end()) continue;
    return "; the nearest option is '" + rh::cli::nearest(name, known) + "'";
  }
  return {};
}

// What is wrong with the arguments, and where help is.
std::string usage_error(const CLI::App& app, const std::vector<std::string>& arguments, const CLI::ParseError& error) {
  const auto word = std::find_if(arguments.begin(), arguments.end(), [](const std::string& a) { return !a.starts_with("-"); });
  std::vector<std::string> names;
  std::string list;
  for (const CLI::App* sub : app.get_subcommands({})) {
    const bool unknown_option = dynamic_cast<const CLI::ExtrasError*>(&error);
    if (word != arguments.end() && *word == sub->get_name()) {
      return std::string(error.what()) + (unknown_option ? nearest_option(app, *sub, arguments) : "") + "; see roundhouse " + *word +
             " --help";
    }
    names.push_back(sub->get_name());
    list += (list.empty() ? "" : ", ") + sub->get_name();
  }
  if (word == arguments.end()) return "no command is given, expected one of: " + list + "; see roundhouse --help";
  return "there is no command '" + *word + "', expected one of: " + list + "; the nearest is '" + rh::cli::nearest(*word, names) + "'";
}

std::string command_name(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace rh::cli;
  const std::vector<std::string> arguments = program_arguments(argc, argv);
  const std::string first = arguments.empty() ? "" : arguments[0];
  if (arguments.size() == 1 && first == kPeerArgument) return serve_as_peer();
  if (arguments.size() == 3 && first == kProbeArgument) return serve_as_probe(arguments[1].c_str(), arguments[2].c_str());
  if (arguments.size() == 3 && first == kCheckerArgument) return serve_as_checker(arguments[1].c_str(), arguments[2].c_str());
  CLI::App app("Runs ONNX models.", "roundhouse");
  Globals globals;
  app.allow_windows_style_options(false);  // else a path that begins with / would be one
  app.add_option("--color", globals.color, "When to use colour")->check(CLI::IsMember({"auto", "always", "never"}));
  app.add_flag("--json", globals.json, "Print JSON")->configurable(false);
  app.set_version_flag("--version", std::string("roundhouse ") + RhGetVersionString());
  app.require_subcommand(1);
  app.fallthrough();
  std::map<CLI::App*, Command> commands;
#define RH_COMMAND(name, help)                                     \
  {                                                                \
    CLI::App* sub = app.add_subcommand(command_name(#name), help); \
    commands.emplace(sub, declare_##name(*sub, globals));          \
  }
#include "command_list.inc"
#include "system.h"
#undef RH_COMMAND
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // it takes them from the end
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    globals.json = std::find(arguments.begin(), arguments.end(), "--json") != arguments.end();
    return report(globals, usage_error(app, arguments, error), 2);
  }
  try {
    return commands.at(app.get_subcommands().front())();
  } catch (const std::exception& error) {
    return report(globals, error.what(), 1);
  }
}
