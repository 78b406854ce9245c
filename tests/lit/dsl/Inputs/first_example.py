"""usage: first_example.py FILE [N]: the first example of C++ in a Markdown file, or the N-th, or the one in a header's
opening comment, as a source."""
import sys

lines = open(sys.argv[1], encoding="utf-8").read().splitlines()
if sys.argv[1].endswith(".md"):
    begin = 0
    for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 1):
        begin = lines.index("```cpp", begin) + 1
    print("\n".join(lines[begin:lines.index("```", begin)]))
else:
    example = "//   "
    begin = next(i for i, line in enumerate(lines) if line.startswith(example))
    print("#include <mscclc/dsl.hpp>\nusing namespace mscclc;")
    for line in lines[begin:]:
        if not line.startswith(example):
            break
        print(line[len(example):])
