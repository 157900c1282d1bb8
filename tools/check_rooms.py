#!/usr/bin/env python3
"""Checks that the arrows between the rooms point downwards only.

The permitted arrows are the table "Rooms" of docs/architecture.md; what is checked are the #include lines of every file
under taeda/. A room may include itself, the rooms of its row, and whatever those may use. Prints each wrong arrow and exits
with 1 when there is one.
SPDX-License-Identifier: Apache-2.0
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"](taeda/[^>"]+)[>"]', re.MULTILINE)

NAME = r"`([\w/]+(?:/|\.h))`"  # a folder, or a single header that more rooms may use than its folder


def read_table(text):
    """The rooms of the table and what each may use directly: {room: {room, ...}}."""
    arrows = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) == 3 and re.fullmatch(rf"({NAME}[ ,]*)+", cells[0]):
            used = {name.rstrip("/") for name in re.findall(NAME, cells[2])}
            for room in re.findall(NAME, cells[0]):
                arrows[room.rstrip("/")] = used
    unknown = {used for row in arrows.values() for used in row} - set(arrows)
    if not arrows or unknown:
        sys.exit(f"[rooms] the table of docs/architecture.md must define every room it names: {sorted(unknown)} are not")
    return arrows


def reachable(arrows, room):
    """Every room that `room` may include, itself among them."""
    seen, waiting = set(), [room]
    while waiting:
        current = waiting.pop()
        if current not in seen:
            seen.add(current)
            waiting.extend(arrows[current])
    return seen


def room_of(arrows, path):
    """The most particular room a path like taeda/ops/generated/add.h lies in; None for the doors taeda/*.h."""
    parts = path.split("/")[1:]
    while parts and "/".join(parts) not in arrows:
        parts.pop()
    return "/".join(parts) or None


def main():
    arrows = read_table((ROOT / "docs/architecture.md").read_text())
    for room in arrows:
        for used in arrows[room]:
            if room in reachable(arrows, used):
                sys.exit(f"[rooms] the arrows of docs/architecture.md go in a circle through {room} and {used}")
    wrong, files = [], 0
    for file in sorted(ROOT.glob("taeda/**/*")):
        if file.suffix not in {".h", ".cpp", ".inc"}:
            continue
        path = file.relative_to(ROOT).as_posix()
        room = room_of(arrows, path)
        if room is None:
            if path.count("/") > 1:
                wrong.append(f"{path} lies in no room of the table in docs/architecture.md")
            continue
        files += 1
        allowed = reachable(arrows, room)
        for header in INCLUDE.findall(file.read_text()):
            if header.endswith(".inc"):  # text that the generator writes for the including file: a part of it
                continue
            if room_of(arrows, header) not in allowed:
                wrong.append(f"{path} includes {header}; {room}/ may use only {', '.join(sorted(allowed))}")
    for line in wrong:
        print(f"[rooms] {line}")
    print(f"{files} files, {len(arrows)} rooms, {len(wrong)} wrong arrows")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
