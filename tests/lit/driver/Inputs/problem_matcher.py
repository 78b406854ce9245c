"""Reads the text of errors as VS Code does. argv: tasks.json, the text. Prints the place, severity and name of each match."""
import json
import re
import sys

tasks = json.load(open(sys.argv[1], encoding="utf-8"))["tasks"]
patterns = [task["problemMatcher"]["pattern"] for task in tasks if task["problemMatcher"]]
assert len(patterns) == 2 and patterns[0] == patterns[1], "the tasks that compile have the same pattern"
for line in open(sys.argv[2], encoding="utf-8"):
    if found := re.search(patterns[0]["regexp"], line.rstrip("\n")):
        field = {name: found[group] for name, group in patterns[0].items() if name != "regexp"}
        print(f"{field['file']}:{field['line']}:{field['column']} {field['severity']} {field['code']}")
