"""CUDA devices, used through the driver for functions that the interface of the runtime does not have."""

from __future__ import annotations

import ctypes
from typing import Any, Iterable

from .errors import Error, LibraryError


def _check(code: int, function: Any, _arguments: Any) -> int:
    if code != 0:
        raise Error(f"{function.__name__} of the CUDA driver fails with error {code}")
    return code


def _driver() -> Any:
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        raise LibraryError(f"the CUDA driver cannot be loaded: {error}") from error
    pointer = ctypes.POINTER
    for name, arguments in (
        ("cuInit", [ctypes.c_uint]),
        ("cuDeviceGet", [pointer(ctypes.c_int), ctypes.c_int]),
        ("cuDevicePrimaryCtxRetain", [pointer(ctypes.c_void_p), ctypes.c_int]),
        ("cuDevicePrimaryCtxRelease_v2", [ctypes.c_int]),
        ("cuCtxPushCurrent_v2", [ctypes.c_void_p]),
        ("cuCtxPopCurrent_v2", [pointer(ctypes.c_void_p)]),
        ("cuCtxSynchronize", []),
    ):
        function = getattr(driver, name)
        function.argtypes, function.errcheck = arguments, _check
    return driver


def synchronize(numbers: Iterable[int]) -> None:
    """Waits until the devices with these numbers have finished all work, on any stream. Raises LibraryError if there
    is no driver, and Error if work on a device failed."""
    driver = _driver()
    driver.cuInit(0)
    for number in sorted(set(numbers)):
        device, context = ctypes.c_int(), ctypes.c_void_p()
        driver.cuDeviceGet(ctypes.byref(device), number)
        driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
        try:
            driver.cuCtxPushCurrent_v2(context)
            try:
                driver.cuCtxSynchronize()
            finally:
                driver.cuCtxPopCurrent_v2(ctypes.byref(context))
        finally:
            driver.cuDevicePrimaryCtxRelease_v2(device)
