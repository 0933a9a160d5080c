"""Builders of profiler recordings (XSpace) for tests."""

from tfprof.formats.wire import encoded

START_NS = 1_700_000_000_000_000_000


def number(field, value):
    return encoded(field << 3) + encoded(value & (2**64 - 1))


def span(field, content):
    content = content.encode() if isinstance(content, str) else content
    return encoded(field << 3 | 2) + encoded(len(content)) + content


class Plane:
    """Builds a plane: `plane.line("tf_Compute/1", event("a:Mul", 0, 5))`."""

    def __init__(self, name):
        self.name = name
        self.names, self.facts, self.lines, self.stats = {}, {}, [], b""

    def line(self, name, *events, timestamp_ns=0):
        body = span(2, name) + number(3, timestamp_ns)
        body += b"".join(span(4, self._event(*event)) for event in events)
        self.lines.append(body)
        return self

    def _event(self, name, start_ps, duration_ps, facts):
        key = self.names.setdefault(name, len(self.names) + 1)
        body = number(1, key) + number(2, start_ps) + number(3, duration_ps)
        return body + b"".join(span(4, self._fact(*fact)) for fact in facts.items())

    def _fact(self, name, value):
        body = number(1, self._fact_id(name))
        if isinstance(value, int):
            return body + number(3, value)
        if value.startswith("&"):
            return body + number(7, self._fact_id(value[1:]))
        return body + span(5, value)

    def _fact_id(self, name):
        return self.facts.setdefault(name, len(self.facts) + 1)

    def stat(self, name, value):
        self.stats += span(6, self._fact(name, value))
        return self

    def encode(self):
        body = span(2, self.name) + b"".join(span(3, line) for line in self.lines)
        for field, table in ((4, self.names), (5, self.facts)):
            for name, key in table.items():
                body += span(field, number(1, key) + span(2, number(1, key) + span(2, name)))
        return span(1, body + self.stats)


def event(name, start_us, duration_us, **facts):
    """An event with its start and duration in microseconds; a fact `&x` refers to the name x."""
    return name, round(start_us * 1_000_000), round(duration_us * 1_000_000), facts


def host(**lines):
    """The plane of a host; each keyword is a thread with its events."""
    plane = Plane("/host:CPU")
    for name, events in lines.items():
        plane.line(name, *events)
    return plane


def recording(*planes, start_ns=START_NS):
    """The bytes of a complete recording."""
    environment = Plane("Task Environment").stat("profile_start_time", start_ns)
    return b"".join(plane.encode() for plane in (*planes, environment))
