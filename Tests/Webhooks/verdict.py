"""What was promised, judged by what was seen alone: what backends did and were answered, what was read by
pull, and what the receiver was given. An event is a list: id, key, number within the key, type, and what it
says."""

import json
from collections import Counter, namedtuple

Request = namedtuple("Request", "at webhook events wrong")


def requests(files):
    """The requests to the receiver in their order. The last line of a process that was killed may be cut off:
    that request wasn't answered."""
    found = []
    for file in files:
        for line in file.read_bytes().split(b"\n")[:-1]:
            line = json.loads(line)
            found.append(Request(line["at"], line["webhook"], line.get("events", []), line.get("wrong")))
    return found


def judge_pull(events):
    """Each number of each key once and in order, from 1 on, and nothing lost."""
    last = {}
    for id, key, number, type, _ in events:
        if type == "gap":
            yield f"events were lost: the gap {id} was read"
        if number != last.get(key, 0) + 1:
            yield f"pull: {key} has #{number} behind #{last.get(key, 0)}"
        last[key] = number


def judge_changes(done, visits, events):
    """What was answered is an event, once."""
    count = Counter((type, key, what) for _, key, _, type, what in events)
    for type, key, what, _ in done:
        if count[type, key, what] == 0:
            yield f"{what} of {key} was acknowledged and is no event"
    for (type, key, what), times in count.items():
        if times > 1 and type in ("message.published", "metadata.changed"):
            yield f"{what} of {key} is {times} events"
    for user, times in visits.items():
        logins = count["session.login", f"user:{user}", None]
        if logins < times:
            yield f"{user} was there {times} times and has logged in {logins} times"


def judge_webhook(taken, events):
    """Each event that was read arrives, none before those ahead of it in its key, and the same id is the same
    body."""
    right = {event[0]: event for event in events}
    last, bodies, arrived = {}, {}, set()
    for request in taken:
        if request.wrong:
            yield request.wrong
        if bodies.setdefault(request.webhook, request.events) != request.events:
            yield f"{request.webhook} names two bodies"
        for event in request.events:
            id, key, number, *_ = event
            if right.get(id) != event:
                yield f"webhook: {id} is {event}, and by pull {right.get(id)}"
            if number > last.get(key, 0) + 1:
                yield f"webhook: {key} has #{number} when #{last.get(key, 0)} was its last"
            last[key] = max(number, last.get(key, 0))
            arrived.add(id)
    for id in right.keys() - arrived:
        yield f"webhook: {right[id]} never arrives"


class Arrivals:
    """When each event arrived first."""

    def __init__(self, taken):
        self.times, self.of_change = {}, {}
        self.deliveries = 0
        for request in taken:
            for id, key, _, type, what in request.events:
                self.deliveries += 1
                self.times.setdefault(id, request.at)
                self.of_change.setdefault((type, key, what), request.at)

    def delays(self, done, begin, end):
        """How long after its answer each change arrived that was answered in this time, in seconds,
        sorted."""
        return sorted(
            max(0, self.of_change[type, key, what] - at)
            for type, key, what, at in done if begin <= at < end and (type, key, what) in self.of_change)

    def catch_up(self, done, back):
        """Of a receiver that is back: seconds until the first event, seconds until all that it has missed,
        and how many events arrived in between."""
        first = min(at for at in self.times.values() if at >= back)
        missed = [self.of_change[type, key, what]
                  for type, key, what, at in done if at < back and (type, key, what) in self.of_change]
        last = max([first, *missed])
        return first - back, last - back, sum(first <= at <= last for at in self.times.values())
