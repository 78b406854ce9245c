#!/usr/bin/env python3
"""Emits kernels of algorithms that treat all ranks alike for 4, 8 and 64 ranks: symmetry.py --mscclc MSCCLC SOURCE...

Each must be one kernel whose programs all ranks share, without tables, and the text for 64 ranks at most 2.5 times that
for 8. Prints the sizes."""
import argparse
import os
import re
import sys

import kernel_text


def text_of(mscclc, source, ranks):
    sized = f"gpusPerNode={ranks // 2}" if "hierarchical" in source else f"ranks={ranks}"
    return kernel_text.of_algorithm(mscclc, source, [sized])


def faults(texts):
    for ranks, text in texts.items():
        if len(re.findall(r"\bMSCCLC_KERNEL\(", text)) != 1:
            yield f"{ranks} ranks: not one kernel"
        dispatch = text[text.index("MSCCLC_KERNEL("):text.index("k.finish()")]
        if "rank" in dispatch:
            yield f"{ranks} ranks: ranks run programs of their own"
        # The host alone reads waitInfo, and only where a launch hangs.
        run = re.sub(r"static void waitInfo\(.*?\n  }\n", "", text, flags=re.DOTALL)
        if "MSCCLC_TABLE" in text or any(len(re.findall(rf"\b{table}\b", run)) > 1
                                         for table in re.findall(r"static const uint\w* (\w+)\[", text)):
            yield f"{ranks} ranks: a table"
    if len(texts[64]) > 2.5 * len(texts[8]):
        yield "the text grows with the ranks"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mscclc", required=True)
    parser.add_argument("source", nargs="+")
    options = parser.parse_args()
    wrong = 0
    for source in options.source:
        texts = {ranks: text_of(options.mscclc, source, ranks) for ranks in (4, 8, 64)}
        found = list(faults(texts))
        wrong += len(found)
        sizes = ", ".join(f"{len(text)} bytes at {ranks}" for ranks, text in texts.items())
        print(f"{os.path.basename(source)}: {sizes} ({len(texts[64]) / len(texts[8]):.2f})")
        for fault in found:
            print(f"  FAIL {fault}")
    sys.exit(1 if wrong else 0)


main()
