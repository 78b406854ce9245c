"""Runs a command and interrupts it while it writes its output into a folder: interrupt.py FOLDER COMMAND…

Ends well if the command dies of the signal and leaves no file behind.
"""
import os
import signal
import subprocess
import sys
import time

folder, command = sys.argv[1], sys.argv[2:]
before = set(os.listdir(folder))
for number in (signal.SIGINT, signal.SIGTERM):
    run = subprocess.Popen(command, preexec_fn=lambda n=number: signal.signal(n, signal.SIG_DFL))
    while run.poll() is None and set(os.listdir(folder)) == before:
        time.sleep(0.001)
    run.send_signal(number)
    code = run.wait()
    if code == 0:  # it was faster than this program
        os.unlink(command[-1])
    elif code != -number:
        sys.exit(f"exit code {code} after signal {number}")
    if left := set(os.listdir(folder)) - before:
        sys.exit(f"left after signal {number}: {sorted(left)}")
