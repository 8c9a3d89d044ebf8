"""Runs commands with Python's subprocess, to be measured beside honestty.

usage: reader.py            jobs on stdin, one JSON object a line
       reader.py once ARGV  one command, as a program that is started for it

A job is {"what": "calls" or "bytes", "argv": [...], "times": N}. Its answer is
one line: {"wall": seconds, "cpu": seconds of this process, "bytes": read}.
"""

import json
import os
import subprocess
import sys
import time

SIZE = 64 << 10  # what every reader asks for at once


def call(argv):
    """Runs a command as most programs do, and keeps its output."""
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        raise RuntimeError(f"{argv[0]} exited with {done.returncode}")
    return len(done.stdout)


def count(argv):
    """Runs a command and counts its output without keeping it."""
    total = 0
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as p:
        while chunk := os.read(p.stdout.fileno(), SIZE):
            total += len(chunk)
    if p.returncode != 0:
        raise RuntimeError(f"{argv[0]} exited with {p.returncode}")
    return total


def work():
    for line in sys.stdin:
        job = json.loads(line)
        do = call if job["what"] == "calls" else count
        cpu, wall = time.process_time(), time.perf_counter()
        try:
            total = sum(do(job["argv"]) for _ in range(job["times"]))
        except (OSError, RuntimeError) as e:
            print(json.dumps({"error": str(e)}), flush=True)
            continue
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        print(json.dumps({"wall": wall, "cpu": cpu, "bytes": total}), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["once"]:
        sys.exit(subprocess.run(sys.argv[2:], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE).returncode)
    work()
