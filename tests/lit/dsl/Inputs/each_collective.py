"""Writes an algorithm for each collective with a chunk factor: one whose only operation is a barrier. argv: collectives.def"""
import re
import sys

print("#include <mscclc/dsl.hpp>\nusing namespace mscclc;")
for rooted, kind in re.findall(r"^(ROOTED_)?COLLECTIVE\((\w+),", open(sys.argv[1]).read(), re.M):
    root = "1, " if rooted else ""
    print(f"""MSCCLC_ALGORITHM void a{kind}() {{
  CollectiveProgram program("p", {kind}(2, 3, {root}true));
  Rank(0).barrier({{0}});
}}""")
