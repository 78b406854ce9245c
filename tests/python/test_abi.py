"""Tests that the structures of the package equal those of the headers."""

import ctypes
import re
import subprocess

from mscclc import abi, install

STRUCTURES = {
    "MscclcVariant": abi.Variant,
    "MscclcKernel": abi.KernelStruct,
    "MscclcCall": abi.Call,
    "MscclcCallArray": abi.CallArray,
    "MscclcCounts": abi.Counts,
    "MscclcIndex": abi.Index,
    "MscclcPayload": abi.Payload,
    "MscclcStaging": abi.Staging,
    "MscclcCommunicatorOptions": abi.CommunicatorOptions,
    "MscclcQuery": abi.QueryStruct,
}
PREFIXED = {
    "DTYPES": (
        "MSCCLC_",
        {
            "float32": "F32",
            "float16": "F16",
            "bfloat16": "BF16",
            "int32": "I32",
            "uint32": "U32",
            "uint8": "U8",
            "float64": "F64",
            "int64": "I64",
            "uint64": "U64",
            "int8": "I8",
            "float8_e4m3fn": "F8E4M3",
            "float8_e5m2": "F8E5M2",
        },
    ),
    "REDUCE_OPS": ("MSCCLC_", {"sum": "SUM", "min": "MIN", "max": "MAX", "prod": "PROD"}),
    "SCALINGS": ("MSCCLC_", {"none": "NO_SCALING", "input": "SCALE_INPUT", "average": "AVERAGE"}),
    "PLATFORMS": ("MSCCLC_PLATFORM_", {"auto": "AUTO", "cuda": "CUDA", "host": "HOST"}),
}
CONSTANTS = {
    "MSCCLC_ON_HOST": abi.ON_HOST,
    "MSCCLC_MAX_PAYLOADS": abi.MAX_PAYLOADS,
    "MSCCLC_ERROR_NO_KERNEL": abi.ERROR_NO_KERNEL,
    "MSCCLC_ERROR_RENDEZVOUS": abi.ERROR_RENDEZVOUS,
    "MSCCLC_IN_PLACE": abi.IN_PLACE,
    "MSCCLC_ONE_START": abi.ONE_START,
    "MSCCLC_ROOTED": abi.ROOTED,
    "MSCCLC_TAKES_COUNTS": abi.TAKES_COUNTS,
    "MSCCLC_PACKED_ROWS": abi.PACKED_ROWS,
    "MSCCLC_SPLIT": abi.SPLIT,
    "MSCCLC_ONCE_PER_RANK": abi.ONCE_PER_RANK,
    "MSCCLC_SEND": abi.PARTS["send"],
    "MSCCLC_RECEIVE": abi.PARTS["receive"],
    "MSCCLC_COUNTS_CUT": abi.COUNTS_CUT,
    "MSCCLC_INDEX_PARTS": abi.INDEX_PARTS,
    "MSCCLC_RECEIVED_CUT": abi.RECEIVED_CUT,
    **{
        name: next(flag for flag, tag in abi.TAGS.items() if tag == its)
        for name, its in (
            ("MSCCLC_USES_PACKETS", "packets"),
            ("MSCCLC_DOUBLE_SCRATCH", "double-scratch"),
            ("MSCCLC_NEEDS_PORT", "port"),
            ("MSCCLC_USES_MULTICAST", "multicast"),
            ("MSCCLC_SPECIALISED_SIZE", "baked"),
        )
    },
}


def test_layouts_and_constants(tmp_path):
    lines, expected = [], []
    for name, structure in STRUCTURES.items():
        for field in (name for name, _ in structure._fields_ if name != "later"):
            member = getattr(structure, field)
            lines.append(
                f'printf("{name}.{field} %zu %zu\\n", offsetof({name}, {field}), sizeof((({name} *)0)->{field}));'
            )
            expected.append(f"{name}.{field} {member.offset} {member.size}")
        # The runtime may fill in all of them but kernels, of which only the beginning is read.
        lines.append(f'printf("{name} %d\\n", sizeof({name}) <= {ctypes.sizeof(structure)});')
        expected.append(f"{name} {int(structure is not abi.KernelStruct)}")
    numbers = dict(CONSTANTS)
    for table, (prefix, names) in PREFIXED.items():
        assert getattr(abi, table).keys() == names.keys()
        if table == "DTYPES":
            assert abi.SHORT_NAMES == {short.lower(): name for name, short in names.items()}
            table_of_types = (install.include_folder() / "mscclc/dtypes.def").read_text()
            rows = re.findall(r'^MSCCLC_DTYPE\(\w+, \d+, \d+, "(\w+)", (\w+)\)$', table_of_types, re.M)
            assert abi.CXX_TYPES == {cxx: name for name, cxx in rows}
        numbers |= {prefix + names[key]: value for key, value in getattr(abi, table).items()}
    for name, value in numbers.items():
        lines.append(f'printf("{name} %lld\\n", (long long){name});')
        expected.append(f"{name} {value}")
    source = tmp_path / "layout.c"
    source.write_text(
        "#include <mscclc/runtime.h>\n#include <stddef.h>\n#include <stdio.h>\nint main(void) {\n"
        + "\n".join(lines)
        + "\nreturn 0;\n}\n"
    )
    subprocess.run(["cc", "-I", str(install.include_folder()), str(source), "-o", str(tmp_path / "layout")], check=True)
    found = subprocess.run([str(tmp_path / "layout")], capture_output=True, text=True, check=True).stdout.splitlines()
    assert found == expected


def test_the_runtime_says_its_version():
    import mscclc

    assert mscclc.runtime_version().count(".") == 2
