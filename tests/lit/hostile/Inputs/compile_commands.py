"""Prints a compile_commands.json: FOLDER SOURCE ARGUMENT…"""
import json
import sys

folder, source, *arguments = sys.argv[1:]
print(json.dumps([{"directory": folder, "file": source, "arguments": ["g++", *arguments, "-c", source]}], indent=1))
