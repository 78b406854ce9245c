"""Puts an #error over the first line of a file; its size and times stay."""
import os
import sys

path = sys.argv[1]
before = os.stat(path)
with open(path, "r+b") as file:
    first = file.readline().rstrip(b"\n")
    file.seek(0)
    file.write(b"#error changed".ljust(len(first)))
os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
