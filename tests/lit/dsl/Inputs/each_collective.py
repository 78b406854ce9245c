"""Writes an algorithm for each collective with a chunk factor: one whose only operation is a barrier. argv: collectives.def"""
import re
import sys

print("#include <mscclc/dsl.hpp>\nusing namespace mscclc;")
ARGUMENTS = {"": "3, true", "ROOTED_": "3, 1, true", "ROW_": "RowLayout::Packed",
             "EXPERT_": "3, ExpertLayout::RankMajor"}
for form, kind in re.findall(r"^((?:ROOTED|ROW|EXPERT)_|)COLLECTIVE\((\w+),", open(sys.argv[1]).read(), re.M):
    print(f"""MSCCLC_ALGORITHM void a{kind}() {{
  CollectiveProgram program("p", {kind}(2, {ARGUMENTS[form]}));
  Rank(0).barrier({{0}});
}}""")
