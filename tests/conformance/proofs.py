#!/usr/bin/env python3
"""Proves the Python DSL's plans, and our goldens where they differ, as they are read: all but what proofs.txt names.

usage: proofs.py MSCCLC
"""
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
TABLE = HERE / "proofs.txt"


def programs():
    """Every program of this folder, as SOURCE/ALGORITHM."""
    for source in sorted(HERE.glob("*.cpp")):
        for line in source.read_text("utf-8").splitlines():
            if line.startswith("MSCCLC_ALGORITHM void "):
                yield f"{source.stem}/{line.split()[2].split('(')[0]}"


def arguments(name):
    """Returns the arguments of mscclc for `name`, a program with its parameters."""
    program, _, parameters = name.partition(".")
    source, algorithm = program.split("/")
    given = [word for parameter in filter(None, parameters.split(",")) for word in ("-P", parameter)]
    return [HERE / f"{source}.cpp", "--algorithm", algorithm, *given]


def first_error(text):
    return next((line.split(" error: ", 1)[1] for line in text.splitlines() if " error: " in line), text)


class Proofs:
    def __init__(self):
        rows = [line.split(" | ") for line in TABLE.read_text("utf-8").splitlines() if line and line[0] != "#"]
        self.rows = {name: (allow, says) for name, allow, says, _ in rows}
        assert len(self.rows) == len(rows), "a name stands twice"

    def run(self, command, name):
        """Has mscclc prove `name`. Returns the run that gave a result, and what is wrong with the verdict."""
        allow, says = self.rows.get(name, ("-", "-"))
        mscclc = lambda *more: subprocess.run([*command, "-q", *more], capture_output=True, text=True)
        allowed = [] if allow == "-" else [f"--allow={allow}"]
        run = mscclc(*allowed)
        if says == "-":
            if run.returncode != 0:
                return run, f"exit code {run.returncode}\n{run.stderr}"
            return run, f"proven without --allow={allow}" if allowed and mscclc().returncode == 0 else ""
        if run.returncode != 1 or says not in first_error(run.stderr):
            return run, f"refused with '{says}' expected, not exit code {run.returncode}\n{run.stderr}"
        return (run if "--verify" in command else mscclc("--no-verify")), ""


def main():
    mscclc, proofs = sys.argv[1], Proofs()
    known = {*programs()}
    plans = {str(p.relative_to(base).with_suffix("")): p
             for base, folder in ((HERE / "plans", "plans"), (HERE, "corrected")) for p in (HERE / folder).rglob("*.json")}
    failed = 0
    for name, plan in sorted(plans.items()):
        # The DSL's flushes name nothing that the executor counts; what is said of that has a test of its own.
        _, fault = proofs.run([mscclc, plan, "--verify", "--allow=ignored-flush"], name)
        if fault:
            print(f"{name}: {fault}")
            failed += 1
    for name in proofs.rows:
        if name.removeprefix("corrected/").partition(".")[0] not in known:
            print(f"{TABLE.name}: there is no program of {name}")
            failed += 1
    print(f"{len(plans)} plans, {len(proofs.rows)} not proven as they are, {failed} wrong")
    return 1 if failed or not plans else 0


if __name__ == "__main__":
    sys.exit(main())
