#!/usr/bin/env python3
"""Checks that what the pages name is there: links, with the headings that they lead to, and paths in backquotes that
begin with a folder of the repository.
And that each folder of the product with more than ten sources has a page, README.md.

usage: check_pages.py [ROOT]

A path may be written from the root or from the page's folder. Names in capitals (ROOM, NAME) and `*` stand for any.
Prints each that is not there, as FILE:LINE or the folder; exit 1 if there is one.
"""
import functools
import os
import pathlib
import re
import sys

LINK = re.compile(r"\]\(([^)#\s]+)")
ANCHOR = re.compile(r"\]\(([^)#:\s]*)#([^)\s]+)\)")
SOURCE = re.compile(r"\.(cpp|hpp|h|cuh|cu|def|py|js)$")
MOST_SOURCES = 10
NOT_PRODUCT = {"samples", "tests"}
QUOTED = re.compile(r"`([\w.-]+(?:/[\w.*-]*)+)`")


def folders_of(root):
    """Returns each folder with its files, without what a build wrote, and without hidden folders."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(f for f in folders if not f.startswith((".", "build")))
        yield pathlib.Path(folder), names


@functools.cache
def headings(page):
    """Returns the names by which links lead to the headings of a page, as GitHub makes them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    titles = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title) for title in re.findall(r"^#+ (.*)$", text, re.M)]
    return {re.sub(r"[^\w -]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def there(root, page, path):
    path = re.sub(r"\b[A-Z]{2,}\b", "*", path).rstrip("/")
    return any(any(base.glob(path)) for base in (root, page.parent))


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()
    tops = {p.name for p in root.iterdir() if p.is_dir() and not p.name.startswith("build")}
    pages = bad = 0
    for folder, names in folders_of(root):
        sources = sum(1 for name in names if SOURCE.search(name))
        is_product = not NOT_PRODUCT & set(folder.relative_to(root).parts)
        if is_product and sources > MOST_SOURCES and "README.md" not in names:
            print(f"{folder.relative_to(root)}: {sources} sources, and no README.md")
            bad += 1
        for name in sorted(n for n in names if n.endswith(".md")):
            page = folder / name
            pages += 1
            code = False
            for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
                code ^= line.startswith("```")
                if code:
                    continue
                linked = re.sub(r"`[^`]*`", "``", line)
                paths = [p for p in LINK.findall(linked) if ":" not in p]
                paths += [p for p in QUOTED.findall(line) if p.split("/")[0] in tops or (folder / p.split("/")[0]).is_dir()]
                for to, heading in ANCHOR.findall(linked):
                    target = page.parent / to if to else page
                    if target.suffix == ".md" and target.is_file() and heading not in headings(target.resolve()):
                        print(f"{page.relative_to(root)}:{number}: {to or 'the page'} has no heading #{heading}")
                        bad += 1
                for path in paths:
                    if not there(root, page, path):
                        print(f"{page.relative_to(root)}:{number}: there is no {path}")
                        bad += 1
    print(f"{pages} pages, {bad} findings")
    return 1 if bad or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
