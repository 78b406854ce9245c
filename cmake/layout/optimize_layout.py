#!/usr/bin/env python3
"""Lays a program's code out as it runs, by LLVM's BOLT: what runs together lies together, and branches fall through.

usage: optimize_layout.py --tools DIR --work DIR PROGRAM OUTPUT -- ARGUMENTS [-- ARGUMENTS]…

PROGRAM is linked with --emit-relocs. How it runs is learnt from a run with each of the ARGUMENTS: first which functions run,
then, with only these instrumented (all of them would take 12 GB of memory), how often each branch goes which way. The
profile stays in the folder --work, and serves until PROGRAM's LLVM changes: it goes by functions, and one that has changed
is left as it is. OUTPUT is checked to run as PROGRAM does; where anything fails it is PROGRAM's copy, and standard error says
why. $OUT in ARGUMENTS is a file to write.
"""
import argparse
import ctypes
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import time

from touched_functions import touched_functions


def run(command):
    """Its output; RuntimeError with the last of it if it fails."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        last = "\n".join(done.stdout.splitlines()[-5:])
        raise RuntimeError(f"{pathlib.Path(command[0]).name} ended with status {done.returncode}: {last}")
    return done.stdout


def run_instrumented(command):
    """Runs a command, and waits for the process as well that BOLT's instrumentation leaves behind to write the counters."""
    adopt_orphans = 36  # PR_SET_CHILD_SUBREAPER
    ctypes.CDLL(None).prctl(adopt_orphans, 1, 0, 0, 0)
    # That process waits for all of its group to end, which must not hold this one.
    main = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                            start_new_session=True)
    if main.wait() != 0:
        raise RuntimeError(f"instrumented, {' '.join(map(str, command))} ended with status {main.returncode}")
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.05)
        except ChildProcessError:
            return
    raise RuntimeError("the instrumentation does not end")


class Layout:
    def __init__(self, tools, work, program, trainings):
        self.bolt, self.merge = tools / "llvm-bolt", tools / "merge-fdata"
        self.work, self.program = work, program
        self.out = work / "plan.json"
        self.trainings = [[word.replace("$OUT", str(self.out)) for word in training] for training in trainings]
        self.profile, self.key_file = work / "profile.fdata", work / "profile.key"

    def key(self):
        """What a profile depends on."""
        text = run([self.bolt, "--version"]) + run([self.program, "--version"]) + repr(self.trainings)
        return hashlib.sha256(text.encode()).hexdigest()

    def learn(self):
        """Makes the profile, unless it is there."""
        key = self.key()
        if self.profile.exists() and self.key_file.exists() and self.key_file.read_text() == key:
            return
        self.key_file.unlink(missing_ok=True)
        copy, raw = self.work / "mscclc", self.work / "raw.fdata"
        names = self.work / "functions"
        names.write_text("\n".join(touched_functions(self.program, copy, self.trainings)) + "\n")
        run([self.bolt, self.program, "-o", copy, "-instrument", f"--funcs-file-no-regex={names}",
             f"--instrumentation-file={raw}", "--instrumentation-sleep-time=1", "--instrumentation-no-counters-clear",
             "--instrumentation-wait-forks"])
        parts = []
        for i, training in enumerate(self.trainings):
            raw.unlink(missing_ok=True)
            run_instrumented([copy, *training])
            parts.append(raw.rename(self.work / f"part{i}.fdata"))
        run([self.merge, *parts, "-o", self.profile])
        for temporary in (copy, *parts):
            temporary.unlink()
        self.key_file.write_text(key)

    def apply(self, output):
        run([self.bolt, self.program, "-o", output, f"-data={self.profile}", "-reorder-blocks=ext-tsp",
             "-reorder-functions=cdsort", "-split-functions", "-split-all-cold", "-split-eh", "-use-gnu-stack"])

    def check(self, output):
        """The program's work is the same as before."""
        for training in self.trainings:
            results = []
            for program in (self.program, output):
                self.out.unlink(missing_ok=True)
                run([program, *training])
                results.append(self.out.read_bytes())
            if results[0] != results[1]:
                raise RuntimeError(f"it gives other results for {' '.join(training)}")


def split(words):
    """The parts between "--"."""
    parts = [[]]
    for word in words:
        if word == "--":
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def main():
    words, *trainings = split(sys.argv[1:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    args = parser.parse_args(words)
    args.work.mkdir(parents=True, exist_ok=True)
    layout = Layout(args.tools, args.work, args.program, trainings)
    try:
        layout.learn()
        layout.apply(args.output)
        layout.check(args.output)
    except (OSError, RuntimeError, ValueError) as error:
        print(f"the layout of {args.program.name} is left as it is: {error}", file=sys.stderr)
        shutil.copy2(args.program, args.output)


if __name__ == "__main__":
    main()
