"""plot_growth.py ROWS SVG: draws the rows of growth.sh, time and memory a file over the number of files, both on
logarithmic scales. A line that is level grows with the files; one that rises with them costs their square."""
import collections
import math
import sys

colours = ["#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b", "#17becf", "#7f7f7f", "#e377c2"]
times, sizes = collections.OrderedDict(), collections.OrderedDict()
with open(sys.argv[1]) as rows:
    for row in rows:
        name, files, clock, _, memory = row.rstrip("\n").split("\t")
        files = int(files)
        if float(clock) > 0:
            times.setdefault(name, []).append((files, float(clock) / files * 1e6))
        if float(memory) > 0:
            sizes.setdefault(name, []).append((files, float(memory) * 1024 / files))
names = list(dict.fromkeys(list(times) + list(sizes)))
colour_of = {name: colours[i % len(colours)] for i, name in enumerate(names)}
WIDTH, HEIGHT, LEFT, TOP = 420, 300, 60, 40


def tenfold(values):
    return math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))


def panel(title, lines, at):
    out = []
    first_x, last_x = tenfold([x for points in lines.values() for x, _ in points])
    first_y, last_y = tenfold([y for points in lines.values() for _, y in points])
    last_x, last_y = max(last_x, first_x + 1), max(last_y, first_y + 1)

    def place(x, y):
        return (at + LEFT + (math.log10(x) - first_x) / (last_x - first_x) * WIDTH,
                TOP + HEIGHT - (math.log10(y) - first_y) / (last_y - first_y) * HEIGHT)

    out.append('<text x="%d" y="%d" font-weight="bold">%s</text>' % (at + LEFT, TOP - 14, title))
    for power in range(first_x, last_x + 1):
        x, _ = place(10.0 ** power, 10.0 ** first_y)
        out.append('<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#ddd"/>' % (x, TOP, x, TOP + HEIGHT))
        out.append('<text x="%.1f" y="%d" text-anchor="middle">%s</text>' % (x, TOP + HEIGHT + 18, format(10 ** power, ",")))
    for power in range(first_y, last_y + 1):
        _, y = place(10.0 ** first_x, 10.0 ** power)
        out.append('<line x1="%d" y1="%.1f" x2="%d" y2="%.1f" stroke="#ddd"/>' % (at + LEFT, y, at + LEFT + WIDTH, y))
        out.append('<text x="%d" y="%.1f" text-anchor="end">%s</text>' % (at + LEFT - 6, y + 4, "%g" % 10.0 ** power))
    for name, points in lines.items():
        places = " ".join("%.1f,%.1f" % place(x, y) for x, y in points)
        out.append('<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>' % (places, colour_of[name]))
    return out


body = panel("microseconds a file", times, 0) + panel("KiB a file", sizes, LEFT + WIDTH + 40)
for i, name in enumerate(names):
    x, y = 2 * (LEFT + WIDTH + 40), TOP + 20 * i
    body.append('<rect x="%d" y="%d" width="14" height="4" fill="%s"/>' % (x, y, colour_of[name]))
    body.append('<text x="%d" y="%d">%s</text>' % (x + 20, y + 6, name))
with open(sys.argv[2], "w") as svg:
    svg.write('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">\n'
              '<rect width="100%%" height="100%%" fill="#fff"/>\n' % (2 * (LEFT + WIDTH + 40) + 180, TOP + HEIGHT + 40))
    svg.write("\n".join(body) + "\n</svg>\n")
