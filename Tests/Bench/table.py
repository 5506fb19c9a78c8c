"""The measurements with their goals and their peers, as a table."""

import dataclasses


@dataclasses.dataclass
class Row:
    what: str
    unit: str
    value: float
    goal: float | None = None
    peer: float | None = None
    beside: str = ""
    more_is_better: bool = False
    goal_is_ratio: bool = False

    @property
    def ratio(self):
        return self.value / self.peer if self.peer else None

    @property
    def ok(self):
        if self.goal is None:
            return None
        measured = self.ratio if self.goal_is_ratio else self.value
        return measured >= self.goal if self.more_is_better else measured <= self.goal

    def cells(self):
        sign = "≥" if self.more_is_better else "≤"
        unit = "×" if self.goal_is_ratio else self.unit
        return [
            self.what, f"{self.value:.2f} {self.unit}",
            f"{self.peer:.2f} {self.unit}" if self.peer else "", self.beside,
            f"{self.ratio:.2f} ×" if self.peer else "",
            "" if self.goal is None else f"{sign} {self.goal:g} {unit}",
            {None: "", True: "ok", False: "short"}[self.ok],
        ]


def print_table(rows):
    table = [["", "postern", "beside", "", "ratio", "goal", ""]] + [row.cells() for row in rows]
    widths = [max(map(len, column)) for column in zip(*table)]
    for number, cells in enumerate(table):
        padded = [cell.rjust(width) if column in (1, 2, 4) else cell.ljust(width)
                  for column, (cell, width) in enumerate(zip(cells, widths))]
        print("  ".join(padded).rstrip())
        if number == 0:
            print("  ".join("-" * width for width in widths))
