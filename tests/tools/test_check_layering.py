#!/usr/bin/env python3
"""Tests check_layering.py: small trees, each with one include that is right or wrong."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).with_name("check_layering.py")


class CheckLayering(unittest.TestCase):
    def check(self, files):
        """Returns exit code and output of the check for a tree of these files."""
        with tempfile.TemporaryDirectory() as root:
            for name, text in files.items():
                path = pathlib.Path(root, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            run = subprocess.run([sys.executable, CHECK, root], capture_output=True, text=True, check=False)
            return run.returncode, run.stdout

    def refuses(self, source, include, room, **others):
        """Checks that only the include in line 3 of `source` is reported, as one that `room` may not have."""
        code, output = self.check({source: f"// A comment.\n#pragma once\n{include}\n", **others})
        self.assertEqual(code, 1)
        name = include.split(None, 1)[1]
        self.assertEqual(output.splitlines()[0], f"{source}:3: {room} may not include {name}")
        self.assertIn(" 1 forbidden includes", output)

    def accepts(self, source, include, **others):
        code, output = self.check({source: include + "\n", **others})
        self.assertEqual((code, output.split(", ")[1]), (0, "0 forbidden includes\n"), output)

    def test_outside_header_in_quotes(self):
        self.refuses("ir/program.h", '#include "clang/AST/Decl.h"', "ir")

    def test_outside_header_in_angles(self):
        self.refuses("ir/program.h", "#include <clang/AST/Decl.h>", "ir")

    def test_llvm_is_for_the_front_end(self):
        self.refuses("passes/run/order.cpp", '#include "llvm/ADT/DenseMap.h"', "passes/run")
        self.refuses("frontend/trace/trace.h", '#include "llvm/ADT/DenseMap.h"', "frontend/trace")
        self.accepts("frontend/eval/machine_code.cpp", '#include "llvm/IR/Module.h"')

    def test_clang_is_for_its_room_in_the_front_end(self):
        self.refuses("frontend/eval/arena.h", '#include "clang/AST/Decl.h"', "frontend/eval")
        self.refuses("frontend/lower/places.h", "#include <clang/AST/Decl.h>", "frontend/lower")
        self.accepts("frontend/clang/codegen.h", '#include "clang/AST/Decl.h"')

    def test_the_longest_name_of_an_outside_header_decides(self):
        self.accepts("frontend/lower/emit_ops.h", "#include <llvm/ADT/DenseMap.h>")
        self.refuses("frontend/lower/emit_ops.h", "#include <llvm/IR/Module.h>", "frontend/lower")

    def test_packages(self):
        self.refuses("ir/parser.cpp", "#include <nlohmann/json.hpp>", "ir")
        self.accepts("backend-json/reader.cpp", "#include <nlohmann/json.hpp>")
        self.refuses("passes/pass.h", '#include "CLI/CLI.hpp"', "passes")
        self.accepts("compiler/options.cpp", "#include <CLI/CLI.hpp>")
        self.refuses("backend-cuda/emit.h", "#include <cuda_runtime.h>", "backend-cuda")

    def test_room_to_room_in_quotes(self):
        self.refuses("ir/program.h", '#include "passes/pass.h"', "ir", **{"passes/pass.h": ""})

    def test_room_to_room_in_angles(self):
        self.refuses("backend-json/plan.h", "#include <passes/pass.h>", "backend-json", **{"passes/pass.h": ""})

    def test_room_to_room_though_the_file_is_not_there(self):
        self.refuses("ir/program.h", '#include "compiler/generated.h"', "ir")

    def test_rooms_inside_passes(self):
        transform = {"passes/transform/fuse.h": "", "passes/analysis/order.h": ""}
        self.refuses("passes/analysis/limits.h", '#include "passes/transform/fuse.h"', "passes/analysis", **transform)
        self.refuses("passes/verify/data.cpp", '#include "passes/transform/fuse.h"', "passes/verify", **transform)
        self.refuses("passes/simulate/lane.cpp", '#include "passes/transform/fuse.h"', "passes/simulate", **transform)
        self.accepts("passes/transform/infer.cpp", '#include "passes/analysis/order.h"', **transform)
        self.refuses("passes/pass_manager.cpp", '#include "passes/transform/fuse.h"', "passes", **transform)

    def test_rooms_inside_frontend(self):
        self.refuses("frontend/lower/places.h", '#include "frontend/eval/arena.h"', "frontend/lower",
                     **{"frontend/eval/arena.h": ""})
        self.refuses("frontend/eval/arena.h", '#include "frontend/clang/codegen.h"', "frontend/eval",
                     **{"frontend/clang/codegen.h": ""})

    def test_path_through_the_parent_folder(self):
        self.refuses("passes/analysis/limits.h", '#include "../transform/fuse.h"', "passes/analysis",
                     **{"passes/transform/fuse.h": ""})

    def test_headers_of_the_language(self):
        header = {"frontend/dsl/include/mscclc/dsl.hpp": ""}
        self.refuses("passes/pass.h", "#include <mscclc/dsl.hpp>", "passes", **header)
        self.accepts("samples/ring.cpp", "#include <mscclc/dsl.hpp>", **header)

    def test_what_the_compiler_sees_of_the_runtime(self):
        folder = "runtime-min/include/mscclc"
        runtime = {f"{folder}/{name}": "" for name in ("dtypes.def", "runtime_abi.h", "runtime.h")}
        self.accepts("passes/simulate/numbers.cpp", f'#include "{folder}/dtypes.def"', **runtime)
        self.accepts("backend-cuda/specialise.cpp", f'#include "{folder}/runtime_abi.h"', **runtime)
        self.accepts("runtime-min/src/launch.cpp", "#include <mscclc/runtime_abi.h>", **runtime)
        self.refuses("passes/simulate/numbers.cpp", f'#include "{folder}/runtime_abi.h"', "passes/simulate", **runtime)
        self.refuses("backend-cuda/specialise.cpp", f'#include "{folder}/runtime.h"', "backend-cuda", **runtime)
        self.refuses(f"{folder}/dtypes.def", '#include "runtime.h"', f"{folder}/dtypes.def",
                     **{f"{folder}/runtime.h": ""})

    def test_what_is_not_an_include(self):
        self.accepts("ir/program.h", '// #include "clang/AST/Decl.h"')

    def test_a_tree_without_sources_fails(self):
        self.assertEqual(self.check({"README.md": ""}), (1, "0 files, 0 forbidden includes\n"))


if __name__ == "__main__":
    unittest.main()
