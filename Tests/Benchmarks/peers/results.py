"""What measure.py wrote: medians, and whether everything was delivered."""
import collections, json, statistics

from servers import is_ours
from workloads import WORKLOADS

DELIVERY_CHECKS = ("lost", "gaps", "repeats", "foreign", "ended")


class Results:
    """The lines of one run. Only measurements that pass the delivery checks count for a median."""

    def __init__(self, path):
        self.about, self.minutes = {}, None
        self.good, self.wrong = collections.defaultdict(list), collections.defaultdict(list)
        self.counts = collections.Counter()
        for line in open(path):
            line = json.loads(line)
            self.about = line.get("about", self.about)
            self.minutes = line.get("minutes", self.minutes)
            if "test" in line:
                self.take(line)
        measured = {test for test, _ in self.counts}
        self.workloads = [workload for workload in WORKLOADS if workload.name in measured]
        self.servers = self.about["servers"]

    def take(self, line):
        name = (line["test"], line["server"])
        self.counts[name] += 1
        failed = {key: line[key] for key in DELIVERY_CHECKS if line.get(key)}
        if failed or "failure" in line:
            said = [line["failure"]] if "failure" in line else []
            self.wrong[name].append(", ".join(said + [f"{key} {count}" for key, count in failed.items()]))
        else:
            self.good[name].append(line)

    def values(self, test, server, key):
        """All values of one figure; a dot in the key leads into an object."""
        found = self.good[test, server]
        for part in key.split("."):
            found = [line[part] for line in found if part in line]
        return found

    def median(self, test, server, key):
        found = self.values(test, server, key)
        return statistics.median(found) if found else None

    def peers(self, server):
        """Those that a server of ours is compared with: the ceiling and the other servers, all with TLS or all without."""
        return [name for name in self.servers if not is_ours(name) and name.endswith("-tls") == server.endswith("-tls")]

    def missing(self):
        """Results of ours that aren't there. A figure that is missing must not pass for a good one."""
        if not self.counts:
            yield "there are no results"
        for server in filter(is_ours, self.servers):
            if not any(name == server for _, name in self.counts):
                yield f"{server} has no result at all: it didn't start, and the out.log in its run folder says why"
                continue
            for workload in self.workloads:
                most = max(self.counts[workload.name, peer] for peer in self.peers(server) + [server])
                if self.counts[workload.name, server] < most:
                    yield f"{server} has {self.counts[workload.name, server]} of {most} runs of {workload.name}"
        if self.minutes is None:
            yield "the end of the results: the measurement was interrupted"

    def failures_of_ours(self):
        return [name for name in self.wrong if is_ours(name[1])]

    def spread(self, server, key):
        """By how much the runs of a workload differ, as a share of their median, for each workload that ran more than once."""
        shares = {}
        for workload in self.workloads:
            found = self.values(workload.name, server, key)
            if len(found) > 1 and statistics.median(found):
                shares[workload.name] = (max(found) - min(found)) / statistics.median(found)
        return shares
