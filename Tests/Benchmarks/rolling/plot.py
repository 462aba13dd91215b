"""plot.py TIMELINE.csv PICTURE.png: deliveries, logins and p99 of publishes over the time of a rolling restart."""
import collections, sys

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plot

STEP = 0.5


def read(path):
    kinds = collections.defaultdict(list)
    for line in open(path):
        kind, seconds, value = line.rstrip("\n").split(",", 2)
        kinds[kind].append((float(seconds), value))
    return kinds


def per_second(points):
    sums = collections.Counter()
    for seconds, value in points:
        sums[int(seconds / STEP)] += int(value)
    return [(step * STEP, sums[step] / STEP) for step in range(max(sums, default=0) + 1)]


def p99(points):
    groups = collections.defaultdict(list)
    for seconds, value in points:
        groups[int(seconds / STEP)].append(float(value))
    return [(step * STEP, sorted(values)[int(len(values) * 0.99)]) for step, values in sorted(groups.items())]


def main():
    source, picture = sys.argv[1:]
    kinds = read(source)
    figure, rows = plot.subplots(3, 1, sharex=True, figsize=(10, 7))
    for axis, title, points in (
            (rows[0], "deliveries a second", per_second(kinds["deliveries"])), (rows[1], "logins a second", per_second(kinds["logins"])),
            (rows[2], "p99 from publish to acknowledgement, ms", p99(kinds["publish"]))):
        axis.plot(*zip(*points), linewidth=1)
        axis.set_title(title, loc="left", fontsize=10)
        axis.set_ylim(bottom=0)
        for seconds, name in kinds["stop"]:
            axis.axvline(seconds, color="gray", linewidth=0.5)
    for seconds, name in kinds["stop"]:
        rows[0].annotate(name.removeprefix("rtm-"), (seconds, 1), xycoords=("data", "axes fraction"), rotation=45, fontsize=8)
    rows[2].set_xlabel("seconds; each line is the stop of a process, which is started anew")
    figure.tight_layout()
    figure.savefig(picture, dpi=90)
    worst = max(value for _, value in p99(kinds["publish"]))
    refused = sorted(float(value) for _, value in kinds["refused"])
    if refused:
        print(f"rolling: storage refused {len(refused)} times, for {refused[len(refused) // 2]:.0f} ms in the median and {refused[-1]:.0f} ms at most")
    print(f"rolling: p99 of half a second at most {worst:.0f} ms, logins at most {max(v for _, v in per_second(kinds['logins'])):.0f} a second")


if __name__ == "__main__":
    main()
