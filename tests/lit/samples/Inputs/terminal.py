"""usage: terminal.py COMMAND…: runs it for a while with its errors on a terminal and in a pipe; tells of progress bars."""
import os
import pty
import select
import subprocess
import sys
import time


def errors(fd, seconds, enough):
    """Returns the output of `fd`, until `enough` is true or the time is over."""
    seen, end = b"", time.monotonic() + seconds
    while enough not in seen and time.monotonic() < end:
        if select.select([fd], [], [], 0.1)[0]:
            seen += os.read(fd, 4096)
    return seen.decode(errors="replace")


def run(fd, seconds, stderr):
    process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=stderr)
    try:
        return errors(fd, seconds, b"[.")
    finally:
        process.kill()
        process.wait()


controller, terminal = pty.openpty()
shown = run(controller, 60, terminal)
print(shown.strip())
print("terminal:", "a bar" if "running" in shown else "nothing")
reader, writer = os.pipe()
print("pipe:", run(reader, 1.5, writer) or "nothing")
