// Completion scripts for shells, made from what the subcommands declare.
#include <algorithm>
#include <cstdio>

#include "command.h"

namespace rh::cli {

namespace {

/// What completion needs of an option.
struct Word {
  std::vector<std::string> names;  ///< "--threads", "-t"
  std::string help;
  bool takes_value = false;
  std::vector<std::string> choices;  ///< values that it takes; none: any, and files are offered
};

struct CommandWords {
  std::string name, help;
  std::vector<Word> options;
  std::vector<std::string> choices;  ///< of its argument; none: files
};

// "INT:{0,1,2}" → 0, 1, 2.
std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const size_t begin = type.find('{'), end = type.find('}');
  std::vector<std::string> choices;
  if (begin == std::string::npos || end == std::string::npos) return choices;
  std::string list = type.substr(begin + 1, end - begin - 1) + ",";
  for (size_t at = 0, comma = 0; (comma = list.find(',', at)) != std::string::npos; at = comma + 1) {
    choices.push_back(list.substr(at, comma - at));
  }
  return choices;
}

Word word_of(const CLI::Option& option) {
  Word word{{}, option.get_description(), option.get_items_expected_max() > 0, choices_of(option)};
  for (const std::string& name : option.get_lnames()) word.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) word.names.push_back("-" + name);
  return word;
}

CommandWords words_of(const CLI::App& app) {
  CommandWords words{app.get_name(), app.get_description(), {}, {}};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) {
      words.choices = choices_of(*option);
    } else {
      words.options.push_back(word_of(*option));
    }
  }
  return words;
}

std::string join(const std::vector<std::string>& words, const char* between = " ") {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

std::string quoted(std::string text, const char* special) {
  for (size_t at = 0; (at = text.find_first_of(special, at)) != std::string::npos; at += 2) text.insert(at, "\\");
  return text;
}

std::string bash(const std::vector<CommandWords>& commands, const CommandWords& global) {
  std::vector<std::string> names, shared;
  for (const CommandWords& command : commands) names.push_back(command.name);
  std::string values, cases;
  const auto add_options = [&](const CommandWords& command, std::vector<std::string>& words) {
    for (const Word& option : command.options) {
      words.insert(words.end(), option.names.begin(), option.names.end());
      if (!option.takes_value) continue;
      const std::string reply =
          option.choices.empty() ? "compgen -f -- \"$word\"" : "compgen -W '" + join(option.choices) + "' -- \"$word\"";
      const std::string pattern = command.name.empty() ? "*:" : command.name + ":";
      std::vector<std::string> patterns;
      for (const std::string& name : option.names) patterns.push_back(pattern + name);
      values += "    " + join(patterns, "|") + ") mapfile -t COMPREPLY < <(" + reply + "); return ;;\n";
    }
  };
  add_options(global, shared);
  for (const CommandWords& command : commands) {
    std::vector<std::string> words = shared;
    add_options(command, words);
    const std::string argument =
        command.choices.empty() ? "compgen -f -- \"$word\"" : "compgen -W '" + join(command.choices) + "' -- \"$word\"";
    cases += "    " + command.name + ") if [[ $word == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '" + join(words) +
             "' -- \"$word\"); else mapfile -t COMPREPLY < <(" + argument + "); fi ;;\n";
  }
  return "# bash completion for roundhouse: source it, or put it into ~/.local/share/bash-completion/completions/roundhouse\n"
         "_roundhouse() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command= i\n"
         "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
         "    case ${COMP_WORDS[i]} in " +
         join(names, "|") +
         ") command=${COMP_WORDS[i]}; break ;; esac\n"
         "  done\n"
         "  case $command:$previous in\n" +
         values +
         "  esac\n"
         "  case $command in\n" +
         cases + "    *) mapfile -t COMPREPLY < <(compgen -W '" + join(names) + " " + join(shared) +
         "' -- \"$word\") ;;\n"
         "  esac\n"
         "}\n"
         "complete -o filenames -F _roundhouse roundhouse\n";
}

// Help without the characters that zsh's descriptions give a meaning.
std::string plain(std::string text) {
  std::erase(text, '\'');
  std::replace_if(text.begin(), text.end(), [](char c) { return c == ':' || c == '[' || c == ']' || c == '\\'; }, ' ');
  return text;
}

std::string zsh_option(const Word& option) {
  std::string value;
  if (option.takes_value) value = option.choices.empty() ? ":value:_files" : ":value:(" + join(option.choices) + ")";
  std::string text;
  for (const std::string& name : option.names) text += " \\\n        '*" + name + "[" + plain(option.help) + "]" + value + "'";
  return text;
}

std::string zsh(const std::vector<CommandWords>& commands, const CommandWords& global) {
  std::string list, cases, shared;
  for (const Word& option : global.options) shared += zsh_option(option);
  for (const CommandWords& command : commands) {
    list += "    '" + command.name + ":" + plain(command.help) + "'\n";
    cases += "      " + command.name + ")\n        _arguments -s" + shared;
    for (const Word& option : command.options) cases += zsh_option(option);
    cases += command.choices.empty() ? " \\\n        '*:file:_files' ;;\n" : " \\\n        ':value:(" + join(command.choices) + ")' ;;\n";
  }
  return "#compdef roundhouse\n"
         "# zsh completion for roundhouse: put it into a folder of $fpath as _roundhouse\n"
         "_roundhouse() {\n"
         "  local -a commands=(\n" +
         list +
         "  )\n"
         "  local state line\n"
         "  _arguments -C" +
         shared +
         " \\\n    '1:command:->command' '*::arguments:->arguments'\n"
         "  case $state in\n"
         "  command) _describe command commands ;;\n"
         "  arguments)\n"
         "    case $words[1] in\n" +
         cases +
         "    esac ;;\n"
         "  esac\n"
         "}\n"
         "compdef _roundhouse roundhouse\n";
}

std::string fish_option(const std::string& condition, const Word& option) {
  std::string text = "complete -c roundhouse" + condition;
  for (const std::string& name : option.names) {
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  if (option.takes_value) text += option.choices.empty() ? " -r" : " -x -a '" + join(option.choices) + "'";
  return text + " -d '" + quoted(option.help, "'\\") + "'\n";
}

std::string fish(const std::vector<CommandWords>& commands, const CommandWords& global) {
  std::string text = "# fish completion for roundhouse: put it into ~/.config/fish/completions/roundhouse.fish\n";
  for (const Word& option : global.options) text += fish_option("", option);
  for (const CommandWords& command : commands) {
    text += "complete -c roundhouse -f -n __fish_use_subcommand -a " + command.name + " -d '" + quoted(command.help, "'\\") + "'\n";
    const std::string condition = " -n '__fish_seen_subcommand_from " + command.name + "'";
    if (!command.choices.empty()) text += "complete -c roundhouse -f" + condition + " -a '" + join(command.choices) + "'\n";
    for (const Word& option : command.options) text += fish_option(condition, option);
  }
  return text;
}

}  // namespace

Command declare_completion(CLI::App& app, const Globals&) {
  auto shell = std::make_shared<std::string>();
  app.add_option("shell", *shell, "The shell")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  return [shell, &app] {
    const CLI::App& root = *app.get_parent();
    std::vector<CommandWords> commands;
    for (const CLI::App* sub : root.get_subcommands({})) commands.push_back(words_of(*sub));
    CommandWords global = words_of(root);
    global.name.clear();
    const auto script = *shell == "bash" ? bash : *shell == "zsh" ? zsh : fish;
    std::fputs(script(commands, global).c_str(), stdout);
    return 0;
  };
}

}  // namespace rh::cli
