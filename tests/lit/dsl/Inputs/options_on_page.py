"""Prints the options of the language's structs that its page does not have. usage: options_on_page.py HEADERS PAGE"""
import pathlib
import re
import sys

headers, page = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).read_text(encoding="utf-8")
rows = {row[0]: row[1] for row in re.findall(r"^\| `(\w+Options)` \|[^|]*\| (.*) \|$", page, re.M)}
structs = 0
for header in sorted(headers.glob("mscclc/*.hpp")):
    text = header.read_text(encoding="utf-8")
    for struct, body in re.findall(r"^struct (\w+Options) \{\n(.*?)^\};", text, re.M | re.S):
        structs += 1
        options = re.findall(r"^  [\w:<>]+ (\w+) = ", body, re.M)
        given = re.findall(r"`\.(\w+)`", rows.get(struct, ""))
        if options != given:
            print(f"{struct}: the header has {options}, the page {given}")
print(f"{structs} structs of options")
