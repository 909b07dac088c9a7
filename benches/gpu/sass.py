#!/usr/bin/env python3
"""Counts instructions of kernels in the text that `nvdisasm -c` writes: those on the way of a tile that is whole.

The way is that on which most bytes are read and written, and of such the shortest: what a kernel has besides, for the last tile or
for arrays that begin at odd places, takes more instructions for as many. What goes in circles is counted once.

    sass.py FILE [ELEMENTS]     ELEMENTS are those of a thread of a tile, for counts of one element
"""

import re
import sys
from collections import Counter

INSTRUCTION = re.compile(r"^\s+/\*([0-9a-f]{4,})\*/\s+(@!?U?P[0-9T]+\s+)?([A-Z][A-Z0-9_.]*)(.*?);")
LABEL = re.compile(r"^(\.L_x_\d+):")


def blocks(lines):
    """Stretches of instructions without labels or jumps, in order: (instructions, where they go)."""
    all_blocks, names, own = [], {}, []

    def close(goes):
        nonlocal own
        all_blocks.append((own, goes))
        own = []

    for line in lines:
        label = LABEL.match(line)
        if label:
            if own:
                close([None])
            names[label.group(1)] = len(all_blocks)
            continue
        found = INSTRUCTION.match(line)
        if not found:
            continue
        condition, name, rest = found.group(2), found.group(3), found.group(4)
        own.append(name)
        target = re.search(r"`\((\.L_x_\d+)\)", rest)
        if name.startswith("BRA") and target:
            # A predicated instruction may fall through.
            goes_on = condition or "P" in rest.split("`")[0]
            close([target.group(1)] + ([None] if goes_on else []))
        elif name in ("EXIT", "RET.REL.NODEC") and not condition:
            close([])
    if own:
        close([])
    return all_blocks, names


def width(name):
    """The bytes that an access to memory moves."""
    bits = re.search(r"\.(128|64|U?16|[US]8)\b", name)
    return {"128": 16, "64": 8, None: 4}.get(bits and bits.group(1), 2)


def way(lines):
    """The instructions of the way, in any order."""
    all_blocks, names = blocks(lines)
    best = {len(all_blocks): ((0, 0), [])}
    for at in reversed(range(len(all_blocks))):
        own, goes = all_blocks[at]
        moves = sum(width(name) for name in own if name.startswith(("LDG", "STG")))
        then = [at + 1 if to is None else names.get(to, at + 1) for to in goes]
        # A backward jump closes a loop that has been visited.
        ways = [best[to] for to in then if to > at] or [((0, 0), [])]
        (most, least), rest = max(ways, key=lambda w: w[0])
        best[at] = ((most + moves, least - len(own)), [own, rest])
    taken, node = [], best[0][1]
    while node:
        taken += node[0]
        node = node[1]
    return taken


def kernels(text):
    """Names of kernels, with their lines."""
    for part in re.split(r"\.section\s+\.text\.", text)[1:]:
        name, _, rest = part.partition(",")
        yield name, rest.splitlines()


def main():
    elements = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    with open(sys.argv[1], encoding="utf-8") as file:
        text = file.read()
    for name, lines in kernels(text):
        taken = way(lines)
        kinds = Counter()
        for instruction in taken:
            kind = re.match(r"(LDGSTS|LDG|STG|LDS|STS|SHFL|BAR|LDL|STL)", instruction)
            if kind:
                wide = re.search(r"\.(128|64)\b", instruction)
                kinds[kind.group(1) + ("." + wide.group(1) if wide else "")] += 1
        every = sum(1 for line in lines if INSTRUCTION.match(line))
        listed = ", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items()))
        print(f"{name[:60]}: {len(taken) / elements:.1f} on the way of an element ({len(taken)} of {every}); {listed}")


main()
