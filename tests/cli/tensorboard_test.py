#!/usr/bin/env python3
"""Reads what a training wrote with the `tensorboard` package; exits with 77, which counts as skipped, where that is not installed.

The program is $TAEDA_PROGRAM.
SPDX-License-Identifier: Apache-2.0
"""
import csv
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    from tensorboard.backend.event_processing.event_accumulator import GRAPH, HISTOGRAMS, IMAGES, SCALARS, EventAccumulator
    from tensorboard.compat.proto.graph_pb2 import GraphDef
    from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)


def check(condition, message):
    if not condition:
        sys.exit(f"[tensorboard] {message}")


def main():
    with tempfile.TemporaryDirectory(prefix="taeda_board_") as folder:
        subprocess.run([Path(os.environ["TAEDA_PROGRAM"]).resolve(), "train", "--epochs", "4", "--quiet"], cwd=folder, check=True)
        run = Path(folder) / "taeda-run"
        events = EventAccumulator(str(run), size_guidance={SCALARS: 0, HISTOGRAMS: 0, IMAGES: 0})
        events.Reload()
        tags = events.Tags()
        check(tags[GRAPH], "the graph must be there")
        # Every value of the CSV log is there, at its step.
        rows = list(csv.DictReader((run / "log.csv").open()))
        check(len(rows) > 20, f"the log must have rows: got {len(rows)}")
        check({row["name"] for row in rows} <= set(tags[SCALARS]), f"all names must be scalars: got {tags[SCALARS]}")
        for name in {row["name"] for row in rows}:
            logged = [(int(row["step"]), float(row["value"])) for row in rows if row["name"] == name]
            shown = [(event.step, event.value) for event in events.Scalars(name)]
            check(len(logged) == len(shown), f"{name} must have {len(logged)} values: got {len(shown)}")
            for (step, value), (at, seen) in zip(logged, shown):
                check(step == at and math.isclose(value, seen, rel_tol=1e-6, abs_tol=1e-12), f"{name} at {step} must be {value}: got {seen} at {at}")
        check(tags[HISTOGRAMS], "there must be histograms of the weights")
        for tag in tags[HISTOGRAMS]:
            for event in events.Histograms(tag):
                value = event.histogram_value
                check(value.num == sum(value.bucket) and value.min <= value.max, f"the histogram {tag} must count its values")
        check(tags[IMAGES], "there must be images of samples")
        check(events.Images(tags[IMAGES][0])[0].encoded_image_string.startswith(b"\x89PNG"), "images must be PNG files")
        graph = GraphDef.FromString(events.Graph().SerializeToString())
        names = {node.name for node in graph.node}
        check(len(names) == len(graph.node), "names of the graph's nodes must be distinct")
        check(all(source in names for node in graph.node for source in node.input), "inputs of the graph's nodes must be nodes")
        check(any(node.op == "Parameter" and node.name.endswith("weight") for node in graph.node), "the graph must show the parameters")
        metadata = events.SummaryMetadata("_hparams_/session_start_info")
        data = HParamsPluginData.FromString(metadata.plugin_data.content)
        settings = data.session_start_info.hparams
        check(settings["model"].string_value == "cnn" and settings["batch-size"].number_value == 32, f"the settings must be there: got {settings}")
    print("read by the tensorboard package")


if __name__ == "__main__":
    main()
