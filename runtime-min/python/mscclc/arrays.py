"""The memory of arrays of other packages, such as NumPy, PyTorch and CuPy. It is found by __cuda_array_interface__,
__array_interface__ or DLPack."""

from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass
from typing import Any

from . import abi

_BY_TYPESTR = {
    "<f4": "float32",
    "<f2": "float16",
    "<i4": "int32",
    "<u4": "uint32",
    "|u1": "uint8",
    "<f8": "float64",
    "<i8": "int64",
    "<u8": "uint64",
    "|i1": "int8",
}
# The array interfaces have no codes for these types. ml_dtypes identifies them by name.
_NAMED = ("bfloat16", "float8_e4m3fn", "float8_e5m2")
# (DLPack's type code, bits) → name.
_BY_DLPACK = {
    (2, 32): "float32",
    (2, 16): "float16",
    (4, 16): "bfloat16",
    (0, 32): "int32",
    (1, 32): "uint32",
    (1, 8): "uint8",
    (2, 64): "float64",
    (0, 64): "int64",
    (1, 64): "uint64",
    (0, 8): "int8",
    (10, 8): "float8_e4m3fn",
    (12, 8): "float8_e5m2",
}
_DLPACK_ON_HOST = (1, 3)  # plain and pinned host memory


@dataclass(frozen=True)
class Memory:
    """The memory of an array. `dtype` is a name of mscclc.DTYPES. `owner` keeps the memory alive."""

    address: int
    bytes: int
    dtype: str
    on_host: bool
    owner: Any


def _is_packed(shape: tuple[int, ...], strides: "tuple[int, ...] | None", step: int) -> bool:
    """True if the elements are contiguous in C order. `step` is the stride of the last dimension, in the unit of
    `strides`."""
    if strides is None or math.prod(shape) == 0:
        return True
    for extent, stride in zip(reversed(shape), reversed(strides)):
        if extent != 1 and stride != step:
            return False
        step *= extent
    return True


def _wrong_type(array: Any, found: object) -> TypeError:
    return TypeError(f"elements of type {found} ({type(array).__name__}); there are {', '.join(abi.DTYPES)}")


def _from_interface(array: Any, interface: dict[str, Any], on_host: bool) -> Memory:
    name = str(getattr(getattr(array, "dtype", None), "name", ""))
    dtype = name if name in _NAMED else _BY_TYPESTR.get(interface["typestr"])
    if dtype is None:
        raise _wrong_type(array, name or interface["typestr"])
    address, read_only = interface["data"]
    if read_only:
        raise ValueError("the array is read-only; kernels may write to every buffer that they get")
    shape, element = tuple(interface["shape"]), abi.DTYPE_BYTES[dtype]
    if not _is_packed(shape, interface.get("strides"), element):
        raise ValueError("the array is not contiguous; pass a contiguous copy")
    return Memory(address or 0, math.prod(shape) * element, dtype, on_host, array)


class _DLDataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("dtype", _DLDataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


_get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_get_pointer.restype, _get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def _from_dlpack(array: Any) -> Memory:
    # The capsule is not consumed. It releases the memory when Python collects it.
    capsule = array.__dlpack__()
    tensor = _DLTensor.from_address(_get_pointer(capsule, b"dltensor"))
    dtype = _BY_DLPACK.get((tensor.dtype.code, tensor.dtype.bits)) if tensor.dtype.lanes == 1 else None
    if dtype is None:
        raise _wrong_type(array, getattr(array, "dtype", f"DLPack code {tensor.dtype.code}, {tensor.dtype.bits} bits"))
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    strides = tuple(tensor.strides[i] for i in range(tensor.ndim)) if tensor.strides else None
    if not _is_packed(shape, strides, 1):
        raise ValueError("the array is not contiguous; pass a contiguous copy")
    size = math.prod(shape) * abi.DTYPE_BYTES[dtype]
    return Memory(
        (tensor.data or 0) + tensor.byte_offset, size, dtype, tensor.device_type in _DLPACK_ON_HOST, (array, capsule)
    )


def memory_of(array: Any) -> Memory:
    """Returns the memory of an array. Raises TypeError if `array` is not an array or has another element type. Raises
    ValueError if the memory is read-only or not contiguous."""
    interface = getattr(array, "__cuda_array_interface__", None)
    # That interface has no codes for PyTorch's bfloat16 and 8-bit floats, and calls them raw bytes. DLPack has codes
    # for them.
    if interface is not None and interface["typestr"][1:2] == "V" and hasattr(array, "__dlpack__"):
        return _from_dlpack(array)
    if interface is not None:
        return _from_interface(array, interface, on_host=False)
    interface = getattr(array, "__array_interface__", None)
    if interface is not None:
        return _from_interface(array, interface, on_host=True)
    if hasattr(array, "__dlpack__"):
        return _from_dlpack(array)
    raise TypeError(
        f"{type(array).__name__} is no array: it has none of __cuda_array_interface__, __array_interface__ "
        "and __dlpack__"
    )
