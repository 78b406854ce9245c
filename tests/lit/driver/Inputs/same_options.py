"""Checks that completion for all shells and the man page list the options of --help, and no others. Prints their number."""
import re
import subprocess


def output(*arguments):
    return subprocess.run(["mscclc", *arguments], check=True, capture_output=True, text=True).stdout


NAME = r"--?[A-Za-z][\w-]*"
options_of_help = set()
for line in output("--help").split("\nPASSES,")[0].splitlines():
    match = re.match(rf"  ({NAME}(?:,{NAME})*)(?: |$)", line)
    if match:
        options_of_help.update(match[1].split(","))

bash = output("--completion", "bash")
names_of_bash = set(re.search(r'compgen -W "(-[^"]*)"', bash)[1].split())
zsh = output("--completion", "zsh")
names_of_zsh = set(re.findall(rf"^  '\*({NAME}?)(?:=-?|\+)?\[", zsh, re.M))
names_of_fish = set()
for line in output("--completion", "fish").splitlines():
    line = line.split(" -a ")[0].split(" -d ")[0]
    names_of_fish.update("--" + name for name in re.findall(r" -l (\S+)", line))
    names_of_fish.update("-" + name for name in re.findall(r" -[so] (\S+)", line))
man = output("--man").replace("\\-", "-")
names_of_man = set()
for line in re.findall(r"^\.TP\n\.B (.*)$", man, re.M):
    names_of_man.update(name.split()[0].split("[")[0] for name in line.split(", "))

for where, names in (("bash", names_of_bash), ("zsh", names_of_zsh), ("fish", names_of_fish), ("man", names_of_man)):
    assert names == options_of_help, f"{where}: {names ^ options_of_help}"
print("options:", len(options_of_help))
