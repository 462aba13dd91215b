"""measure.py RESULTS: runs all workloads against all servers and writes RESULTS, one JSON object a line. The first line says
what is measured and on what, the last one how long it took. run.sh says what QUICK, RUNS, SECONDS_EACH, SERVERS, PARTS and
ONLY mean."""
import datetime, fcntl, json, os, pathlib, platform, subprocess, sys, time

from servers import OUT, SERVERS, ServerError, versions
from workloads import EXTRA_PARTS, NAMED, PARTS, QUICK_SESSIONS, chosen

QUICK = bool(os.environ.get("QUICK"))
RUNS = int(os.environ.get("RUNS") or (1 if QUICK else 3))
SECONDS = float(os.environ.get("SECONDS_EACH") or (0.4 if QUICK else 2))
# A measurement during which others use more than this share of a core is repeated once, and the quieter one counts. All
# repetitions together take no longer than this, so that a run on a busy machine ends, too.
OTHERS_MAX, REPEAT_SECONDS_MAX = 0.3, (0 if QUICK else 90)
TIMEOUT_SECONDS = 120


def names(variable, known, default):
    """The names in an environment variable; an unknown one ends the program."""
    found = [name for name in os.environ.get(variable, "").split(",") if name] or default
    for name in found:
        if name not in known:
            sys.exit(f"bench-peers: {variable}: there is no {name}; there are {', '.join(known)}")
    return found


def about(servers):
    """What the report says about the machine; nothing that tells which machine it is."""
    memory = next(int(line.split()[1]) for line in open("/proc/meminfo") if line.startswith("MemTotal:"))
    system = next((line.split("=")[1].strip().strip('"') for line in open("/etc/os-release") if line.startswith("PRETTY_NAME=")),
                  platform.system())
    return {"cores": os.cpu_count(), "memory_gb": round(memory / 1e6), "system": system,
            "kernel": ".".join(platform.release().split(".")[:2]), "date": datetime.date.today().isoformat(),
            "versions": versions(servers), "seconds_each": SECONDS, "runs": RUNS, "servers": servers}


def generate(server, workload, prefix):
    """One measurement: what the generator printed, or why there is nothing."""
    if QUICK and "sessions" in workload.options:
        workload.options["sessions"] = QUICK_SESSIONS
    try:
        done = server.generate(*workload.arguments(SECONDS), "--prefix", prefix, timeout=TIMEOUT_SECONDS)
        return json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        return {"failure": f"no result after {TIMEOUT_SECONDS} s"}
    except ValueError:
        return {"failure": f"the generator said: {(done.stdout + done.stderr)[-300:]}"}


class Repetitions:
    """Measurements that somebody disturbed, and how many seconds are left for making them again."""

    def __init__(self):
        self.seconds_left = REPEAT_SECONDS_MAX

    def measure(self, server, workload, run):
        """Measures once, or again if somebody else used the machine meanwhile. Returns the quieter result."""
        result = attempt(server, workload, run, 1)
        if "failure" not in result and result["others"] > OTHERS_MAX and self.seconds_left > 0:
            started = time.monotonic()
            again = attempt(server, workload, run, 2)
            self.seconds_left -= time.monotonic() - started
            if "failure" in again or again["others"] < result["others"]:
                result = again
        return {"test": workload.name, "server": server.name, "run": run, **result}


def attempt(server, workload, run, number):
    # The names of channels and users are new each time, so that nothing of an earlier measurement is found again.
    result = generate(server, workload, f"{workload.name}-{run}-{number}".replace("_", "-"))
    result["others"] = result.get("others_cpu_s", 0) / max(result.get("seconds", 1), 0.1)
    return result


def show(result):
    figure = result.get("deliveries_per_s") or result.get("logins_per_s") or result.get("kb_per_session") or 0
    print(time.strftime("%H:%M:%S"), result["run"], result["server"], result["test"], f"{figure:,.0f}",
          f"others {result['others']:.2f}", result.get("failure", ""), flush=True)


def measure_group(server, group, run, repetitions, results):
    """Measures these workloads on one fresh server; after a failure the others get another fresh one."""
    try:
        server.start()
        for workload in group:
            result = repetitions.measure(server, workload, run)
            results.write(json.dumps(result) + "\n")
            results.flush()
            show(result)
            if "failure" in result:
                server.stop()
                server.start()
    except ServerError as error:
        print(f"bench-peers: {error}", flush=True)
    finally:
        server.stop()


def main():
    servers = names("SERVERS", list(SERVERS), list(SERVERS))
    parts = names("PARTS", PARTS + EXTRA_PARTS, PARTS)
    only = names("ONLY", list(NAMED), [])
    started, repetitions = time.monotonic(), Repetitions()
    pathlib.Path(sys.argv[1]).parent.mkdir(parents=True, exist_ok=True)
    with open(OUT / "lock", "w") as lock, open(sys.argv[1], "w") as results:
        fcntl.flock(lock, fcntl.LOCK_EX)
        results.write(json.dumps({"about": about(servers)}) + "\n")
        for run in range(1, RUNS + 1):
            for name in servers:
                for group in chosen(parts, only, SERVERS[name]):
                    measure_group(SERVERS[name], group, run, repetitions, results)
        results.write(json.dumps({"minutes": round((time.monotonic() - started) / 60, 1)}) + "\n")


main()
