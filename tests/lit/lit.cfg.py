"""lit configuration: what a user types and what comes out."""
import os
import shutil

import lit.formats

config.name = "mscclc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".cpp", ".ir", ".json", ".test", ".xml"]
config.excludes = ["Inputs", "lit.cfg.py"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = config.mscclc_lit_output

config.environment["PATH"] = os.pathsep.join(
    [config.mscclc_bin_dir, config.llvm_tools_dir, os.environ["PATH"]]
)
config.environment["LC_ALL"] = "C"
if "ASAN_OPTIONS" in os.environ:
    config.environment["ASAN_OPTIONS"] = os.environ["ASAN_OPTIONS"]

config.substitutions.append(("%mscclc_program", os.path.join(config.mscclc_bin_dir, "mscclc")))
config.substitutions.append(("%dsl_headers", os.path.join(config.mscclc_source_dir, "frontend", "dsl", "include")))
tools = os.path.join(config.mscclc_source_dir, "tests", "tools")
config.substitutions.append(("%verify", f"{config.python} {tools}/verify_diagnostics.py --program={config.mscclc_bin_dir}/mscclc"))
config.substitutions.append(("%mistakes", f"{config.python} {tools}/mistakes.py --program={config.mscclc_bin_dir}/mscclc"))
config.substitutions.append(("%emit_dsl", f"{config.python} {tools}/emit_dsl.py {config.mscclc_bin_dir}/mscclc"))
config.substitutions.append(("%mscclc", os.path.join(config.mscclc_bin_dir, "mscclc")))
config.substitutions.append(("%break_plans", os.path.join(config.mscclc_bin_dir, "..", "tests", "fuzz", "break_plans")))
config.substitutions.append(("%scripts", os.path.join(config.mscclc_source_dir, "scripts")))
config.substitutions.append(("%samples", os.path.join(config.mscclc_source_dir, "samples")))
config.substitutions.append(("%plans", os.path.join(config.mscclc_source_dir, "tests", "conformance", "plans")))
config.substitutions.append(("%python", config.python))
for feature in config.mscclc_features.split():
    config.available_features.add(feature)
if shutil.which("dot"):
    config.available_features.add("dot")
