"""Says of each program whether --explain and --estimate tell the same time. usage: same_times.py PROGRAM…"""
import json
import subprocess
import sys

for program in sys.argv[1:]:
    explained, estimated = (json.loads(subprocess.run(["mscclc", program, *words, "--json"], check=True, stdout=subprocess.PIPE).stdout)
                            for words in (["--explain"], ["--estimate", "--size", "1M"]))
    print(program, explained["us"] == estimated["estimates"][0]["us"] and explained["machine"] == estimated["machine"])
