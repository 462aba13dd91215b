"""measure.py [update]: prints the micro-benchmarks as a table of instructions, allocations, references and nanoseconds per
operation. References are calls of swift_retain and swift_release and their kin.

All but the nanoseconds are counted by valgrind's callgrind. It runs a case with one batch and with two batches, and the
difference is a batch without start and preparation. Such a number is the same on a busy machine, so instructions and references
are compared with baseline.txt, and more than 5 % above it is a failure. Nanoseconds are measured without valgrind, and nothing
is judged by them. If there is no valgrind, nanoseconds are all that is printed.

`update` writes baseline.txt. HELIOGRAPH_RELEASE is the folder of the executables, ONLY=a,b chooses cases whose names contain
one of these."""
import os, pathlib, platform, re, shutil, subprocess, sys, tempfile

HERE = pathlib.Path(__file__).resolve().parent
BASELINE = HERE / "baseline.txt"
RELEASE = pathlib.Path(os.environ.get("HELIOGRAPH_RELEASE") or HERE.parents[2] / ".build" / "release")
PROGRAM = RELEASE / "rtm-microbench"
TOLERATED = 1.05
REFERENCES = re.compile(r"swift_(bridgeObject|unknownObject)?(retain|release|Retain|Release)(_n)?")
ALLOCATORS = {"malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc", "memalign"}
# Swift seeds its hash tables at random otherwise, and every run would probe differently.
ENVIRONMENT = dict(os.environ, SWIFT_DETERMINISTIC_HASHING="1", SWIFT_BACKTRACE="enable=no")


def output(*command):
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"bench: {' '.join(map(str, command))}: {(done.stderr or done.stdout).strip()[-500:]}")
    return done.stdout


def toolchain():
    """Returns what the numbers depend on besides our code."""
    version = re.search(r"Swift version (\S+)", output("swift", "--version"))
    return f"Swift {version.group(1) if version else 'unknown'}, {platform.machine()}, {' '.join(platform.libc_ver())}"


def why_not_counted():
    for tool, package in (("valgrind", "valgrind"), ("strip", "binutils")):
        if not shutil.which(tool):
            return f"instructions are not counted: there is no {tool}. On Debian: apt-get install {package}"


class Counter:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        # valgrind stumbles over the debug information of Swift executables.
        self.program = self.folder / "rtm-microbench"
        output("strip", "-g", "-o", self.program, PROGRAM)

    def profile(self, name, batches):
        file = self.folder / "callgrind.out"
        output("valgrind", "--tool=callgrind", f"--callgrind-out-file={file}", self.program, "count", name, str(batches))
        return totals(file.read_text())

    def count(self, name, batch):
        one, two = self.profile(name, 1), self.profile(name, 2)
        return tuple((after - before) / batch for before, after in zip(one, two))


def totals(profile):
    """Returns the instructions, allocations and references of the whole program, from a profile in callgrind's format. A
    function's name stands beside its number once, and a line of calls belongs to the callee above it."""
    names, callee, allocations, references = {}, None, 0, 0
    for line in profile.splitlines():
        if match := re.match(r"c?fn=\((\d+)\)(?: (.*))?", line):
            if match[2]:
                names[match[1]] = match[2]
            if line.startswith("c"):
                callee = names[match[1]]
        elif line.startswith("calls="):
            calls = int(line[6:].split()[0])
            if callee in ALLOCATORS:
                allocations += calls
            elif REFERENCES.fullmatch(callee):
                references += calls
    return int(re.search(r"^(?:summary|totals): (\d+)", profile, re.M)[1]), allocations, references


def baseline():
    """Returns the toolchain that the baseline was written with, and the instructions and references of each case."""
    if not BASELINE.exists():
        return None, {}
    lines = BASELINE.read_text().splitlines()
    written = next((line.removeprefix("# toolchain: ") for line in lines if line.startswith("# toolchain: ")), None)
    fields = [line.split() for line in lines if line and not line.startswith("#")]
    return written, {name: (float(instructions), float(references)) for name, instructions, _, references in fields}


def update(counted):
    lines = ["# Instructions, allocations and references per operation. `make bench BASELINE=update` writes this file.",
             f"# toolchain: {toolchain()}"]
    lines += [f"{name:<32} {instructions:>10.0f} {allocations:>8.2f} {references:>8.2f}"
              for name, (instructions, allocations, references) in counted.items()]
    BASELINE.write_text("\n".join(lines) + "\n")
    print(f"\nwritten: {BASELINE}")


def verdicts(counted, before, complete):
    for name, (instructions, _, references) in counted.items():
        if name not in before:
            yield f"NEW {name} isn't in the baseline: make bench BASELINE=update"
            continue
        for what, now, then in zip(("instructions", "references"), (instructions, references), before[name]):
            # A fraction of a reference is that of a buffer which grows now and then.
            if now > then * TOLERATED + (what == "references") / 2:
                yield f"SLOWER {name}: {now:.0f} {what}, {then:.0f} in the baseline"
    for name in before:
        if complete and name not in counted:
            yield f"GONE {name} is in the baseline and no case any more: make bench BASELINE=update"


def main():
    if not PROGRAM.exists():
        sys.exit(f"bench: {PROGRAM} isn't there: make build")
    wanted = os.environ.get("ONLY", "").split(",")
    cases = [line.split("\t") for line in output(PROGRAM, "list").splitlines()]
    cases = [(name, int(batch)) for name, batch in cases if any(part in name for part in wanted)]
    reason = why_not_counted()
    written, before = baseline()
    counted = {}
    print("| case | instructions | baseline | allocations | references | ns |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        counter = None if reason else Counter(folder)
        for name, batch in cases:
            nanoseconds = float(output(PROGRAM, "time", name).split("\t")[1])
            instructions = allocations = references = change = "–"
            if counter:
                counted[name] = counter.count(name, batch)
                instructions, allocations, references = (
                    f"{number:.{digits}f}" for number, digits in zip(counted[name], (0, 2, 2)))
                change = f"{counted[name][0] / before[name][0] - 1:+.1%}" if before.get(name) else "–"
            print(f"| {name} | {instructions} | {change} | {allocations} | {references} | {nanoseconds:.0f} |", flush=True)
    if reason:
        print(f"\n{reason}")
        return
    if sys.argv[1:] == ["update"]:
        if len(wanted) > 1 or wanted[0]:
            sys.exit("bench: a baseline has all cases, so update it without ONLY")
        return update(counted)
    here = toolchain()
    if before and written != here:
        print(f"\nThe baseline was written with {written}, this is {here}: not judged.")
        return
    found = list(verdicts(counted, before, complete=wanted == [""]))
    print("\n" + "\n".join(found or ["no case needs 5 % more instructions than in the baseline"]))
    sys.exit(bool(found))


main()
