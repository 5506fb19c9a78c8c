"""The measurements beside their peers and limits, as a table and as JSON."""

import dataclasses
import statistics


def spread(figures):
    """Half of the distance between the lowest and the highest figure, as a share of the median."""
    middle = statistics.median(figures)
    return (max(figures) - min(figures)) / 2 / middle if middle else 0


@dataclasses.dataclass
class Row:
    """What was measured, beside a peer or a limit. Both have one figure for each turn, or one."""

    what: str
    unit: str
    figures: list[float]
    peers: list[float]
    beside: str
    # For the ratio of the two.
    goal: float | None = None
    more_is_better: bool = False

    @classmethod
    def within(cls, what, unit, figures, limit):
        """A row whose limit is fixed: the figure must not be higher."""
        return cls(what, unit, figures, [limit], "limit", 1)

    @property
    def ratios(self):
        """Of each turn: a slow spell of the machine changes both sides of the turns that it meets.
        """
        if len(self.figures) == len(self.peers):
            return [figure / peer for figure, peer in zip(self.figures, self.peers)]
        peer = statistics.median(self.peers)
        return [figure / peer for figure in self.figures]

    @property
    def ratio(self):
        return statistics.median(self.ratios)

    @property
    def ok(self):
        if self.goal is None:
            return None
        return self.ratio >= self.goal if self.more_is_better else self.ratio <= self.goal

    def record(self):
        """For the JSON file."""
        return dataclasses.asdict(self) | {
            "median": statistics.median(self.figures),
            "peer_median": statistics.median(self.peers),
            "ratio": self.ratio, "ok": self.ok,
        }

    def cells(self):
        sign = "≥" if self.more_is_better else "≤"
        return [
            self.what, *self.summary(self.figures), *self.summary(self.peers), self.beside,
            f"{self.ratio:.2f} ×",
            f"{min(self.ratios):.2f}–{max(self.ratios):.2f}" if len(self.ratios) > 1 else "",
            "" if self.goal is None else f"{sign} {self.goal:.3g} ×",
            {None: "", True: "ok", False: "short"}[self.ok],
        ]

    def summary(self, figures):
        share = f"±{spread(figures):.0%}" if len(figures) > 1 else ""
        return [f"{statistics.median(figures):.2f} {self.unit}", share]


HEADINGS = ["", "postern", "", "beside", "", "", "ratio", "of turns", "goal", ""]
RIGHT_ALIGNED = {1, 2, 3, 4, 6, 7}


def print_table(rows):
    table = [HEADINGS] + [row.cells() for row in rows]
    widths = [max(map(len, column)) for column in zip(*table)]
    for number, cells in enumerate(table):
        padded = [cell.rjust(width) if column in RIGHT_ALIGNED else cell.ljust(width)
                  for column, (cell, width) in enumerate(zip(cells, widths))]
        print("  ".join(padded).rstrip())
        if number == 0:
            print("  ".join("-" * width for width in widths))
