#!/usr/bin/env python3
"""Prints in which order samples and algorithms of others sum: of each program that sums, the reduction tree, whether all
ranks end with the same bits, whether all elements have the same tree, and whether partial results are rounded.
Compares with the table orders.txt; --update writes it.

usage: orders.py [--update] MSCCLC SAMPLES SCHEDULES [COLLECTION]

Plans are those of this folder, schedules in XML those of SCHEDULES and of COLLECTION, each as it is read; samples have
the parameters that they have by themselves, and once more each order that they take. Without COLLECTION its rows are
not compared."""
import concurrent.futures
import pathlib
import re
import subprocess
import sys

from proofs import HERE, Proofs

TABLE = HERE / "orders.txt"
HEAD = """# Written by orders.py: of each program that sums, its reduction tree, and whether it is
# rank-consistent | invariant | narrowed once
"""
# With options that leave as it is what others wrote. Programs without a proof have no row.
READ = ["--verify", "--allow=ignored-flush"]


def programs(samples, schedules, collection):
    """Yields every program: its name in the table, its file, and arguments."""
    for name, folder, ending in (("plans", HERE / "plans", "json"), ("corrected", HERE / "corrected", "json"),
                                 ("samples", samples, "cpp"), ("xml", schedules, "xml"),
                                 ("collection", collection / "xml" if collection else None, "xml")):
        for path in sorted(folder.rglob(f"*.{ending}")) if folder else ():
            row = f"{name}/{path.relative_to(folder).with_suffix('')}"
            yield row, path, []
            if ending == "cpp" and "Order order = " in path.read_text("utf-8"):
                for order in ("Ranks", "Tree"):
                    yield f"{row}.order={order}", path, ["-P", f"order={order}"]


def row_of(mscclc, proofs, name, path, arguments):
    """Returns the row of a program; None if it sums nothing, or is not proven."""
    allow, _ = proofs.rows.get(name.removeprefix("plans/"), ("-", "-"))
    allowed = [] if allow == "-" else [f"--allow={allow}"]
    run = subprocess.run([mscclc, path, *arguments, *READ, *allowed], capture_output=True, text=True)
    found = re.search(r"^sums: (.+)$", run.stdout, re.MULTILINE)
    if run.returncode != 0 or not found:
        return None
    sums = found[1]
    isConsistent = "ranks end with different bits" not in run.stderr
    isInvariant = " everywhere, " in sums
    said = re.search(r", narrowed (\w+)[^,]*$", sums)
    isOnce = "?" if "switch" in sums else "yes" if said and said[1] == "once" else "no"
    tree = re.sub(r", narrowed [^,]*$", "", sums).removesuffix(" everywhere")
    tree = tree.removeprefix("the order depends on the chunk: ")
    return f"{name} | {tree} | {'yes' if isConsistent else 'NO'} | {'yes' if isInvariant else 'no'} | {isOnce}"


def main():
    update = sys.argv[1] == "--update"
    mscclc, samples, schedules, *collection = sys.argv[1 + update:]
    found = [*programs(pathlib.Path(samples), pathlib.Path(schedules), pathlib.Path(collection[0]) if collection else None)]
    proofs = Proofs()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        rows = [row for row in pool.map(lambda program: row_of(mscclc, proofs, *program), found) if row]
    print("\n".join(rows))
    columns = [row.split(" | ")[2:] for row in rows]
    print(f"{len(found)} programs, {len(rows)} that sum: {sum(c[0] == 'yes' for c in columns)} rank-consistent, "
          f"{sum(c[1] == 'yes' for c in columns)} invariant, {sum(c[2] == 'yes' for c in columns)} narrowed once")
    print("not rank-consistent: " + ", ".join(row.split(" | ")[0] for row in rows if " | NO | " in row))
    if update:
        TABLE.write_text(HEAD + "\n".join(rows) + "\n", "utf-8")
        return 0
    kept = [line for line in TABLE.read_text("utf-8").splitlines() if line[0] != "#"]
    if not collection:
        kept = [line for line in kept if not line.startswith("collection/")]
    differ = sorted(set(rows) ^ set(kept))
    for row in differ:
        print(f"{'new' if row in rows else 'gone'}: {row}")
    return 1 if differ or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
