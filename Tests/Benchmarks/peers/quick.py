"""The harness's run.py with short durations, one attempt and fewer idle sessions; the arguments are run.py's. The names of the
workloads stay, so that agg.py knows them: w4_10k then has 2,000 sessions and w5_5k 2,000 logins."""
import os, pathlib, re, sys

bench = pathlib.Path(os.environ["BENCH"]).resolve()
sys.path.insert(0, str(bench))
source = (bench / "run.py").read_text()
for pattern, short in [
    (r"-d 3\b", "-t 0.5 -d 1"), (r"-d 4\b", "-t 0.5 -d 1.5"), (r"-d 10\b", "-t 0.5 -d 3"),
    (r"-c 10000 -i 30 -g 30 -q 5", "-c 2000 -i 6 -g 6 -q 2"), (r"-c 5000 -k 200", "-c 2000 -k 200"),
    (r"range\(3\)", "range(1)"),
]:
    source, found = re.subn(pattern, short, source)
    if not found:
        sys.exit(f"bench-peers: {bench}/run.py has no {pattern!r} any more; quick.py needs to follow it")
exec(compile(source, str(bench / "run.py"), "exec"))
