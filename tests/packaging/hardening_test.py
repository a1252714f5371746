#!/usr/bin/env python3
"""What makes a fault in a program harder to use, read off its ELF file with readelf.

usage: hardening_test.py [--checked yes|no] [--run-by EMULATOR] PROGRAM...

Every build is position-independent, has its relocations read-only before it runs, and no executable stack. One that
people run (--checked yes, the default) also has stack canaries and bounded copies.
"""
import argparse
import json
import re
import shlex
import subprocess
import sys


def readelf(flags, program):
    return subprocess.run(["readelf", flags, program], check=True, capture_output=True, text=True).stdout


def faults_of(program, checked):
    head, segments, dynamic = readelf("-hW", program), readelf("-lW", program), readelf("-dW", program)
    symbols = readelf("-sW", program)
    stack = re.search(r"GNU_STACK.* (R\w*|\w+)\s+0x", segments)
    wanted = {
        "is position-independent": "DYN (" in head and re.search(r"FLAGS_1.*\bPIE\b", dynamic),
        "has GNU_RELRO": "GNU_RELRO" in segments,
        "binds at once (-z now)": re.search(r"BIND_NOW|FLAGS_1.*\bNOW\b", dynamic),
        "has no executable stack": stack and "E" not in stack.group(1),
        "has no writable code": not re.search(r"LOAD.* RWE ", segments),
        "looks for libraries nowhere special": "RPATH" not in dynamic and "RUNPATH" not in dynamic,
    }
    if checked:
        wanted["has stack canaries"] = "__stack_chk_fail" in symbols
        wanted["has bounded copies"] = re.search(r"__(memcpy|read|snprintf|vsnprintf|pread|realpath|memmove)\w*_chk", symbols)
        with open(program, "rb") as data:  # a stripped program still has the words that it would end with
            wanted["checks the containers' bounds"] = b"Assertion '%s' failed" in data.read()
    return [f"{program}: not so: {what}" for what, holds in wanted.items() if not holds]


def faults_of_version(program, run_by):
    """The mock lists what is linked into it, each with a version."""
    told = json.loads(subprocess.run([*run_by, program, "version", "--json"], check=True, capture_output=True, text=True).stdout)
    text = subprocess.run([*run_by, program, "--version"], check=True, capture_output=True, text=True).stdout
    faults = [] if len(told["libraries"]) > 3 else [f"{program}: lists no libraries"]
    for name, version in told["libraries"].items():
        if not re.fullmatch(r"\d+(\.\d+)+\w*([-.]\w+)*", version):
            faults.append(f"{program}: the version of {name} is {version!r}")
        if name not in text or version not in text:
            faults.append(f"{program} --version does not tell of {name} {version}")
    return faults


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--checked", choices=["yes", "no"], default="yes")
    parser.add_argument("--run-by", type=shlex.split, default=[], help="what runs programs of another processor")
    parser.add_argument("programs", nargs="+")
    arguments = parser.parse_args()
    faults = []
    for program in arguments.programs:
        faults += faults_of(program, arguments.checked == "yes")
        if program.endswith("ws-mock"):
            faults += faults_of_version(program, arguments.run_by)
    print("\n".join(faults) or "ok")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
