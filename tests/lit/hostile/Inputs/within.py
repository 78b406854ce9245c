"""Runs a command that must exit with the given code and take no more memory than the given number of MiB."""
import resource
import subprocess
import sys

mebibytes, code = map(int, sys.argv[1:3])
found = subprocess.run(sys.argv[3:]).returncode
taken = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
if found != code or taken > mebibytes:
    sys.exit(f"exit code {found}, {taken} MiB")
