#!/usr/bin/env python3
"""A picture of the README's first session: session.py README OUT.svg; the same text gives the same picture."""
import sys
from html import escape
from pathlib import Path

WIDE, ROW, LETTER, LEFT, TOP = 96, 19, 8.43, 18, 52


def main():
    text = Path(sys.argv[1]).read_text()
    lines = text.split("```console\n", 1)[1].split("\n```", 1)[0].split("\n")
    rows = [line[i:i + WIDE] for line in lines for i in range(0, max(len(line), 1), WIDE)]
    width, height = int(2 * LEFT + WIDE * LETTER), TOP + ROW * len(rows) + 12
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
           'aria-label="A session of ws in a terminal">',
           f'<rect width="{width}" height="{height}" rx="8" fill="#17202a"/>']
    out += [f'<circle cx="{22 + 20 * i}" cy="20" r="6" fill="{colour}"/>' for i, colour in enumerate(("#e06c5f", "#e0b050", "#6fbf73"))]
    out.append('<g font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14" xml:space="preserve">')
    for number, row in enumerate(rows):
        colour, weight = ("#ffffff", "600") if row.startswith("$ ") else ("#b8c4ce", "400")
        out.append(f'<text x="{LEFT}" y="{TOP + ROW * number}" fill="{colour}" font-weight="{weight}">{escape(row)}</text>')
    Path(sys.argv[2]).write_text("\n".join(out + ["</g>", "</svg>"]) + "\n")


if __name__ == "__main__":
    main()
