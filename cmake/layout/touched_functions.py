"""Which functions of a program run.

A copy of the program has a breakpoint as the first byte of every function. It runs under ptrace; each breakpoint that is
reached is noted and taken out, so a function costs one stop. Much cheaper than instrumenting the program, and enough to
tell an instrumenter what not to bother with. Linux on x86-64, programs linked for a fixed address.
"""
import ctypes
import os
import pathlib
import signal
import struct

_TRACEME, _PEEKTEXT, _POKETEXT, _CONT, _GETREGS, _SETREGS, _SETOPTIONS = 0, 1, 4, 7, 12, 13, 0x4200
_FOLLOW_FORK, _FOLLOW_VFORK, _FOLLOW_CLONE, _KILL_ON_EXIT = 1 << 1, 1 << 2, 1 << 3, 1 << 20
_BREAKPOINT = 0xCC
_RIP = 16  # its index in struct user_regs_struct
_ALL_THREADS = 0x40000000  # __WALL

_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.restype = ctypes.c_long
_libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


def _ptrace(request, process, address=None, data=None):
    ctypes.set_errno(0)
    result = _libc.ptrace(request, process, address, data)
    if result == -1 and ctypes.get_errno():
        raise OSError(ctypes.get_errno(), "ptrace: " + os.strerror(ctypes.get_errno()))
    return result


def _functions(image):
    """address -> (offset in the file, names) of the functions in an ELF file's symbol table.

    A local name, which other functions may have as well, is followed by "/" and a number from 1, by address, as BOLT does.
    """
    if image[:6] != b"\x7fELF\x02\x01":
        raise ValueError("not a 64-bit little-endian ELF file")
    (table,) = struct.unpack_from("<Q", image, 40)
    entry_size, count = struct.unpack_from("<HH", image, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", image, table + i * entry_size) for i in range(count)]
    found, local = {}, {}
    for _, kind, _, _, start, size, link, *_ in sections:
        if kind != 2:  # SHT_SYMTAB
            continue
        strings = sections[link][4]
        for name, info, _, section, value, length in struct.iter_unpack("<IBBHQQ", image[start:start + size]):
            if info & 15 != 2 or length == 0 or not 0 < section < count:  # STT_FUNC
                continue
            _, _, flags, address, offset, *_ = sections[section]
            if not flags & 4:  # SHF_EXECINSTR
                continue
            at = strings + name
            text = image[at:image.index(b"\0", at)].decode()
            names = found.setdefault(value, (offset + value - address, []))[1]
            if info >> 4 == 0:  # STB_LOCAL
                local.setdefault(text, []).append((value, names))
            else:
                names.append(text)
    for text, owners in local.items():
        for number, (_, names) in enumerate(sorted(owners, key=lambda owner: owner[0]), 1):
            names.append(f"{text}/{number}")
    return found


def _trace(command, functions, image, touched):
    """Runs the command to its end and adds the functions that it reaches to `touched`."""
    main = os.fork()
    if main == 0:
        try:
            _ptrace(_TRACEME, 0)
            os.execv(command[0], [str(word) for word in command])
        finally:
            os._exit(127)
    registers = (ctypes.c_ulonglong * 27)()
    is_started = False
    while True:
        process, status = os.waitpid(-1, _ALL_THREADS)
        if not os.WIFSTOPPED(status):
            if process != main:
                continue
            if status != 0:
                raise RuntimeError(f"{command[0]} ended with status {status}")
            return
        stop, forwarded = os.WSTOPSIG(status), 0
        if not is_started:
            _ptrace(_SETOPTIONS, process, None, _FOLLOW_FORK | _FOLLOW_VFORK | _FOLLOW_CLONE | _KILL_ON_EXIT)
            is_started = True
        elif stop == signal.SIGTRAP and status >> 16 == 0:
            _ptrace(_GETREGS, process, None, ctypes.addressof(registers))
            at = registers[_RIP] - 1
            if at in functions:
                touched.add(at)
                word = _ptrace(_PEEKTEXT, process, at) & 0xFFFFFFFFFFFFFF00
                _ptrace(_POKETEXT, process, at, word | image[functions[at][0]])
                registers[_RIP] = at
                _ptrace(_SETREGS, process, None, ctypes.addressof(registers))
            else:
                forwarded = stop
        elif stop not in (signal.SIGTRAP, signal.SIGSTOP):
            forwarded = stop
        _ptrace(_CONT, process, None, forwarded)


def touched_functions(program, copy, arguments):
    """Names of the functions that `program` reaches when run with each of `arguments`, lists of words.

    `copy` is where the program with its breakpoints is written, and run. Raises OSError where the system does not let one
    process trace another, RuntimeError where a run fails.
    """
    image = pathlib.Path(program).read_bytes()
    functions = _functions(image)
    patched = bytearray(image)
    for offset, _ in functions.values():
        patched[offset] = _BREAKPOINT
    copy = pathlib.Path(copy)
    copy.write_bytes(patched)
    copy.chmod(0o755)
    touched = set()
    for words in arguments:
        _trace([copy, *words], functions, image, touched)
    return sorted(name for at in touched for name in functions[at][1])
