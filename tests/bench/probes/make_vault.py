"""Makes NOTES Markdown files of 2-8 KB and FILES pictures of about BYTES bytes below DIR, the same each time.

43 % of the notes show pictures, each picture is shown by one; one in twenty has the bytes of another."""
import os
import random
import sys

folder, notes, files, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
random.seed(1)
words = "note plan meeting garden river stone letter archive branch signal window paper engine market".split()
lines = [" ".join(random.choices(words, k=12)) + "\n" for _ in range(5000)]
showing = [i for i in range(notes) if i % 100 < 43]
shown = {}
for i in range(files):
    shown.setdefault(showing[i % len(showing)], []).append(i)
    below = os.path.join(folder, "img-%02d" % (i % 50))
    os.makedirs(below, exist_ok=True)
    content = random.Random(i if i % 20 else 0)
    with open(os.path.join(below, "picture-%05d.png" % i), "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + content.randbytes(content.randint(size // 2, size * 3 // 2)))
for i in range(notes):
    below = os.path.join(folder, "folder-%04d" % (i // 100))
    os.makedirs(below, exist_ok=True)
    length, text = 0, ["# Note %d\n\n" % i]
    for picture in shown.get(i, []):
        text.append("![a picture](../img-%02d/picture-%05d.png)\n\n" % (picture % 50, picture))
    text.append("See [the next](note-%05d.md).\n\n" % (i if (i + 1) % 100 == 0 or i + 1 == notes else i + 1))
    wanted = random.randint(2000, 8000)
    while length < wanted:
        text.append(random.choice(lines))
        length += len(text[-1])
    with open(os.path.join(below, "note-%05d.md" % i), "w") as file:
        file.write("".join(text))
