"""Why a peer is better, where it is. The report prints a reason only beside a figure in which we lose, so nothing here says
that we lose. Each reason was found with a profile (`perf record -g`); after a change on the path of a message look again."""

REASONS = []


def reasons_for(lost):
    """The reasons for these losses: tuples of the figure's key, the workload and the server."""
    return ""
