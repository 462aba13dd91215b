#!/usr/bin/env python3
"""Writes the dashboards of compose/observe/dashboards from the tables of docs/metrics.md.

    compose/observe/dashboards.py           writes them
    compose/observe/dashboards.py --check   says what is not as it would be written, and exits with 1

There is a dashboard for each program with a panel for each metric, whose description is the metric's meaning, and an
overview, whose panels stand below. A panel or an alert that names a metric which is not in docs/metrics.md is refused, so
none can name one that doesn't exist: tests compare docs/metrics.md with the programs.
"""

import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parent.parent / "docs" / "metrics.md"
SELECTOR = 'job=~"$job",instance=~"$instance"'

# Title, unit, and the queries with their legends. It is what to look at first, from left to right and down.
OVERVIEW = [
    ("Programs that answer", "none", [("sum by (job) (up)", "{{job}}")]),
    ("Sessions", "none", [("sum(rtm_edge_sessions)", "sessions"), ("sum(rtm_edge_connections)", "connections")]),
    ("Messages a second", "ops", [
        ('sum(rate(rtm_edge_publishes_total{outcome="ok"}[1m]))', "published"),
        ("sum(rate(rtm_edge_deliveries_total[1m]))", "delivered"),
        ('sum(rate(rtm_edge_publishes_total{outcome="refused"}[1m]))', "refused")]),
    ("Time to deliver", "s", [
        ("histogram_quantile(0.5, sum by (le) (rate(rtm_edge_delivery_seconds_bucket[1m])))", "half are faster"),
        ("histogram_quantile(0.99, sum by (le) (rate(rtm_edge_delivery_seconds_bucket[1m])))", "99 of 100 are faster")]),
    ("What must not happen", "none", [
        ("sum(increase(rtm_edge_gaps_total[5m]))", "gaps"),
        ("sum(increase(rtm_edge_canary_silences_total[5m]))", "canary silences"),
        ("sum(increase(rtm_presence_events_dropped_total[5m]))", "presence events dropped"),
        ("sum(increase(rtm_storage_failures_total[5m]))", "writes that storage could not keep"),
        ("sum(increase(rtm_storage_event_gaps_total[5m]))", "gaps in the events of apps")]),
    ("Who leads", "none", [("sum by (instance) (rtm_messaging_leading)", "{{instance}}")]),
    ("Time to write the journal", "s", [
        ("histogram_quantile(0.99, sum by (le) (rate(rtm_messaging_journal_seconds_bucket[1m])))",
         "99 of 100 are faster")]),
    ("Waiting for others", "none", [
        ("sum(rtm_presence_events_waiting)", "presence events"), ("sum(rtm_storage_outbox_events)", "storage events"),
        ("sum(rtm_edge_lock_waits)", "sessions that wait for a lock")]),
    ("Memory of the processes", "bytes", [("process_resident_memory_bytes", "{{job}} {{instance}}")]),
    ("Processor time", "percentunit", [("rate(process_cpu_seconds_total[1m])", "{{job}} {{instance}}")]),
    ("Longest turn of an event loop", "s", [("rtm_loop_longest_turn_seconds", "{{job}} {{instance}}")]),
    ("Database", "bytes", [("rtm_storage_bytes", "in use"), ("rtm_storage_max_bytes", "limit")]),
]


class Metric:
    def __init__(self, name, kind, labels, meaning):
        self.name, self.kind, self.meaning = name, kind, meaning
        self.labels = re.findall(r"`(\w+)`", labels)

    @property
    def title(self):
        words = re.sub(r"^(rtm_[a-z]+?|process)_", "", self.name)
        words = re.sub(r"_(seconds|bytes)?_?(total)?$", "", words).replace("_", " ")
        return words[:1].upper() + words[1:] + (" a second" if self.kind == "counter" else "")

    @property
    def unit(self):
        if "_bytes" in self.name:
            return "Bps" if self.kind == "counter" else "bytes"
        if self.name.endswith("_seconds") or self.name == "process_start_time_seconds":
            return "s"
        return "ops" if self.kind == "counter" else "none"

    @property
    def queries(self):
        by = self.labels + ["instance"]
        legend = " ".join("{{%s}}" % label for label in by)
        if self.kind == "histogram":
            rate = f"sum by (le) (rate({self.name}_bucket{{{SELECTOR}}}[1m]))"
            return [(f"histogram_quantile({part}, {rate})", f"{part:.0%} are below") for part in (0.5, 0.99)]
        value = f"{self.name}{{{SELECTOR}}}"
        if self.kind == "counter":
            value = f"rate({value}[1m])"
        return [(f"sum by ({', '.join(by)}) ({value})", legend)]


def sections():
    """The tables of the page: the heading, and its metrics."""
    found, heading = {}, None
    for line in PAGE.read_text().splitlines():
        if line.startswith("## "):
            heading = line[3:]
        row = re.match(r"\| `([a-z_]+)` \| (counter|gauge|histogram) \| (.*?) \| (.*) \|$", line)
        if row:
            found.setdefault(heading, []).append(Metric(*row.groups()))
    return found


def panel(number, title, unit, queries, description=""):
    width, height = 8, 7
    return {
        "id": number + 1,
        "type": "timeseries",
        "title": title,
        "description": description,
        "datasource": {"type": "prometheus", "uid": "${datasource}"},
        "gridPos": {"h": height, "w": width, "x": number % 3 * width, "y": number // 3 * height},
        "fieldConfig": {"defaults": {"unit": unit, "min": 0, "custom": {"fillOpacity": 10}}, "overrides": []},
        "options": {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi"}},
        "targets": [
            {"refId": chr(ord("A") + place), "expr": query, "legendFormat": legend}
            for place, (query, legend) in enumerate(queries)
        ],
    }


def variable(name, label, query, regex=""):
    return {
        "name": name, "label": label, "type": "query", "refresh": 2, "includeAll": True, "multi": True, "regex": regex,
        "datasource": {"type": "prometheus", "uid": "${datasource}"}, "query": query, "sort": 1,
        "current": {"selected": True, "text": ["All"], "value": ["$__all"]},
    }


def dashboard(uid, title, panels, source):
    variables = [{"name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus"}]
    if source:
        variables.append(variable("job", "Program", f"label_values({source}, job)"))
        variables.append(variable("instance", "Instance", f'label_values({source}{{job=~"$job"}}, instance)'))
    return {
        "uid": uid, "title": title, "tags": ["heliograph"], "schemaVersion": 39, "version": 1, "editable": True,
        "refresh": "10s", "time": {"from": "now-30m", "to": "now"}, "timezone": "", "graphTooltip": 1,
        "templating": {"list": variables}, "annotations": {"list": []}, "panels": panels,
    }


def dashboards(tables):
    overview = [panel(place, *row) for place, row in enumerate(OVERVIEW)]
    made = {"overview": dashboard("heliograph-overview", "Heliograph: overview", overview, None)}
    for heading, metrics in tables.items():
        name = "processes" if heading == "Metrics of every program" else heading.removeprefix("rtm-")
        panels = [
            panel(place, metric.title, metric.unit, metric.queries, metric.meaning)
            for place, metric in enumerate(metric for metric in metrics if metric.name != "rtm_build_info")
        ]
        made[name] = dashboard(f"heliograph-{name}", f"Heliograph: {name}", panels, metrics[0].name)
    return made


def unknown_names(tables, text):
    """The metrics that a text names and the page doesn't."""
    known = {metric.name: metric for metrics in tables.values() for metric in metrics}
    for name in sorted(set(re.findall(r"\b(?:rtm_(?!\w+\()|process_)\w+", text))):
        base = re.sub(r"_(bucket|sum|count)$", "", name)
        if name not in known and not (base in known and known[base].kind == "histogram"):
            yield name


def main():
    tables = sections()
    files = {
        HERE / "dashboards" / f"{name}.json": json.dumps(value, indent=1) + "\n"
        for name, value in dashboards(tables).items()
    }
    problems = []
    for path, text in [*files.items(), (HERE / "alerts.yaml", (HERE / "alerts.yaml").read_text())]:
        queries = text if path.suffix == ".yaml" else "\n".join(re.findall(r'"expr": (".*")', text))
        problems += [f"{path.name}: docs/metrics.md has no {name}" for name in unknown_names(tables, queries)]
    if "--check" in sys.argv:
        for path, text in files.items():
            if not path.exists() or path.read_text() != text:
                problems.append(f"{path.name}: run compose/observe/dashboards.py and commit the result")
    elif not problems:
        for path, text in files.items():
            path.write_text(text)
    print("\n".join(problems), file=sys.stderr, end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
