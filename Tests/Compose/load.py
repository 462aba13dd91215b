"""Users who talk through the stack while it is maltreated, and a check that nothing of it got lost."""

import json
import subprocess
import threading
import time

from engine import Failure, run, until


class Subscriber:
    """`rtm subscribe`: keeps what arrives."""

    def __init__(self, command, user, channel):
        self.user, self.texts, self.others = user, [], []
        self.process = subprocess.Popen(
            [*command, "subscribe", channel, "--user", user, "--json"], stdout=subprocess.PIPE, text=True)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            event = json.loads(line)
            if event.get("event") == "message":
                self.texts.append(event["message"])
            else:
                self.others.append(event)

    @property
    def is_there(self):
        return any(event.get("event") == "subscribed" for event in self.others)

    @property
    def gaps(self):
        return [event for event in self.others if event.get("event") == "gap"]

    def end(self):
        self.process.terminate()
        self.process.wait(10)


class Publisher:
    """`rtm publish --lines`: numbers, so many a second. One that gives up is followed by another."""

    def __init__(self, command, user, channel, rate, *options):
        self.command = [*command, "publish", channel, "--lines", "--user", user, "--json", *options]
        self.rate = rate
        self.sent, self.refused, self.problems = 0, [], []
        self.ends = threading.Event()
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self):
        while not self.ends.is_set():
            first = self.sent
            process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       stderr=subprocess.STDOUT, text=True)
            try:
                while not self.ends.is_set() and process.poll() is None:
                    process.stdin.write(f"{self.sent}\n")
                    process.stdin.flush()
                    self.sent += 1
                    time.sleep(1 / self.rate)
                process.stdin.close()
            except BrokenPipeError:
                pass
            output = process.stdout.read()
            if process.wait() == 0:
                published = json.loads(output.splitlines()[-1])["published"]
                if published != self.sent - first:
                    self.problems.append(f"{self.sent - first} lines were sent and {published} published")
            else:
                # Lines are published one after the other: those behind the refused one never left.
                number = int(output.split("line ")[1].split(":")[0]) if "line " in output else 1
                self.refused.append((first + number - 1, output.strip()[-200:]))
                self.sent = first + number

    def end(self):
        self.ends.set()
        self.thread.join(60)


class Load:
    """One who publishes and some who listen, in a channel of their own. If the messages are stored, all of them are in the
    history in the end."""

    def __init__(self, command, channel, listeners=2, rate=40, stored=False):
        self.command, self.channel, self.stored = command, channel, stored
        self.subscribers = [Subscriber(command, f"{channel}-{number}", channel) for number in range(listeners)]
        until("everybody has subscribed", lambda: all(each.is_there for each in self.subscribers))
        self.publisher = Publisher(
            command, f"{channel}-publisher", channel, rate, *(["--history"] if stored else []))

    def passes(self, count=20, within=60.0):
        """Waits until this many more messages have reached everybody."""
        goal = self.publisher.sent + count
        until(f"message {goal} arrives everywhere",
              lambda: all(int((each.texts or [-1])[-1]) >= goal for each in self.subscribers), within)

    # What a client says while it has no connection, as after the edge or the load balancer that it used was killed.
    AWAY = ("there is no connection at present", "can't be reached")

    # What storage says while nobody leads the channel's shard, or the database stalls.
    NOT_STORED = ("channelMessageDeliveredButStoreFailed",)

    def end(self):
        """Every message arrived once and in order; one that was refused may have arrived."""
        self.publisher.end()
        publisher = self.publisher
        refused = {number for number, _ in publisher.refused}
        expected = [str(number) for number in range(publisher.sent) if number not in refused]
        problems = publisher.problems
        for subscriber in self.subscribers:
            try:
                until("the last message arrives", lambda: subscriber.texts and (
                    subscriber.texts[-1] == str(publisher.sent - 1) or str(publisher.sent - 1) not in expected), 30)
            except Failure as failure:
                problems.append(f"{subscriber.user}: {failure}")
            subscriber.end()
            certain = [text for text in subscriber.texts if int(text) not in refused]
            if certain != expected:
                missing = sorted(set(map(int, expected)) - set(map(int, certain)))
                problems.append(f"{subscriber.user}: {len(missing)} of {len(expected)} missing: {missing[:10]}, "
                                f"{len(certain) - len(set(certain))} twice")
            if subscriber.gaps:
                problems.append(f"{subscriber.user}: {len(subscriber.gaps)} gaps were reported")
        if self.stored:
            problems += self.missing(expected, refused)
        usual = self.AWAY + (self.NOT_STORED if self.stored else ())
        others = [text for _, text in publisher.refused if not any(words in text for words in usual)]
        # Whether one arrived is unknown when no answer comes. It takes more than a lead that changes for that to happen twice.
        silent = [text for text in others if "did not answer" in text]
        if len(silent) > 1 or len(others) > len(silent):
            problems.append(f"{len(others)} publishes were refused: {others[:3]}")
        if problems:
            raise Failure("; ".join(problems))
        return len(expected), len(refused)

    def missing(self, expected, refused):
        """What isn't in the history as it was acknowledged."""
        lines = run(*self.command, "history", self.channel, "--count", "1000000", "--json").splitlines()
        events = [json.loads(line) for line in reversed(lines)]
        found = [event["message"] for event in events if event.get("event") == "message"]
        certain = [text for text in found if int(text) not in refused]
        if certain == expected and len(found) == len(set(found)):
            return []
        lost = sorted(set(map(int, expected)) - set(map(int, found)))
        return [f"{self.channel}: {len(lost)} of {len(expected)} are not in the history: {lost[:10]}, "
                f"{len(found) - len(set(found))} twice"]
