#!/usr/bin/env python3
"""Compiles the examples of the pages that explain diagnostics of the language: each must give its diagnostic.

usage: explanations.py --mscclc PROGRAM [NAME...]

An example is a whole algorithm, options of a program (`{.instances = 0}`), a collective (`AllGather(0, 1, true)`), or
statements of an algorithm. Statements stand in a program of 8 ranks with the variables of VARIABLES; which one is tried in
turn. What is no source is marked: it has `…` where something is left out, or is a command, or words without `(`, `{` or `;`.

Prints each example that does not give its diagnostic; exit 1 if there is one.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ("frontend/diagnostics_of_programs.md", "frontend/diagnostics_of_runs.md", "passes/schedule/schedule_diagnostics.md")
STANDARD = ("array", "cassert", "cstdlib", "functional", "memory", "optional", "string", "variant", "vector")
VARIABLES = """
  [[maybe_unused]] Buffer buffer = Rank(0).output(), scratch(0, 8), scratch1(1, 8);
  [[maybe_unused]] Chunk src = Rank(0).input()[0], dst = Rank(1).output()[0], a = Rank(0).output()[0], b = Rank(1).input()[0];
  [[maybe_unused]] Chunk into = Rank(0).output()[1], other = Rank(2).input()[0];
"""
CHANNELS = """
  [[maybe_unused]] MemoryChannel channel(1, 0);
  [[maybe_unused]] PortChannel portChannel(1, 0);
"""
COLLECTIVE = r"(?:All|Reduce|Send|Broad|Gather|Scatter|Test|Custom)\w*\("


def begin(example):
    """Returns the first lines of a source. Other headers than the precompiled one take most of the time, so they are left out
    where nothing of them is used."""
    others = ["mscclc/chunks.hpp"] * bool(re.search(r"\bchunk\(|ChannelType|sendtb|\bc\.\w+\(\d", example))
    others += STANDARD if re.search(r"std::|assert\(", example) else []
    return "".join(f"#include <{name}>\n" for name in ["mscclc/dsl.hpp", *others]) + "using namespace mscclc;\n"


def algorithm(program, body):
    """Returns an algorithm of statements, in a program if `program` is one."""
    return f"""{begin(body)}
MSCCLC_ALGORITHM void example(int ranks = 8, [[maybe_unused]] int nodes = 1, [[maybe_unused]] int rank = 0, [[maybe_unused]] int i = 1) {{
{program}{{
{body};
}}
}}
"""


def program(collective="AllReduce(ranks, 1, true)", options="{}"):
    """Returns the construction of a program."""
    return f'CollectiveProgram program("example", {collective}, {options});\n'


def sources(example):
    """Returns the sources that an example may be a part of, in the order in which they are tried; none if it is no source."""
    if "…" in example or re.match(r"mscclc |--|ulimit |true ", example) or not re.search(r"[({;]", example):
        return []
    code = re.sub(r"\s*// .*", "", example).rstrip(";")
    if "MSCCLC_ALGORITHM" in example:
        return [f"{begin(example)}{example}\n"]
    if code.startswith("{."):
        return [algorithm(program(options=code), "copy(Rank(0).input()[0], Rank(1).input()[0], tb(0))")]
    if re.match(COLLECTIVE, code):
        return [algorithm(program(collective=code), "")]
    statements = "{.schedule = Schedule::Auto, .ranksPerNode = 4}"
    auto = algorithm(program(options=statements) + VARIABLES, code)
    unpromised = algorithm(program("TestCollective(ranks, 8, 8)", statements) + VARIABLES, code)
    manual = algorithm(program() + VARIABLES + CHANNELS, code)
    if re.match(r"int \w+\(", code):
        return [algorithm("", "f(ranks)").replace("MSCCLC_ALGORITHM", f"{code};\nMSCCLC_ALGORITHM")]
    both = [manual, auto] if re.search(r"tb\(|Channel|Semaphore|barrier|pipeline|Group|SwitchC", code) else [auto, manual]
    return [*both, algorithm("", code), unpromised] if "CollectiveProgram" not in code else [algorithm("", code), *both]


def sections():
    """Yields page, name and example of each explanation."""
    for page in PAGES:
        for section in (ROOT / page).read_text(encoding="utf-8").split("\n## ")[1:]:
            name, _, body = section.partition("\n")
            yield page, name, "\n".join(line[4:] for line in body.splitlines() if line.startswith("    "))


def gives(mscclc, folder, page, name, example):
    """Returns whether one of the sources of an example gives its diagnostic, and what the last one gives instead."""
    said = ""
    for number, source in enumerate(sources(example)):
        path = pathlib.Path(folder, f"{pathlib.Path(page).stem}.{name}.{number}.cpp")
        path.write_text(source, encoding="utf-8")
        said = subprocess.run([mscclc, path, "--verify", "--max-errors=0", "--trace-timeout=1"], capture_output=True, text=True, errors="replace", check=False).stderr
        if f"[{name}]" in said:
            return True, ""
    return False, said


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mscclc", type=pathlib.Path, required=True)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    chosen = [one for one in sections() if sources(one[2]) and (not options.names or one[1] in options.names)]
    bad = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = [pool.submit(gives, options.mscclc.resolve(), folder, *one) for one in chosen]
        for (page, name, example), result in zip(chosen, results):
            given, said = result.result()
            if not given:
                bad += 1
                print(f"{page}: {name}: {example}")
                print("".join(f"    {line}\n" for line in said.splitlines()[:6]), end="")
    print(f"{len(chosen)} examples, {bad} without their diagnostic")
    return 1 if bad or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
