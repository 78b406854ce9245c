"""usage: first_example.py FILE: the first example of C++ in a Markdown file, or in a header's opening comment, as a source."""
import sys

lines = open(sys.argv[1], encoding="utf-8").read().splitlines()
if sys.argv[1].endswith(".md"):
    begin = lines.index("```cpp") + 1
    print("\n".join(lines[begin:lines.index("```", begin)]))
else:
    example = "//   "
    begin = next(i for i, line in enumerate(lines) if line.startswith(example))
    print("#include <mscclc/dsl.hpp>\nusing namespace mscclc;")
    for line in lines[begin:]:
        if not line.startswith(example):
            break
        print(line[len(example):])
