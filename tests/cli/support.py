"""What the tests of the program share: running it, temporary folders, small data.

SPDX-License-Identifier: Apache-2.0
"""
import json
import math
import os
import random
import struct
import subprocess
import tempfile
import unittest
import zlib
from pathlib import Path

TAEDA = os.environ.get("TAEDA_PROGRAM", "build/taeda")
# What a terminal understands and a file does not: the escape character and carriage returns.
CURSOR_CODES = ("\x1b", "\r")


class ProgramTest(unittest.TestCase):
    """A test with a folder of its own, in which the program runs."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="taeda_cli_")
        self.dir = Path(self.folder.name)
        self.addCleanup(self.folder.cleanup)

    def run_taeda(self, *arguments, status=0, **options):
        """Runs the program to its end; the exit status must be `status`. Returns what it printed: (out, err)."""
        done = subprocess.run([TAEDA, *map(str, arguments)], capture_output=True, text=True, cwd=self.dir, timeout=300, **options)
        self.assertEqual(done.returncode, status, f"taeda {' '.join(map(str, arguments))}\n{done.stdout}\n{done.stderr}")
        return done.stdout, done.stderr

    def run_json(self, *arguments):
        """The one JSON object that the program prints."""
        out, err = self.run_taeda(*arguments, "--json")
        self.assertEqual(err, "")
        return json.loads(out)

    def fails(self, *arguments, says, status=1):
        """The program must end with `status`, say each of `says` in one message, and print no result."""
        out, err = self.run_taeda(*arguments, status=status)
        self.assertEqual(out, "")
        for words in [says] if isinstance(says, str) else says:
            self.assertIn(words, err)
        self.assertTrue(err.startswith("taeda: "), err)
        self.assertNotIn("terminate called", err)

    def write(self, name, content):
        path = self.dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path


def friedman(rows, seed):
    """A table for regression, Friedman's first function (1991) with noise and a text column that shifts it."""
    draw = random.Random(seed)
    lines = ["a,b,c,d,e,kind,y"]
    for _ in range(rows):
        x = [draw.random() for _ in range(5)]
        kind = draw.choice(["low", "high"])
        y = 10 * math.sin(math.pi * x[0] * x[1]) + 20 * (x[2] - 0.5) ** 2 + 10 * x[3] + 5 * x[4]
        y += (5 if kind == "high" else 0) + draw.gauss(0, 1)
        lines.append(",".join([f"{v:.5f}" for v in x] + [kind, f"{y:.5f}"]))
    return "\n".join(lines) + "\n"


def flowers(rows, seed):
    """A table for classification: three kinds that differ in two measures."""
    draw = random.Random(seed)
    lines = ["length;width;kind"]
    for _ in range(rows):
        kind = draw.randrange(3)
        lines.append(f"{draw.gauss(kind * 3, 0.7):.3f};{draw.gauss(5 - kind, 0.5):.3f};{['rose', 'lily', 'iris'][kind]}")
    return "\n".join(lines) + "\n"


def png(width, height, pixel):
    """A PNG file of grey values pixel(x, y)."""
    rows = b"".join(b"\0" + bytes(pixel(x, y) for x in range(width)) for y in range(height))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def idx(sizes, data):
    """An IDX file of bytes."""
    return struct.pack(">BBBB", 0, 0, 8, len(sizes)) + struct.pack(f">{len(sizes)}I", *sizes) + data


def bars(folder, rows, seed):
    """An MNIST-like set of 12 x 12 images: class 0 has a vertical bar, class 1 a horizontal one."""
    draw = random.Random(seed)
    images, labels = b"", b""
    for _ in range(rows):
        label, at = draw.randrange(2), draw.randrange(3, 9)
        labels += bytes([label])
        images += bytes(255 if (x if label == 0 else y) == at else draw.randrange(40) for y in range(12) for x in range(12))
    for part in ("train", "t10k"):
        (folder / f"{part}-images-idx3-ubyte").write_bytes(idx([rows, 12, 12], images))
        (folder / f"{part}-labels-idx1-ubyte").write_bytes(idx([rows], labels))
