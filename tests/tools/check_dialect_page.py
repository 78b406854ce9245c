#!/usr/bin/env python3
"""Keeps the pages of the language, in frontend/dsl/, equal to its headers and to the tables that its errors are made of.

usage: check_dialect_page.py [--update] [ROOT]

A row of the page that ends in the name of a diagnostic tells what is refused, why, and what to write instead. Each
diagnostic of the sections of frontend/diagnostics.def that name the page has one row. Where its message says what to
write (behind the colon), the row says the same. A row of what ends a run begins with the message; `…` stands for what
differs from case to case.

The lists of headers, functions, attributes and built-in functions are made from frontend/clang/dialect_rules.def and
frontend/eval/allowed_symbols.def, that of collectives from runtime-min/include/mscclc/collectives.def and the classes of the language:
--update writes them anew. So are the lists of reference.md and from-python.md, of the headers (language_headers.py).

Prints what differs; exit 1 if something does.
"""
import pathlib
import re
import sys

import language_headers

PAGE = "frontend/dsl/README.md"
PAGES = {
    PAGE: ["ALLOW", "Attribute", "Builtin", "COLLECTIVE", "Function", "Header"],
    "frontend/dsl/reference.md": ["CALLS", "ENUMERATIONS", "OPTIONS"],
    "frontend/dsl/from-python.md": ["MSCCLPPLANG", "PYTHON"],
}
SECTION = re.compile(r"^// ---- (.*?) ----$", re.M)
DIAGNOSTIC = re.compile(r'^DIAG\((\w+), (\w+), "((?:[^"\\]|\\.)*)"\)$', re.M)
ROW = re.compile(r"^\|(.*)\| `(\w+)` \|$", re.M)
COLLECTIVES = "runtime-min/include/mscclc/collectives.def"
CLASSES = "frontend/dsl/include/mscclc/program.hpp"
LIST = re.compile(r"(<!-- list: (\w+) -->\n).*?(<!-- end -->)", re.S)


def diagnostics(text, *topics):
    """Returns name -> message, for errors and warnings of the sections that name the page and have such a topic."""
    parts = SECTION.split(text)
    chosen = "".join(body for title, body in zip(parts[1::2], parts[2::2]) if PAGE in title and title.startswith(topics))
    return {name: message.replace('\\"', '"') for name, kind, message in DIAGNOSTIC.findall(chosen) if kind != "Note"}


def instead(message):
    """Returns what a message says to write: the text after its first colon."""
    return message.split(": ", 1)[1] if ": " in message else ""


def plain(cell):
    """Returns a cell of the page without its markup."""
    return re.sub(r"\s+", " ", cell.replace("`", "").replace("\\|", "|").strip())


def check_rows(page, source, run):
    rows, messages = {}, {**source, **run}
    for cells, name in ROW.findall(page):
        rows.setdefault(name, []).append([plain(c) for c in re.split(r"(?<!\\)\|", cells)])
    for name in sorted(rows.keys() - messages.keys()):
        yield f"the page has a row for {name}, which is no such diagnostic"
    for name, message in messages.items():
        if len(rows.get(name, [])) != 1:
            yield f"{name} has {len(rows.get(name, []))} rows, not 1: {message}"
            continue
        shown, told = rows[name][0][0], rows[name][0][-1]
        if name in run:
            if shown != re.sub(r"\{\d\}", "…", message):
                yield f"{name}: the error is '{message}', the page shows '{shown}'"
            continue
        text = instead(message)
        if not text or re.fullmatch(r"\{\d\}", text):
            continue  # the lists below tell, or there is nothing to tell
        pattern = ".*".join(re.escape(piece) for piece in re.split(r"'?\{\d\}'?", text))
        if not re.search(pattern, told):
            yield f"{name}: the error says '{text}', the page '{told}'"


def rules(text):
    """Returns kind -> reason -> names, in the order of dialect_rules.def."""
    reasons = dict(re.findall(r'^#define (REASON_\w+) "(.*)"$', text, re.M))
    found = {}
    for kind, reason, names in re.findall(r'^REFUSE\((\w+), ("[^"]*"|\w+),([^)]*)\)$', text, re.M):
        found.setdefault(kind, {}).setdefault(reasons.get(reason, reason.strip('"')), []).extend(re.findall(r'"([^"]+)"', names))
    return found


def allowed(text):
    """Returns the functions that may be called: title of a group -> names, without the compiler's own."""
    groups = re.findall(r"^// (<.*)\n((?:ALLOW.*\n(?: .*\n)*)+)", text, re.M)
    called = [(title, re.findall(r'"([a-z]\w*)"', rows)) for title, rows in groups]
    return [(title, names) for title, names in called if names]


def collective_row(macro, fields, classes):
    """Returns the row of a collective: constructor, what it does, chunks of each rank, in place, whether Python has it.
    """
    sized = macro == "SIZED_COLLECTIVE"
    name = fields[0] + "Collective" * sized
    doc, body = re.search(rf"((?:^///[^\n]*\n)+)class {name} : public Collective {{(.*?)^}};", classes, re.M | re.S).groups()
    words = re.sub(r"\s*\n?///\s*", " ", doc).strip()
    parameters = re.search(rf"{name}\((.*?),\s+Place at", body, re.S)[1].split(",")
    arguments = [re.search(r"(\w+)(?: = [\w:]+)?$", parameter.strip())[1] for parameter in parameters]
    assert ("root" in arguments) == (macro == "ROOTED_COLLECTIVE"), name
    assert sized == ("inputChunks" in arguments), name
    size = {"Share": "`chunkFactor`", "Whole": "`ranks × chunkFactor`"}
    sizes = ["`inputChunks`", "`outputChunks`"] if sized else [size[field] for field in fields[2:4]]
    if macro in ("ROW_COLLECTIVE", "EXPERT_COLLECTIVE"):
        sizes = ["`ranks`"] * 2
    if "inplace" not in arguments:
        place = "—"
    elif sized or fields[4] == "OneBuffer":
        place = "input and output are one buffer"
    else:
        smaller, larger = ("input", "output") if fields[2] == "Share" else ("output", "input")
        place = f"the {smaller} of rank r is the r-th share of its {larger}"
    python = "yes" if "Python: " in words else "no"
    meaning = re.split(r"[:.]", words)[0]
    return (
        f"| `{name}({', '.join(arguments)})` | {meaning[0].lower() + meaning[1:]} | {sizes[0]} | {sizes[1]} | {place} | "
        f"{python} |"
    )


def made_list(kind, root):
    """Returns the lines of a list of a page."""
    if kind in language_headers.LISTS:
        return list(language_headers.LISTS[kind](language_headers.read(root)))
    if kind == "COLLECTIVE":
        classes = (root / CLASSES).read_text(encoding="utf-8")
        table = re.sub(r"^#.*(\\\n.*)*|//.*", "", (root / COLLECTIVES).read_text(encoding="utf-8"), flags=re.M)
        rows = re.findall(r"^(\w*COLLECTIVE)\((.*?)\)$", table, re.M | re.S)
        lines = ["| collective | what it does | input | output | in place | in Python |", "|---|---|---|---|---|---|"]
        return lines + [collective_row(macro, [f.strip() for f in fields.split(",")], classes) for macro, fields in rows]
    if kind == "ALLOW":
        text = (root / "frontend/eval/allowed_symbols.def").read_text(encoding="utf-8")
        lines = ["| of | functions |", "|---|---|"]
        for title, names in allowed(text):
            head = ", ".join(f"`{h}`" for h in re.findall(r"<\w+>", title))
            lines.append(f"| {head} | {', '.join(f'`{n}`' for n in names)} |")
        return lines
    text = (root / "frontend/clang/dialect_rules.def").read_text(encoding="utf-8")
    mark = "`<{}>`" if kind == "Header" else "`{}`"
    lines = ["| refused | why, or what to write instead |", "|---|---|"]
    for reason, names in rules(text).get(kind, {}).items():
        names = [n + "…" if kind == "Builtin" and n.endswith("_") else n for n in names]
        reason = re.sub(r"(?<![\w`])(<\w+>|std::\w+|mscclc::\w+|assert\(\)|constexpr|--emit-ir|-P)(?!\w)", r"`\1`", reason)
        lines.append(f"| {', '.join(mark.format(n) for n in names)} | {reason} |")
    return lines


def main():
    arguments = [a for a in sys.argv[1:] if a != "--update"]
    root = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).parents[2]).resolve()
    problems = []

    def renew(match):
        return match.group(1) + "\n".join(made_list(match.group(2), root)) + "\n" + match.group(3)

    for name, lists in PAGES.items():
        page = (root / name).read_text(encoding="utf-8")
        kinds = sorted(kind for _, kind, _ in LIST.findall(page))
        if kinds != lists:
            problems.append(f"{name}: the page has the lists {', '.join(kinds)}")
        renewed = LIST.sub(renew, page)
        if renewed != page and "--update" in sys.argv:
            (root / name).write_text(renewed, encoding="utf-8")
        elif renewed != page:
            old, new = page.splitlines(), renewed.splitlines()
            problems += [f"{name}: a list is old (--update writes it anew): {line}" for line in new if line not in old]
            problems += [f"{name}: a list has what is gone (--update writes it anew): {line}" for line in old if line not in new]
        if name == PAGE:
            language = renewed
    table = (root / "frontend/diagnostics.def").read_text(encoding="utf-8")
    source, run = diagnostics(table, "The language", "Algorithms", "Movement programs", "Refs"), diagnostics(table, "The run")
    problems += [f"{PAGE}: {problem}" for problem in check_rows(language, source, run)]
    for problem in problems:
        print(problem)
    print(f"{len(source) + len(run)} diagnostics, {len(problems)} differences")
    return 1 if problems or not source or not run else 0


if __name__ == "__main__":
    sys.exit(main())
