"""Selects the kernel of a call, by the sizes, tags and priorities of the registrations, or by a function."""

from __future__ import annotations

import ctypes
import threading
from typing import Any, Callable, Iterable, Unpack

from . import abi, standin
from .errors import NoKernelError
from .kernels import Kernel
from .query import Choice, Entry, Query, Rule, code_of


class Selector:
    """A set of kernels to select from. From any thread."""

    def __init__(self) -> None:
        #: The runtime's selectors: one for each type that an entry names, and one under "" for all other types.
        self._handles: dict[str, ctypes.c_void_p] = {}
        self._lock = threading.RLock()
        self._kernels: dict[int, Kernel] = {}
        self._entries: list[Entry] = []
        self._choice: Choice | None = None
        self._callback: object = None
        self._raised: BaseException | None = None
        self._query: Query | None = None

    def _native(self, dtype: str) -> ctypes.c_void_p:
        key = dtype if any(dtype in entry.types for entry in self._entries) else ""
        if key not in self._handles:
            handle = ctypes.c_void_p()
            abi.runtime().mscclc_selector_create(ctypes.byref(handle))
            self._handles[key] = handle
            for entry in self._entries:
                if not entry.types or key in entry.types:
                    self._add_native(handle, entry)
            abi.runtime().mscclc_selector_set_function(handle, self._callback or abi.SelectFunction(), None)
        return self._handles[key]

    @staticmethod
    def _add_native(handle: ctypes.c_void_p, entry: Entry) -> None:
        abi.runtime().mscclc_selector_add(
            handle,
            entry.kernel.pointer,
            ",".join(entry.tags).encode(),
            entry.min_bytes,
            entry.max_bytes,
            entry.priority,
        )

    @property
    def entries(self) -> list[Entry]:
        """Returns the entries, in the order in which they were added."""
        with self._lock:
            return list(self._entries)

    def copy(self, platform: str) -> "Selector":
        """Returns a selector with the kernels for a platform ("host" or "cuda"), and with the function if there is
        one."""
        return self._with(entry for entry in self.entries if entry.kernel.platform == platform)

    def in_one_order(self) -> "Selector":
        """Returns a selector with the kernels whose sums have one order, which is the only one among the kernels for
        the same collective, ranks and root. It has the function, too."""
        orders: dict[object, set[str]] = {}

        def orders_of(kernel: Kernel) -> set[str]:
            return orders.setdefault((kernel.collective, kernel.ranks, kernel.root), set())

        entries = [entry for entry in self.entries if entry.kernel.sums]
        for entry in entries:
            orders_of(entry.kernel).add(entry.kernel.sums or "")
        return self._with(entry for entry in entries if len(orders_of(entry.kernel)) == 1)

    def _with(self, entries: Iterable[Entry]) -> "Selector":
        made = Selector()
        for entry in entries:
            made._append(entry)
        if made.entries:
            made.set_function(self._choice)
        return made

    def add(self, kernel: Kernel, **rule: Unpack[Rule]) -> None:
        """Adds a kernel, for the calls of its rule."""
        self._append(Entry(kernel, **rule))

    def _append(self, entry: Entry) -> None:
        with self._lock:
            before = self._native("")
            if not entry.types:
                self._add_native(before, entry)
            self._kernels[ctypes.addressof(entry.kernel.pointer.contents)] = entry.kernel
            self._entries.append(entry)
            entry.kernel.tags |= set(entry.tags)
            # The selectors of types are made again, with the entries in their order.
            for name in [name for name in self._handles if name]:
                abi.runtime().mscclc_selector_destroy(self._handles.pop(name))

    def set_function(self, choice: Choice | None) -> None:
        """Lets a function decide; None: the rules of `add` decide again."""
        with self._lock:
            # The runtime keeps the pointer, so the callback must stay alive.
            self._choice = choice
            self._callback = abi.SelectFunction(self._decider(choice)) if choice else abi.SelectFunction()
            self._native("")
            for handle in self._handles.values():
                abi.runtime().mscclc_selector_set_function(handle, self._callback, None)

    def _decider(self, choice: Choice) -> Callable[..., int]:
        def decide(_query: object, pointers: Any, count: int, _user: object) -> int:
            candidates = [self._kernels[ctypes.addressof(pointers[i].contents)] for i in range(count)]
            try:
                assert self._query is not None
                picked = choice(self._query, candidates)
                return -1 if picked is None else candidates.index(picked)
            except BaseException as error:  # an exception cannot pass through the runtime: select raises it
                self._raised = error
                return -1

        return decide

    def select(self, query: Query) -> Kernel:
        """Returns the kernel for a call. Raises NoKernelError, with the reason for each kernel, or the exception of
        the function that decides."""
        asked = abi.QueryStruct(
            query.collective.encode(),
            query.ranks,
            code_of(abi.DTYPES, "element type", query.dtype),
            reduce_op(query.op),
            int(query.in_place),
            query.bytes,
            ",".join(query.tags).encode(),
            query.root,
        )
        found = abi.KernelPointer()
        with self._lock:
            self._query, self._raised = query, None
            try:
                handle = self._native(query.elements or query.dtype)
                abi.runtime().mscclc_select(handle, ctypes.byref(asked), ctypes.byref(found))
            except NoKernelError:
                if self._raised is not None:
                    raise self._raised from None
                raise
            return self._kernels[ctypes.addressof(found.contents)]


def reduce_op(name: str) -> int:
    """Returns the number of the kernel's operation; for averages, that of the sum. Raises ValueError."""
    return code_of({**abi.REDUCE_OPS, "avg": abi.REDUCE_OPS["sum"]}, "operation", name)


#: The selector of `register`.
default = Selector()


def register(kernel: Kernel, **rule: Unpack[Rule]) -> Kernel:
    """Registers a kernel for calls by the name of a collective, by its rule. If the library in NCCL's place is
    loaded, NCCL's calls use the kernel, too. Returns the kernel."""
    entry = Entry(kernel, **rule)
    standin.register(entry)
    default._append(entry)
    return kernel


def set_selector(choice: Choice | None) -> None:
    """Lets a function pick among the registered kernels that fit a call. It gets the query and the kernels, of which
    the best is first, and returns one of them or None. With None instead of a function, the rules of `register`
    decide again. If the library in NCCL's place is loaded, the function also picks for NCCL's calls. If it picks
    none, NCCL runs the call."""
    default.set_function(choice)
    standin.set_function(choice)
