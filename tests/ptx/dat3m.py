#!/usr/bin/env python3
"""Compares the machine's axioms with Dat3M's litmus tests for PTX: dat3m.py FOLDER [--build DIR], where FOLDER is a
checkout of github.com/hernanponcedeleon/Dat3M. Says how many tests agree, and why others were left out: instructions that
kernels do not have, and loops. Exits with 1 where one differs."""
import argparse
import collections
import csv
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SUITES = ["Manual", "Memalloy", "Nvidia", "Barrier"]  # those of CADP are about progress


class LeftOut(Exception):
    pass


class Test:
    """One test, translated: threads in PTX, and its condition as an expression of Python."""

    def __init__(self, text):
        text = re.sub(r'"[^"]*"', "", text)
        head, begin, rest = text.partition("{")[1:][0], *text.partition("{")[1:]
        declarations, _, rest = rest.partition("}")
        rows, self.kind, condition = re.split(r"(~exists|exists|forall|filter)", rest, maxsplit=1)
        del head, begin
        self.locations, self.initial, registers, self.aliases = [], {}, {}, {}
        for one in filter(None, (d.strip() for d in declarations.split(";"))):
            if match := re.fullmatch(r"(\w+)\s*=\s*(\d+)", one):
                self.locations.append(match[1])
                self.initial[match[1]] = int(match[2])
            elif match := re.fullmatch(r"P(\d+):(\w+)\s*=\s*(\d+)", one):
                registers[int(match[1]), match[2]] = int(match[3])
            elif match := re.fullmatch(r"(\w+) @ generic aliases (\w+)", one):
                self.aliases[match[1]] = match[2]
            elif " aliases " not in one:
                raise LeftOut("declarations")
        table = [[cell.strip() for cell in row.split("|")] for row in rows.split(";") if row.strip()]
        places = [re.fullmatch(r"P\d+\s*@\s*cta\s*(\d+),\s*gpu\s*(\d+)", cell) for cell in table[0]]
        self.places = [(int(match[2]), int(match[1])) for match in places]
        self.number, self.results, self.barriers = {}, 0, set()
        self.threads = [self.thread(i, [row[i] for row in table[1:] if i < len(row) and row[i]], registers)
                        for i in range(len(places))]
        self.condition = self.translated(condition)

    def place(self, name):
        if name in self.aliases:
            letter = chr(ord("A") + self.index(self.aliases[name]))
        else:
            letter = chr(ord("a") + self.index(name))
        return f"[{letter}]"

    def index(self, name):
        if name not in self.locations:
            self.locations.append(name)
        if len(self.locations) > 8:
            raise LeftOut("more than 8 locations")
        return self.locations.index(name)

    def thread(self, number, lines, registers):
        own = {}

        def register(name):
            own.setdefault(name, f"%rd{len(own) + 1}")
            if len(own) > 9:
                raise LeftOut("more than 9 registers")
            return own[name]

        def value(text):
            return text if text.isdigit() else register(text)

        body = "".join(f"mov.u64 {register(name)}, {start}; " for (thread, name), start in registers.items()
                       if thread == number)
        for line in lines:
            body += self.instruction(line, register, value)
        for name, place in own.items():
            self.number[number, name] = self.results
            if self.results == 8:
                raise LeftOut("more than 8 results")
            body += f"out {self.results}, {place}; "
            self.results += 1
        return body

    def instruction(self, line, register, value):
        words = line.replace(",", " ").split()
        name, parts = words[0].split("."), words[1:]
        access = ".".join(name[1:])
        if line.endswith(":"):
            return f"{line} "
        if name[0] == "goto":
            raise LeftOut("loops")
        if name == ["ld"]:
            return f"mov.u64 {register(parts[0])}, {value(parts[1])}; "
        if name[0] in ("add", "sub", "mul"):
            low = ".lo" if name[0] == "mul" else ""
            return f"{name[0]}{low}.u64 {register(parts[0])}, {value(parts[1])}, {value(parts[2])}; "
        if name[0] in ("beq", "bne", "bge", "ble", "bgt", "blt"):
            return (f"setp.{name[0][1:]}.u64 %p1, {value(parts[0])}, {value(parts[1])}; @%p1 bra {parts[2]}; ")
        if name[0] == "fence" and name[1] == "proxy" and name[2] != "alias":
            raise LeftOut("proxies")
        if name[0] == "fence":
            return f"{words[0]}; "
        if name[:3] == ["bar", "cta", "sync"]:
            self.barriers.add(tuple(parts))
            if len(self.barriers) > 1 or len(parts) > 1:
                raise LeftOut("barriers by name")
            return "bar.sync 0; "
        if name[0] == "st":
            if parts[0] in self.aliases:
                return f"multimem.st{'.relaxed.sys' if access != 'weak' else '.weak'}.global.u64 " \
                       f"{self.place(parts[0])}, {value(parts[1])}; "
            return f"st.{access}.global.u64 {self.place(parts[0])}, {value(parts[1])}; "
        if name[0] == "ld":
            if parts[1] in self.aliases:
                return f"multimem.ld_reduce{'.relaxed.sys' if access != 'weak' else '.weak'}.global.add.u64 " \
                       f"{register(parts[0])}, {self.place(parts[1])}; "
            return f"ld.{access}.global.u64 {register(parts[0])}, {self.place(parts[1])}; "
        if name[0] in ("atom", "red"):
            operation = {"plus": "add", "minus": "sub"}.get(name[3], name[3])
            if operation not in ("add", "sub", "cas", "exch", "and", "or", "xor"):
                raise LeftOut("operations of atom")
            target = [] if name[0] == "red" else [register(parts.pop(0))]
            where, operands = self.place(parts[0]), [value(p) for p in parts[1:]]
            if operation == "sub":
                operation, operands = "add", [str(2 ** 64 - int(operands[0]))]
            kind = "b64" if operation in ("cas", "exch", "and", "or", "xor") else "u64"
            return (f"{name[0]}.{name[1]}.{name[2]}.global.{operation}.{kind} " + ", ".join([*target, where, *operands]) +
                    "; ")
        raise LeftOut(f"instruction {name[0]}")

    def translated(self, condition):
        text = condition.replace("/\\", " and ").replace("\\/", " or ").replace("~", " not ")
        text = re.sub(r"(?<![=!<>])=(?!=)", "==", text)
        text = re.sub(r"\bP?(\d+)\s*:\s*(\w+)", lambda m: f"results[{self.result(int(m[1]), m[2])}]", text)
        return re.sub(r"\b([A-Za-z_]\w*)\b(?!\[)", lambda m: m[1] if m[1] in ("and", "or", "not") else
                      f"memory[{self.index(m[1])}]", text)

    def result(self, thread, register):
        if (thread, register) not in self.number:
            raise LeftOut("conditions on registers that nothing sets")
        return self.number[thread, register]

    def program(self):
        """For `ptx_litmus`: device, block and body of each thread, then what locations hold."""
        lines = [f"{device} {block} {body}" for (device, block), body in zip(self.places, self.threads)]
        initial = [f"= {chr(ord('a') + self.index(name))} {value}" for name, value in self.initial.items() if value]
        return "\n".join(lines + initial) + "\n"

    def holds(self, outcomes):
        seen = [bool(eval(self.condition.strip(), {}, {"results": o[:8], "memory": o[8:]})) for o in outcomes]
        return {"exists": any(seen), "~exists": not any(seen), "forall": all(seen)}[self.kind]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    options = parser.parse_args()
    expected = next(options.folder.rglob("PTXv7_5-expected.csv"))
    counts, left = collections.Counter(), collections.Counter()
    for name, result in csv.reader(expected.read_text().splitlines()):
        if not any(f"/{suite}/" in name for suite in SUITES):
            continue
        try:
            test = Test((options.folder / name).read_text())
            run = subprocess.run([options.build / "tests/ptx/ptx_litmus"], input=test.program(), capture_output=True,
                                 text=True, check=False)
            if run.returncode != 0:
                raise LeftOut(run.stderr.strip())
            outcomes = [[int(word) for word in line.split()] for line in run.stdout.splitlines()]
            agrees = test.holds(outcomes) == (result == "1")
            counts["agree" if agrees else "differ"] += 1
            if not agrees:
                print(f"{name}: {test.kind} {test.condition.strip()} should be {result}\n{test.program()}"
                      f"{len(outcomes)} outcomes")
        except LeftOut as why:
            left[str(why)] += 1
    print(f"{counts['agree']} agree, {counts['differ']} differ; left out: " +
          ", ".join(f"{count} for {why}" for why, count in left.most_common()))
    return 1 if counts["differ"] or not counts["agree"] else 0


if __name__ == "__main__":
    sys.exit(main())
