"""make_small.py DIR COUNT [chain|twins|titles]: COUNT Markdown files of 100-200 bytes in folders of 100 below DIR.

chain: gives every such file the name of the next, the last one first. twins: a second name that differs in case alone for
every second file. titles: the same heading in each."""
import os
import random
import sys

folder, count = sys.argv[1], int(sys.argv[2])
kind = sys.argv[3] if len(sys.argv) > 3 else ""
random.seed(1)
words = "note plan meeting garden river stone letter archive branch signal window paper engine market".split()


def path_of(number, name="note"):
    return os.path.join(folder, "folder-%05d" % (number // 100), "%s-%07d.md" % (name, number))


if kind == "chain":
    os.makedirs(os.path.dirname(path_of(count)), exist_ok=True)
    for i in reversed(range(count)):
        os.rename(path_of(i), path_of(i + 1))
    sys.exit()
for i in range(count):
    is_twin = kind == "twins" and i % 2 == 1
    path = path_of(i - 1, "NOTE") if is_twin else path_of(i)
    if i % 100 == 0:
        os.makedirs(os.path.dirname(path), exist_ok=True)
    heading = "# One title" if kind == "titles" else "# Note %d" % i
    with open(path, "w") as file:
        file.write("%s\n\n%d %s\n" % (heading, i, " ".join(random.choices(words, k=random.randint(12, 22)))))
