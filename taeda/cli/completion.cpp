// SPDX-License-Identifier: Apache-2.0
// taeda completion: scripts for shells, made from the commands that there are.
#include <algorithm>
#include <iostream>

#include "taeda/cli/commands.h"
#include "taeda/core/error.h"

namespace taeda::cli {

namespace {

struct OptionEntry {
  std::string name, help;  ///< without dashes
  std::string words;       ///< values that are known, divided by blanks
  bool takes_value = false;
};

struct CommandEntry {
  std::string name, help;
  std::vector<OptionEntry> options;
};

/// Values that options take besides files and numbers.
std::string words_of(const std::string& option) {
  if (option == "model") return "auto linear mlp cnn resnet8 resnet18 resnet50 mobilenet_v2 lstm gpt";
  if (option == "data") return "digits mnist: cifar: folder: csv: text:";
  if (option == "schedule") return "onecycle cosine none";
  if (option == "task") return "auto classification regression";
  if (option == "lr") return "auto find";
  if (option == "precision") return "float32";
  if (option == "show") return "before log after memory none";
  if (option == "format") return "auto jsonl table";
  return {};
}

std::vector<CommandEntry> commands_of(const CLI::App& app) {
  std::vector<CommandEntry> out;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    CommandEntry& entry = out.emplace_back();
    entry.name = command->get_name();
    entry.help = command->get_description();
    if (entry.name == "completion") {
      entry.options.push_back({"", "", "bash zsh fish", true});
      continue;
    }
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& name : option->get_lnames()) {
        const bool negative = option->check_fname(name) && name.starts_with("no-");
        entry.options.push_back({name, option->get_description(), negative ? std::string() : words_of(name), option->get_items_expected_max() > 0});
      }
    }
  }
  return out;
}

/// Inside single quotes of a shell.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string bash_script(const std::vector<CommandEntry>& commands) {
  std::string names, options, values;
  for (const CommandEntry& command : commands) {
    names += command.name + " ";
    options += "    " + command.name + ") words='";
    for (const OptionEntry& option : command.options) options += option.name.empty() ? option.words + " " : "--" + option.name + " ";
    options += "' ;;\n";
    for (const OptionEntry& option : command.options) {
      if (option.words.empty() || option.name.empty()) continue;
      const std::string line = "    --" + option.name + ") words='" + option.words + "' ;;\n";
      if (values.find(line) == std::string::npos) values += line;
    }
  }
  return "# bash completion of taeda; load it with: source <(taeda completion bash)\n"
         "_taeda() {\n"
         "  local now=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=''\n"
         "  COMPREPLY=()\n"
         "  if ((COMP_CWORD == 1)); then COMPREPLY=($(compgen -W '" + names + "--help --version' -- \"$now\")); return; fi\n"
         "  case $before in\n" + values + "  esac\n"
         "  if [[ -z $words && ($now == -* || ${COMP_WORDS[1]} == completion) ]]; then\n"
         "    case ${COMP_WORDS[1]} in\n" + options + "    esac\n"
         "  fi\n"
         "  if [[ -n $words ]]; then COMPREPLY=($(compgen -W \"$words\" -- \"$now\")); else COMPREPLY=($(compgen -f -- \"$now\")); fi\n"
         "}\n"
         "complete -o filenames -o bashdefault -F _taeda taeda\n";
}

std::string zsh_script(const std::vector<CommandEntry>& commands) {
  const auto plain = [](std::string text) {  // what stands in brackets and after colons
    for (char& c : text) {
      if (c == '[') c = '(';
      if (c == ']') c = ')';
      if (c == ':') c = ';';
    }
    return text;
  };
  std::string names, cases;
  for (const CommandEntry& command : commands) {
    names += "    " + quoted(command.name + ":" + command.help) + "\n";
    cases += "    " + command.name + ")\n      _arguments";
    for (const OptionEntry& option : command.options) {
      if (option.name.empty()) {
        cases += " \\\n        " + quoted("1:shell:(" + option.words + ")");
        continue;
      }
      std::string value;
      if (option.takes_value) value = ":value:" + (option.words.empty() ? std::string("_files") : "(" + plain(option.words) + ")");
      cases += " \\\n        " + quoted("--" + option.name + "[" + plain(option.help) + "]" + value);
    }
    cases += " \\\n        '*:file:_files' ;;\n";
  }
  return "#compdef taeda\n# zsh completion of taeda; put it into a folder of $fpath as _taeda\n"
         "_taeda() {\n  local -a commands\n  commands=(\n" + names + "  )\n"
         "  if ((CURRENT == 2)); then _describe command commands; return; fi\n"
         "  local command=$words[2]\n  shift words\n  ((CURRENT--))\n  case $command in\n" + cases + "  esac\n}\n"
         "if [[ $funcstack[1] == _taeda ]]; then _taeda \"$@\"; else compdef _taeda taeda; fi\n";
}

std::string fish_script(const std::vector<CommandEntry>& commands) {
  std::string out = "# fish completion of taeda; load it with: taeda completion fish | source\n";
  for (const CommandEntry& command : commands) {
    out += "complete -c taeda -n __fish_use_subcommand -f -a " + command.name + " -d " + quoted(command.help) + "\n";
  }
  for (const CommandEntry& command : commands) {
    const std::string when = "complete -c taeda -n '__fish_seen_subcommand_from " + command.name + "'";
    for (const OptionEntry& option : command.options) {
      if (option.name.empty()) out += when + " -f -a '" + option.words + "'\n";
      else out += when + " -l " + option.name + (option.takes_value ? " -r" : "") + (option.words.empty() ? "" : " -f -a '" + option.words + "'") + " -d " + quoted(option.help) + "\n";
    }
  }
  return out;
}

}  // namespace

void add_completion(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  CLI::App* c = app.add_subcommand("completion", "Print a completion script for a shell");
  c->add_option("shell", *shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  c->footer("Examples:\n  source <(taeda completion bash)\n  taeda completion zsh > ~/.zfunc/_taeda\n  taeda completion fish | source");
  c->callback([&app, shell] {
    const auto commands = commands_of(app);
    std::cout << (*shell == "bash" ? bash_script(commands) : *shell == "zsh" ? zsh_script(commands) : fish_script(commands));
  });
}

}  // namespace taeda::cli
