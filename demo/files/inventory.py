"""Keeps a small stock list and reports what has to be ordered."""

from dataclasses import dataclass


@dataclass
class Item:
    name: str
    count: int
    minimum: int

    def missing(self) -> int:
        return max(0, self.minimum - self.count)


def orders(items):
    return {item.name: item.missing() for item in items if item.missing()}


if __name__ == "__main__":
    stock = [Item("bolts", 120, 200), Item("nuts", 350, 200), Item("washers", 0, 50)]
    for name, count in sorted(orders(stock).items()):
        print(f"order {count} {name}")
