"""Appends a line to every hundredth file below DIR: 1 % changed."""
import os
import sys
import time

for i, (folder, _, names) in enumerate(sorted(entry for entry in os.walk(sys.argv[1]) if "/." not in entry[0])):
    notes = sorted(name for name in names if name.endswith(".md"))
    for name in notes[i % 100::100]:
        with open(os.path.join(folder, name), "a") as file:
            file.write("edited at %d\n" % time.time_ns())
