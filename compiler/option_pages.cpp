#include "compiler/option_pages.h"

#include "compiler/version.h"

#include <algorithm>

namespace mscclc::driver {
namespace {

std::string joined(const std::vector<std::string> &words, std::string_view separator = " ") {
  std::string text;
  for (const std::string &word : words)
    text.append(text.empty() ? "" : separator).append(word);
  return text;
}

/// Returns the text in single quotes, as bash and zsh read it.
std::string inQuotes(std::string_view text) {
  std::string out = "'";
  for (const char c : text)
    out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// Returns `text` with a backslash before each character of `special`.
std::string escaped(std::string_view text, std::string_view special) {
  std::string out;
  for (const char c : text) {
    if (special.find(c) != special.npos)
      out += '\\';
    out += c;
  }
  return out;
}

/// bash divides --verify=proof at `=`, so the option is the word before the `=`.
constexpr std::string_view bashFrame = R"(_mscclc() {
  local cur=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD-1]} joined=
  if [ "$cur" = = ]; then
    cur= joined=1
  elif [ "$option" = = ]; then
    option=${COMP_WORDS[COMP_CWORD-2]} joined=1
  fi
  case $option$joined in
@CASES@  esac
  case $cur in
    -*) COMPREPLY=($(compgen -W "@NAMES@" -- "$cur")) ;;
    *) COMPREPLY=($(compgen -f -- "$cur")); compopt -o filenames 2>/dev/null ;;
  esac
}
complete -F _mscclc mscclc
)";

std::string forBash(const std::vector<OptionRow> &options) {
  std::string cases, names;
  for (const OptionRow &option : options) {
    names += (names.empty() ? "" : " ") + joined(option.names);
    if (option.words.empty())
      continue;
    std::vector<std::string> patterns;
    for (const std::string &name : option.names) {
      patterns.push_back(name + "1");
      if (!option.mayStandAlone())
        patterns.push_back(name);
    }
    cases += "    " + joined(patterns, "|") + ") COMPREPLY=($(compgen -W " + inQuotes(joined(option.words)) +
             " -- \"$cur\")); return ;;\n";
  }
  std::string script(bashFrame);
  script.replace(script.find("@CASES@"), 7, cases);
  script.replace(script.find("@NAMES@"), 7, names);
  return script;
}

std::string forZsh(const std::vector<OptionRow> &options) {
  std::string script = "#compdef mscclc\n_arguments -S \\\n";
  for (const OptionRow &option : options) {
    std::string value;
    if (option.takesValue())
      value = (option.mayStandAlone() ? "::" : ":") + escaped(option.value, ":[]\\") + ":" +
              (option.words.empty() ? std::string("_files") : "(" + joined(option.words) + ")");
    for (const std::string &name : option.names) {
      const std::string_view between = !option.takesValue()     ? ""
                                       : option.mayStandAlone() ? "=-"
                                       : name.starts_with("--") ? "="
                                       : name.size() == 2       ? "+"
                                                                : "";
      script += "  " + inQuotes("*" + name + std::string(between) + "[" + escaped(option.help, "[]\\:") + "]" + value) +
                " \\\n";
    }
  }
  return script + "  '*:input:_files'\n";
}

std::string forFish(const std::vector<OptionRow> &options) {
  std::string script;
  for (const OptionRow &option : options) {
    script += "complete -c mscclc";
    for (const std::string &name : option.names)
      script +=
          name.starts_with("--") ? " -l " + name.substr(2) : (name.size() == 2 ? " -s " : " -o ") + name.substr(1);
    if (option.takesValue() && !option.mayStandAlone())
      script += option.words.empty() ? " -r" : " -x";
    if (!option.words.empty())
      script += " -a '" + escaped(joined(option.words), "'\\") + "'";
    script += " -d '" + escaped(option.help, "'\\") + "'\n";
  }
  return script;
}

/// Returns `text`, escaped so that groff prints it unchanged.
std::string roff(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool begins = i == 0 || text[i - 1] == '\n';
    if (begins && (text[i] == '.' || text[i] == '\''))
      out += "\\&";
    out += text[i] == '\\' ? "\\e" : text[i] == '-' ? "\\-" : std::string(1, text[i]);
  }
  return out;
}

} // namespace

const std::vector<std::string> &completionShells() {
  static const std::vector<std::string> shells = {"bash", "zsh", "fish"};
  return shells;
}

std::string completionFor(std::string_view shell, const std::vector<OptionRow> &options) {
  return shell == "bash" ? forBash(options) : shell == "zsh" ? forZsh(options) : forFish(options);
}

std::string manPage(const std::vector<OptionRow> &options, std::string_view footer) {
  std::string page = ".TH MSCCLC 1 \"\" \"mscclc " + std::string(version()) +
                     "\"\n.SH NAME\nmscclc \\- compile and prove GPU collectives\n.SH SYNOPSIS\n"
                     ".B mscclc\n[options] INPUT... [\\-\\- CLANG-ARGS]\n.br\n.B mscclc "
                     "explain\\-hang\nDUMP...\n.br\n.B mscclc init\n[DIR]\n.br\n.B mscclc library\n[SOURCE...] \\-o "
                     "DIR\n.br\n.B mscclc tune\nSOURCE... \\-o DIR\n"
                     ".SH DESCRIPTION\nmscclc compiles GPU collectives: a C++ algorithm in, an MSCCL++ plan or a CUDA "
                     "kernel out. A plan is written only after it is proven.\n.SH OPTIONS\n";
  std::string_view group;
  for (const OptionRow &option : options) {
    if (option.group != group)
      page += ".SS " + roff(option.group) + "\n";
    group = option.group;
    page += ".TP\n.B " + roff(joined(option.names, ", ")) +
            roff((option.mayStandAlone() || !option.takesValue() ? "" : " ") + option.value) + "\n" +
            roff(option.help) + "\n";
  }
  return page + ".SH NOTES\n.nf\n" + roff(footer) + "\n.fi\n";
}

} // namespace mscclc::driver
