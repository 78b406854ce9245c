"""The C interface of the runtime (runtime.h and runtime_abi.h) in ctypes. A test compares layouts with the headers."""
from __future__ import annotations

import ctypes
import threading
from ctypes import POINTER, c_char_p, c_int32, c_uint32, c_uint64, c_void_p
from typing import Any

from . import install
from .errors import CallError, LibraryError, NoKernelError

DTYPES = {"float32": 0, "float16": 1, "bfloat16": 2, "int32": 3, "uint32": 4, "uint8": 5, "float64": 6, "int64": 7,
          "uint64": 8, "int8": 9, "float8_e4m3fn": 10, "float8_e5m2": 11}
DTYPE_BYTES = {"float32": 4, "float16": 2, "bfloat16": 2, "int32": 4, "uint32": 4, "uint8": 1, "float64": 8, "int64": 8,
               "uint64": 8, "int8": 1, "float8_e4m3fn": 1, "float8_e5m2": 1}
# The names in lists of kernels and on the command line.
SHORT_NAMES = {"f32": "float32", "f16": "float16", "bf16": "bfloat16", "i32": "int32", "u32": "uint32", "u8": "uint8",
               "f64": "float64", "i64": "int64", "u64": "uint64", "i8": "int8", "f8e4m3": "float8_e4m3fn",
               "f8e5m2": "float8_e5m2"}
# Their names in emitted kernels.
CXX_TYPES = {"float": "f32", "Half": "f16", "Bfloat16": "bf16", "int32_t": "i32", "uint32_t": "u32", "uint8_t": "u8",
             "double": "f64", "int64_t": "i64", "uint64_t": "u64", "int8_t": "i8", "Float8E4m3": "f8e4m3",
             "Float8E5m2": "f8e5m2"}
REDUCE_OPS = {"sum": 0, "min": 1, "max": 2, "prod": 3}
SCALINGS = {"none": 0, "input": 1, "average": 2}
PLATFORMS = {"auto": 0, "cuda": 1, "host": 2}
ERROR_NO_KERNEL, ERROR_RENDEZVOUS = 102, 106
IN_PLACE, ONE_START, ROOTED, TAKES_COUNTS, PACKED_ROWS, SPLIT, ONCE_PER_RANK = 1, 64, 128, 2048, 4096, 16384, 32768
PARTS = {"": 0, "send": 1, "receive": 2}  # of a launch
#: Of the "status" of senders and of the own rank: MscclcCountStatus.
COUNTS_CUT, RECEIVED_CUT = 1, 2
INDEX_PARTS = 32
# The names that the runtime's selector gives to flags of kernels: their tags.
TAGS = {2: "packets", 4: "double-scratch", 8: "port", 16: "multicast", 32: "baked"}
ON_HOST = 0xFFFFFFFF
NO_LIMIT = 2**64 - 1


# Structures that the runtime fills in end with space for members of later versions. These keep their defaults.
_LATER = ("later", ctypes.c_uint8 * 256)


class Variant(ctypes.Structure):
    _fields_ = [("dtype", c_uint32), ("reduce_op", c_uint32), ("packet", c_uint32), ("reserved", c_uint32),
                ("launch", c_void_p),
                ("resident_blocks", ctypes.CFUNCTYPE(c_int32, c_uint32, POINTER(c_uint32)))]


class KernelStruct(ctypes.Structure):
    """The beginning of MscclcKernel. The runtime has already refused kernels of another version."""

    _fields_ = [("abi_magic", c_uint32), ("abi_version", c_uint32), ("name", c_char_p), ("collective", c_char_p),
                ("tool", c_char_p), ("source", c_char_p), ("switches", c_char_p), ("tags", c_char_p),
                ("ranks", c_uint32),
                ("flags", c_uint32), ("threads", c_uint32), ("max_blocks", c_uint32), ("shared_bytes", c_uint32),
                ("message_shares", c_uint32), ("min_message_bytes", c_uint64), ("max_message_bytes", c_uint64),
                ("buffer_alignment", c_uint64), ("root", c_uint32), ("num_variants", c_uint32),
                ("variants", POINTER(Variant)),
                ("input_bytes", ctypes.CFUNCTYPE(c_uint64, c_uint32, c_uint64)),
                ("output_bytes", ctypes.CFUNCTYPE(c_uint64, c_uint32, c_uint64))]


AllgatherFunction = ctypes.CFUNCTYPE(c_int32, c_void_p, c_void_p, c_uint64)


class CommunicatorOptions(ctypes.Structure):
    """MscclcCommunicatorOptions."""

    _fields_ = [("options_bytes", c_uint32), ("ranks", c_uint32), ("first_local_rank", c_uint32),
                ("local_ranks", c_uint32), ("devices", POINTER(c_int32)), ("platform", c_uint32),
                ("unchained", c_uint32), ("rendezvous", c_char_p), ("setup_timeout_ms", c_uint64),
                ("wait_timeout_ms", c_uint64), ("report_after_ms", c_uint64),
                ("allgather", AllgatherFunction), ("allgather_context", c_void_p), ("process", c_uint32),
                ("processes", c_uint32), ("nccl", POINTER(c_void_p)), ("nccl_library", c_void_p), _LATER]


class Staging(ctypes.Structure):
    """MscclcStaging."""

    _fields_ = [("input", c_void_p), ("output", c_void_p), ("input_bytes", c_uint64), ("output_bytes", c_uint64),
                ("factor", c_uint64), ("factor_at", c_void_p), ("scaling", c_uint32), ("keeps_input", c_uint32)]


class Counts(ctypes.Structure):
    """MscclcCounts."""

    _fields_ = [("sent", c_void_p), ("received", c_void_p), ("sent_offsets", c_void_p), ("received_offsets", c_void_p),
                ("status", c_void_p), ("in_rows", c_uint64), ("out_rows", c_uint64), ("width", c_uint32), ("reserved", c_uint32),
                ("tables", POINTER(c_void_p))]


class Payload(ctypes.Structure):
    """MscclcPayload."""

    _fields_ = [("from", c_void_p), ("to", c_void_p), ("bytes", c_uint64)]


MAX_PAYLOADS = 4


class Index(ctypes.Structure):
    """MscclcIndex."""

    _fields_ = [("entries", c_void_p), ("weights", c_void_p), ("payloads", Payload * MAX_PAYLOADS),
                ("received", c_void_p), ("cells", c_void_p), ("status", c_void_p), ("work", c_void_p), ("ready", c_void_p),
                ("rows", c_uint64), ("choices", c_uint32), ("width", c_uint32), ("align", c_uint32), ("reserved", c_uint32)]


class CallArray(ctypes.Structure):
    """MscclcCallArray."""

    _fields_ = [("name", c_char_p), ("pointers", POINTER(c_void_p))]


class Call(ctypes.Structure):
    """MscclcCall."""

    _fields_ = [("call_bytes", c_uint32), ("dtype", c_uint32), ("reduce_op", c_uint32), ("packet", c_uint32),
                ("input", c_void_p), ("output", c_void_p), ("input_offset", c_uint64), ("output_offset", c_uint64),
                ("message_bytes", c_uint64), ("threads", c_uint32), ("pdl", c_uint32),
                ("streams", POINTER(c_void_p)), ("staging", POINTER(Staging)),
                ("row_bytes", c_uint64), ("arrays", POINTER(CallArray)), ("num_arrays", c_uint32),
                ("part", c_uint32), ("counts", POINTER(Counts)), ("index", POINTER(Index)), _LATER]


class QueryStruct(ctypes.Structure):
    """MscclcQuery."""

    _fields_ = [("collective", c_char_p), ("ranks", c_uint32), ("dtype", c_uint32), ("reduce_op", c_uint32),
                ("in_place", c_uint32), ("message_bytes", c_uint64), ("tags", c_char_p), ("root", c_uint32)]


KernelPointer = POINTER(KernelStruct)
SelectFunction = ctypes.CFUNCTYPE(c_int32, POINTER(QueryStruct), POINTER(KernelPointer), c_uint32, c_void_p)

# Name, result, arguments. "status" is an int32_t that is MSCCLC_OK or an error.
_FUNCTIONS: list[tuple[str, Any, list[Any]]] = [
    ("error_name", c_char_p, [c_int32]),
    ("last_error", c_char_p, []),
    ("runtime_version", c_char_p, []),
    ("communicator_options_init", None, [POINTER(CommunicatorOptions)]),
    ("communicator_create", "status", [POINTER(CommunicatorOptions), POINTER(c_void_p)]),
    ("communicator_destroy", "status", [c_void_p]),
    ("communicator_ranks", c_uint32, [c_void_p]),
    ("communicator_first_local_rank", c_uint32, [c_void_p]),
    ("communicator_local_ranks", c_uint32, [c_void_p]),
    ("communicator_device", c_int32, [c_void_p, c_uint32]),
    ("communicator_platform", c_uint32, [c_void_p]),
    ("communicator_stream", c_void_p, [c_void_p, c_uint32]),
    ("communicator_synchronize", "status", [c_void_p]),
    ("communicator_barrier", "status", [c_void_p]),
    ("communicator_health", "status", [c_void_p]),
    ("communicator_abort", "status", [c_void_p, c_char_p]),
    ("communicator_reset", "status", [c_void_p]),
    ("buffer_allocate", "status", [c_void_p, c_uint64, POINTER(c_void_p)]),
    ("buffer_register", "status", [c_void_p, POINTER(c_void_p), c_uint64, POINTER(c_void_p)]),
    ("buffer_release", "status", [c_void_p]),
    ("buffer_address", c_void_p, [c_void_p, c_uint32]),
    ("buffer_multicast", c_uint32, [c_void_p]),
    ("buffer_write", "status", [c_void_p, c_uint32, c_uint64, c_void_p, c_uint64]),
    ("buffer_read", "status", [c_void_p, c_uint32, c_uint64, c_void_p, c_uint64]),
    ("instance_create_for_rows", "status", [c_void_p, KernelPointer, c_uint64, c_uint64, POINTER(c_void_p)]),
    ("instance_destroy", "status", [c_void_p]),
    ("instance_scratch_bytes", c_uint64, [c_void_p]),
    ("call_init", None, [POINTER(Call)]),
    ("launch", "status", [c_void_p, POINTER(Call)]),
    ("load_library", "status", [c_char_p, POINTER(KernelPointer), c_uint32, POINTER(c_uint32)]),
    ("selector_create", "status", [POINTER(c_void_p)]),
    ("selector_destroy", None, [c_void_p]),
    ("selector_add", "status", [c_void_p, KernelPointer, c_char_p, c_uint64, c_uint64, c_int32]),
    ("selector_set_function", "status", [c_void_p, SelectFunction, c_void_p]),
    ("select", "status", [c_void_p, POINTER(QueryStruct), POINTER(KernelPointer)]),
]


def _check(library: ctypes.CDLL, code: int) -> int:
    if code == 0:
        return code
    name = library.mscclc_error_name(code).decode()
    text = library.mscclc_last_error().decode(errors="replace")
    raise (NoKernelError if code == ERROR_NO_KERNEL else CallError)(code, name, text)


def _open() -> ctypes.CDLL:
    path = install.runtime_library()
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise LibraryError(f"the runtime cannot be loaded: {error}") from error
    for name, result, arguments in _FUNCTIONS:
        try:
            function = getattr(library, "mscclc_" + name)
        except AttributeError:
            raise LibraryError(f"{path} has no function mscclc_{name}: it is of another version") from None
        function.argtypes = arguments
        if result == "status":
            function.restype = c_int32
            function.errcheck = lambda code, *_: _check(library, code)
        else:
            function.restype = result
    return library


_library: ctypes.CDLL | None = None
_lock = threading.Lock()


def runtime() -> ctypes.CDLL:
    """Returns the library of the runtime. Its calls raise CallError. The first call loads it permanently. Raises
    LibraryError."""
    global _library
    with _lock:
        if _library is None:
            _library = _open()
        return _library
