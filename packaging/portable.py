#!/usr/bin/env python3
"""Fails where a program needs more than glibc 2.34: portable.py PROGRAM...

Every versioned symbol is at or below the floor, and every NEEDED is part of glibc, as `readelf` reads them.
"""
import re
import subprocess
import sys

FLOOR = (2, 34)
# All of them come with glibc itself.
NEEDED = re.compile(r"^(libc\.so\.6|libm\.so\.6|libdl\.so\.2|libpthread\.so\.0|librt\.so\.1|ld-linux-(x86-64|aarch64)\.so\.[12])$")


def readelf(flag, program):
    return subprocess.run(["readelf", "-W", flag, program], check=True, capture_output=True, text=True).stdout


def needed_symbols(program):
    """(symbol, family of libraries, version) of every versioned symbol that the program needs."""
    found = re.findall(r" UND (\S+?)@+([A-Z]+)_([0-9.]+)", readelf("--dyn-syms", program))
    return [(symbol, family, tuple(int(part) for part in version.split("."))) for symbol, family, version in found]


def newest_glibc(program):
    return ".".join(str(part) for part in max(version for _, _, version in needed_symbols(program)))


def faults_of(program):
    faults = []
    for name in re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("-d", program)):
        if not NEEDED.match(name):
            faults.append(f"{program} needs {name}")
    for symbol, family, version in needed_symbols(program):
        if family != "GLIBC":
            faults.append(f"{program} needs {symbol} of {family}, which is no part of glibc")
        elif version > FLOOR:
            faults.append(f"{program} needs {symbol} of glibc {'.'.join(map(str, version))}; the floor is {FLOOR[0]}.{FLOOR[1]}")
    return faults


def main():
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    faults = [fault for program in sys.argv[1:] for fault in faults_of(program)]
    print("\n".join(faults) or f"{len(sys.argv) - 1} programs start with glibc {FLOOR[0]}.{FLOOR[1]} alone")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
