"""Makes COUNT Markdown files of 2-8 KB in folders of 100 below DIR, the same each time."""
import os
import random
import sys

folder, count = sys.argv[1], int(sys.argv[2])
random.seed(1)
words = "note plan meeting garden river stone letter archive branch signal window paper engine market".split()
lines = [" ".join(random.choices(words, k=12)) + "\n" for _ in range(5000)]
for i in range(count):
    below = os.path.join(folder, "folder-%04d" % (i // 100))
    os.makedirs(below, exist_ok=True)
    size, text = random.randint(2000, 8000), ["# Note %d\n\n" % i]
    length = len(text[0])
    while length < size:
        text.append(random.choice(lines))
        length += len(text[-1])
    with open(os.path.join(below, "note-%05d.md" % i), "w") as file:
        file.write("".join(text))
