#!/usr/bin/env python3
"""Random programs, compiled by mscclc -O1 and by the MSCCL++ Python DSL: the plans must be equal.

What -O1 makes of its own plan must be that plan again, where fusion and automatic sync were on.

usage: differential.py MSCCLC PLAN_COMPARE [--seed FIRST] [--count N] [--print SEED]

Needs the DSL (mscclpp.language, of microsoft/mscclpp at 1f5f065d) in PYTHONPATH. Where its rules are unsound, the plan to
equal is that of corrected_rules.py; how many programs met which rule is told at the end.
"""
import argparse
import collections
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import random_program

try:
    from mscclpp.language import channel, collectives, loop, program, rank, thread_block_group, utils
    import corrected_rules
except ImportError as error:
    print(f"[SKIP] the Python DSL is not in PYTHONPATH: {error}")
    sys.exit(0)


def load(path):
    spec = importlib.util.spec_from_file_location("plan_compare", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


NAMES = {}
for module in (channel, collectives, loop, program, rank, thread_block_group, utils):
    NAMES.update(vars(module))


def dsl_plan(source):
    try:
        return json.loads(corrected_rules.record(source, NAMES).to_json())
    except TypeError:
        return None  # replication policy "none" is broken


def corrected_plan(source, rules):
    """Returns the plan, or "refused"; and whether operations were kept apart because of the order of one thread."""
    corrected = corrected_rules.Corrected(corrected_rules.record(source, NAMES, rules), rules)
    try:
        return corrected.plan(), corrected.kept_apart
    except corrected_rules.Refused:
        return "refused", corrected.kept_apart


class Comparison:
    def __init__(self, mscclc, compare, folder):
        self.mscclc, self.compare, self.folder = mscclc, compare, pathlib.Path(folder)
        self.count = collections.Counter()
        self.met = collections.Counter()

    def canonical(self, plan):
        return self.compare.canonical(plan) if isinstance(plan, dict) else plan

    def compile(self, path, out):
        out.unlink(missing_ok=True)
        return subprocess.run([self.mscclc, path, "-O1", "--no-verify", "--target=none", "-q", "--compact", "-o", out],
                              capture_output=True, text=True)

    def again(self):
        """Returns what is wrong with the result of -O1 for the plan that ours() has written; empty if nothing is."""
        plan, out = self.folder / "plan.json", self.folder / "again.json"
        run = self.compile(plan, out)
        if run.returncode != 0:
            return f"its plan is no input\n{run.stderr}"
        found = list(self.compare.differences(*(json.loads(p.read_text("utf-8")) for p in (out, plan))))
        return "".join(f"-O1 of its plan differs: {path}: {a} != {b}\n" for path, a, b in found[:3])

    def ours(self, source):
        path, out = self.folder / "program.cpp", self.folder / "plan.json"
        path.write_text(source, "utf-8")
        run = self.compile(path, out)
        if run.returncode == 0:
            return json.loads(out.read_text("utf-8")), ""
        return ("refused" if run.returncode == 1 and "another instance writes or reads" in run.stderr else None), run.stderr

    def check(self, seed):
        """Returns the difference for the program of `seed`; empty if there is none."""
        made = random_program.Program(seed)
        ours, errors = self.ours(made.cpp)
        if ours is None:
            return f"not compiled\n{errors}"
        dsl = self.canonical(dsl_plan(made.py))
        wanted, kept_apart = corrected_plan(made.py, corrected_rules.RULES)
        wanted = self.canonical(wanted)
        self.count["programs"] += 1
        self.count["refused"] += wanted == "refused"
        if dsl == wanted:
            self.count["as the DSL"] += 1
        elif dsl is not None:
            for rule in corrected_rules.RULES:
                without = [other for other in corrected_rules.RULES if other != rule]
                if self.canonical(corrected_plan(made.py, without)[0]) != wanted:
                    self.met[rule] += 1
        if "refused" in (ours, wanted):
            return "" if ours == wanted else f"{'' if ours == 'refused' else 'not '}refused\n{errors}"
        found = list(self.compare.differences(self.canonical(ours), wanted))
        # Replication moves packets and plain chunks of scratch apart, or together: then other accesses conflict.
        replicated_packets = made.packets and made.instances > 1
        # A sync that was inferred after fusion orders what one thread did before.
        moved_on = replicated_packets or kept_apart
        if not found and made.options.get("fuse", True) and made.options.get("autoSync", True) and not moved_on:
            self.count["done again"] += 1
            return self.again()
        return "\n".join(f"{path}: {json.dumps(a)[:160]} != {json.dumps(b)[:160]}" for path, a, b in found[:5])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mscclc")
    parser.add_argument("plan_compare")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--print", type=int, dest="shown")
    arguments = parser.parse_args()
    if arguments.shown is not None:
        made = random_program.Program(arguments.shown)
        print(made.cpp, made.py, sep="\n")
        return 0
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        comparison = Comparison(os.path.abspath(arguments.mscclc), load(arguments.plan_compare), folder)
        for seed in range(arguments.seed, arguments.seed + arguments.count):
            if fault := comparison.check(seed):
                print(f"seed {seed}: {fault}")
                failed += 1
    for rule, programs in comparison.met.items():
        print(f"{programs} programs differ from the DSL by: {corrected_rules.RULES[rule]}")
    print(", ".join(f"{number} {what}" for what, number in comparison.count.items()) + f", {failed} wrong")
    return 1 if failed or not comparison.count["programs"] else 0


if __name__ == "__main__":
    sys.exit(main())
