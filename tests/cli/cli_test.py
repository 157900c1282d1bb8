#!/usr/bin/env python3
"""The program from outside: exit statuses, messages, JSON, files, Ctrl-C and going on.

The program is $TAEDA_PROGRAM. Arguments are those of unittest: cli_test.py TrainTest.test_digits
SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import time
import unittest
import zipfile
from pathlib import Path

from support import CURSOR_CODES, TAEDA, ProgramTest, bars, flowers, friedman, png

QUICK = ("--model", "mlp", "--width", "16", "--threads", "1")


class HelpTest(ProgramTest):
    def test_every_command_explains_itself(self):
        out, _ = self.run_taeda("--help")
        commands = re.findall(r"^  ([a-z]+) +[A-Z]", out, re.MULTILINE)
        for command in ("train", "eval", "predict", "info", "bench", "graph", "ops", "version", "completion"):
            self.assertIn(command, commands)
        for command in commands:
            text, _ = self.run_taeda(command, "--help")
            self.assertTrue("Example" in text or command == "version", f"{command} shows no example")

    def test_wrong_command_lines(self):
        self.fails(says="A subcommand is required", status=2)
        self.fails("trian", says=["trian", "train"], status=2)
        self.fails("train", "--epoch", "3", says="--epoch", status=2)
        self.fails("train", "--epochs", "three", says="--epochs", status=2)
        self.fails("eval", says="run is required", status=2)
        self.fails("predict", "x", "--format", "xml", says="--format", status=2)
        for number in ("99999999999999999999", "-99999999999999999999"):
            self.fails("train", "--seed", number, says=["--seed", number], status=2)
            self.fails("eval", "x", "--batch-size", number, says=["--batch-size"], status=2)
        for command in (["eval", ""], ["info", ""], ["predict", ""], ["graph", ""], ["graph", "--html", ""], ["graph", "--dot", ""],
                        ["graph", "--save", ""], ["train", "--config", ""]):
            self.fails(*command, says="must not be empty", status=2)

    def test_folders_that_cannot_be_made(self):
        self.write("file", "")
        for folder in ("/proc/x", "/dev/null/x", "file", "file/x"):
            self.fails("train", *QUICK, "--epochs", "1", "--quiet", "--out", folder, says=[folder, "cannot be made"])

    def test_version_and_operators(self):
        self.assertRegex(self.run_taeda("--version")[0], r"^taeda \d+\.\d+\.\d+\n$")
        out, _ = self.run_taeda("version")
        for part in ("processor", "threads", "oneDNN", "OpenBLAS", "operators"):
            self.assertIn(part, out)
        self.assertIn("softmax(Tensor self", self.run_taeda("ops", "softmax")[0])
        self.fails("ops", "no_such_operator", says="no_such_operator")

    def test_completion(self):
        script, _ = self.run_taeda("completion", "bash")
        for words, found in [(["t"], ["train"]), (["train", "--ep"], ["--epochs"]), (["train", "--model", "resnet"], ["resnet8", "resnet18", "resnet50"]),
                             (["completion", ""], ["bash", "zsh", "fish"])]:
            line = " ".join(f'"{word}"' for word in ["taeda", *words])
            ask = f'{script}\nCOMP_WORDS=({line}); COMP_CWORD={len(words)}; _taeda; echo "${{COMPREPLY[@]}}"\n'
            done = subprocess.run(["bash", "-c", ask], capture_output=True, text=True, check=True)
            self.assertEqual(done.stdout.split(), found)
        for shell in ("zsh", "fish"):
            script, _ = self.run_taeda("completion", shell)
            self.assertIn("epochs", script)
            if shutil.which(shell):
                subprocess.run([shell, "-n"], input=script, text=True, check=True)


class GraphTest(ProgramTest):
    NETWORK = ("graph", "--model", "cnn", "--width", "4")

    def test_before_log_and_after(self):
        out, err = self.run_taeda(*self.NETWORK, "--frozen", "--batch", "2")
        self.assertEqual(err, "")
        before, rest = out.split("== passes\n")
        log, after = rest.split("== after: ")
        after, memory = after.split("== memory of the values in between\n")
        self.assertRegex(memory, r"^\d+ buffers, side by side .* at once at most .* one block with reuse .*\n%\d+: bytes 0 to \d+, nodes 0 to 1\n")
        self.assertTrue(before.startswith("== before: "), before)
        self.assertIn("native_batch_norm", before)
        self.assertIn('input %0: Float[2, 1, 8, 8] "input0"', before)
        self.assertRegex(log, r"fold_batch_norm: 2 changes, \d+ nodes\n  %\d+ = native_batch_norm")
        self.assertNotIn("native_batch_norm", after)
        self.assertNotIn("state", after)

    def test_training_changes_statistics(self):
        out, _ = self.run_taeda(*self.NETWORK, "--train", "--show", "after")
        self.assertIn("mutate %", out)
        self.assertNotIn("== before", out)

    def test_files_are_written_and_read_back(self):
        self.run_taeda(*self.NETWORK, "--frozen", "--show", "none", "--dot", "g.dot", "--html", "g.html", "--save", "g.safetensors")
        self.assertTrue((self.dir / "g.dot").read_text().startswith("digraph"))
        page = (self.dir / "g.html").read_text()
        self.assertTrue(page.startswith("<!doctype html>") and page.endswith("</html>\n"))
        self.assertIn("fold_batch_norm", page)
        self.assertIsNone(re.search(r"https?://", page))
        for link in re.findall(r"href=#(\w+)", page):
            self.assertIn(f"id={link} ", page)
        out, _ = self.run_taeda("graph", "g.safetensors", "--show", "log,after")
        self.assertIn("no pass finds anything", out)
        self.assertIn("convolution", out)

    def test_a_run_and_a_text(self):
        self.run_taeda("train", *QUICK, "--max-steps", "2", "--quiet")
        out, _ = self.run_taeda("graph", "taeda-run", "--show", "before")
        self.assertIn("linear", out)
        self.write("g.txt", 'graph 1\ninput %0: Float[2] "<x>"\n%1: Float[2] = mul.Scalar(%0, 1)\n%2: Float[2] = exp(%1)\nreturn %2\n')
        out, _ = self.run_taeda("graph", "g.txt", "--html", "g.html")
        self.assertIn("simplify: 1 change, 2 nodes\n  %1: Float[2] = mul.Scalar(%0, 1) is %0\n", out)
        self.assertIn("&quot;&lt;x&gt;&quot;", (self.dir / "g.html").read_text())

    def test_gradients(self):
        out, _ = self.run_taeda(*self.NETWORK, "--train", "--gradient", "--dot", "j.dot")
        for part in ("== joint", "== forward", "== backward", "cotangent0", "pointwise_gradient", "== kept from forward to backward"):
            self.assertIn(part, out)
        self.assertIn("pointwise_gradient", (self.dir / "j.dot").read_text())
        self.write("g.txt", 'graph 1\ninput %0: Float[2] "x"\n%1: Float[2] = exp(%0)\nreturn %1\n')
        out, _ = self.run_taeda("graph", "g.txt", "--gradient", "--show", "backward")
        self.assertIn('pointwise_gradient("Exp_grad_self"', out)
        self.assertNotIn("== joint", out)
        self.fails(*self.NETWORK, "--gradient", "--frozen", says="--gradient", status=2)

    def test_what_is_wrong_is_named(self):
        out, _ = self.run_taeda(*self.NETWORK, "--frozen", "--dynamic", "0:batch:1:32", "--save", "d.safetensors")
        self.assertIn("symbol batch in [1, 32]", out)
        self.assertIn("Float[batch, 10]", out)
        self.assertIn("memory of the values in between, batch = 32", out)
        out, _ = self.run_taeda("graph", "d.safetensors", "--show", "before")
        self.assertIn("Float[batch, 10]", out)
        self.write("book.txt", "the quick brown fox jumps over the lazy dog. " * 40)
        out, _ = self.run_taeda("graph", "--model", "gpt", "--data", "text:book.txt", "--width", "16", "--depth", "1", "--block", "16", "--dynamic",
                                "0:batch,1:time:1:16", "--show", "after")
        self.assertIn("Float[batch, time, 16]", out)
        self.fails("graph", "d.safetensors", "--dynamic", "0:batch", says="captured already")
        self.fails("graph", "d.safetensors", "--gradient", says="fixed sizes")
        for wrong in ("batch", "0:batch:1", "x:batch", "0:batch:a:b", "0:batch:2:64"):
            self.fails(*self.NETWORK, "--dynamic", wrong, says="batch")
        self.fails(*self.NETWORK, "--dynamic", "7:batch", says="dimension")
        self.fails("graph", self.write("bad.txt", "graph 1\nreturn %0\n"), says=["bad.txt", "line 2, column 8"])
        self.fails("graph", "none.txt", says="none.txt")
        self.fails("graph", "--input", "3,8", says="--input")
        self.fails("graph", "--input", "0,8,8", says="--input", status=2)
        self.fails("graph", "--batch", "0", says="--batch", status=2)
        self.fails("graph", "--show", "all", says="--show", status=2)
        self.fails("graph", "--model", "vgg", says="--model")
        self.fails("graph", "x", "--input", "1,8,8", says="--input", status=2)
        self.fails("graph", "--model", "linear", "--dot", "no/folder/g.dot", "--show", "none", says="no/folder")


class SettingsTest(ProgramTest):
    def test_every_wrong_value_is_named(self):
        for option, value in [("--epochs", "-1"), ("--batch-size", "-2"), ("--lr", "fast"), ("--lr", "-0.1"), ("--lr", "nan"), ("--model", "vgg"),
                              ("--schedule", "step"), ("--dropout", "1.5"), ("--heads", "0"), ("--precision", "float16"), ("--ema", "1"),
                              ("--weight-decay", "-1"), ("--label-smoothing", "2"), ("--max-steps", "-3"), ("--threads", "-1"), ("--task", "sorting"),
                              ("--out", ""), ("--seed", "-1"), ("--clip", "-1"), ("--val-every", "-1"), ("--image-size", "-4")]:
            with self.subTest(option=option, value=value):
                self.fails("train", option, value, says=option)
        for data in ("mnist", "mnist:", "video:x", "digits:x", ""):
            with self.subTest(data=data):
                self.fails("train", "--data", data, says="--data")
        self.fails("train", "--data", "csv:x.csv", says="--target")
        self.fails("train", "--model", "gpt", says=["gpt reads text", "digits"])
        self.assertEqual(list(self.dir.iterdir()), [])

    def test_toml_round_trip(self):
        first, _ = self.run_taeda("train", "--lr", "0.01", "--data", "csv:a \"b\".csv", "--target", "y", "--no-augment", "--print-config")
        self.write("run.toml", first)
        again, _ = self.run_taeda("train", "--config", "run.toml", "--print-config")
        self.assertEqual(again, first)
        over, _ = self.run_taeda("train", "--config", "run.toml", "--seed", "7", "--augment", "--print-config")
        changed = [line for line in over.splitlines() if line not in first.splitlines()]
        self.assertEqual([line.split("#")[0].strip() for line in changed], ["augment = true", "seed = 7"])
        self.assertRegex(first, r'(?m)^model = "mlp"')
        try:
            import tomllib
        except ImportError:
            return
        self.assertEqual(tomllib.loads(first)["data"], 'csv:a "b".csv')

    def test_wrong_toml_files(self):
        for text, says in [("epochs = ", "line 1"), ("lr = 0.1\nepoch = 3\n", ["line 2", '"epoch"', "epochs"]), ('epochs = "3"', "epochs must be a whole number"),
                           ("augment = 1", "augment must be true or false"), ("epochs = -3", "--epochs"), ("[train]\nlr = 1", "unknown setting")]:
            with self.subTest(text=text):
                self.write("run.toml", text)
                self.fails("train", "--config", "run.toml", says=says)
        self.fails("train", "--config", "none.toml", says="none.toml")


class TrainTest(ProgramTest):
    def test_digits(self):
        """One command, no options: the promise of the first screen."""
        out, err = self.run_taeda("train", "--epochs", "3")
        self.assertEqual(err, "")
        for code in CURSOR_CODES:
            self.assertNotIn(code, out)
        self.assertRegex(out, r"(?m)^ *epoch +step +train_loss +val_loss +val_accuracy +time$")
        self.assertRegex(out, r"(?m)^ *3 +135 +\d\.\d{4} +\d\.\d{4} +0\.\d{4} +\d:\d\d( \*)?$")
        for part in ("1,437 training samples", "Conv2d", "parameters", "val_accuracy", "best    val_accuracy 0.9", "report  taeda-run/report.html", " *"):
            self.assertIn(part, out)
        names = {path.name for path in (self.dir / "taeda-run").iterdir()}
        self.assertTrue({"config.toml", "log.csv", "report.html", "checkpoints"} <= names, names)
        best = re.search(r"best    .*: (\S+)", out).group(1)
        self.assertTrue((self.dir / best).is_file())
        # The measure of the checkpoint is the one that the run reported.
        value = float(re.search(r"best    val_accuracy (\S+):", out).group(1))
        measured = self.run_json("eval", "taeda-run")
        self.assertAlmostEqual(measured["accuracy"], value, places=5)
        self.assertEqual(measured["samples"], 360)
        self.assertTrue({"loss", "f1", "precision", "recall"} <= measured.keys())
        self.assertIn("user", self.run_taeda("info", "taeda-run")[0])
        self.assertIn("float32", self.run_taeda("info", "taeda-run/checkpoints/best.safetensors")[0])

    def test_json_and_quiet(self):
        result = self.run_json("train", *QUICK, "--epochs", "2")
        self.assertEqual((result["epochs"], result["steps"]), (2, 90))
        for key in ("val_accuracy", "val_loss", "train_loss", "seconds", "best_checkpoint", "best_value", "report", "lr"):
            self.assertIn(key, result)
        out, err = self.run_taeda("train", *QUICK, "--epochs", "1", "--quiet")
        self.assertEqual((out, err), ("", ""))
        # The first run was not lost.
        self.assertTrue((self.dir / "taeda-run.1" / "config.toml").is_file())

    def test_shortened_runs(self):
        result = self.run_json("train", *QUICK, "--limit-batches", "5", "--epochs", "2", "--out", "a")
        self.assertEqual(result["steps"], 10)
        result = self.run_json("train", *QUICK, "--max-steps", "7", "--out", "b")
        self.assertEqual((result["steps"], result["stopped_by"]), (7, "max_steps"))
        self.assertIn("val_accuracy", result)
        result = self.run_json("train", *QUICK, "--overfit", "1", "--no-augment", "--epochs", "200", "--lr", "0.02", "--out", "c")
        self.assertGreater(result["val_accuracy"], 0.99)
        self.run_json("train", *QUICK, "--fast-dev-run", "--out", "d")
        self.assertFalse((self.dir / "d").exists())
        result = self.run_json("train", *QUICK, "--epochs", "1", "--val-every", "10", "--out", "e")
        log = (self.dir / "e" / "log.csv").read_text()
        self.assertEqual(log.count("val_accuracy"), 5)  # and at the end

    def test_same_seed_same_numbers(self):
        values = [self.run_json("train", *QUICK, "--epochs", "2", "--seed", seed, "--out", name) for seed, name in (("3", "a"), ("3", "b"), ("4", "c"))]
        self.assertEqual(values[0]["val_loss"], values[1]["val_loss"])
        self.assertNotEqual(values[0]["val_loss"], values[2]["val_loss"])

    def test_rate_finder(self):
        result = self.run_json("train", *QUICK, "--epochs", "2", "--lr", "find")
        self.assertTrue(1e-6 < result["lr"] < 1)
        self.assertIn(f"lr = \"{result['lr']:.3g}\"", (self.dir / "taeda-run" / "config.toml").read_text())

    def test_averaged_weights_are_those_measured(self):
        result = self.run_json("train", *QUICK, "--epochs", "2", "--ema", "0.9")
        self.assertAlmostEqual(self.run_json("eval", "taeda-run")["accuracy"], result["best_value"], places=6)

    def test_missing_and_damaged_data(self):
        self.fails("train", "--data", "mnist:nowhere", says=["nowhere", "IDX"])
        self.fails("train", "--data", "cifar:nowhere", says="nowhere")
        self.fails("train", "--data", "folder:nowhere", says="nowhere")
        self.fails("train", "--data", "csv:none.csv", "--target", "y", says="none.csv")
        self.fails("train", "--data", "text:none.txt", says="none.txt")
        self.write("short.txt", "too short")
        self.fails("train", "--data", "text:short.txt", says="--block")
        self.write("latin.txt", b"caf\xe9 " * 2000)
        self.fails("train", "--data", "text:latin.txt", says="UTF-8")
        self.write("t.csv", flowers(50, 1))
        self.fails("train", "--data", "csv:t.csv", "--target", "colour", says=["colour", "length, width, kind"])
        self.write("broken.csv", "a,b\n1,2\n3\n")
        self.fails("train", "--data", "csv:broken.csv", "--target", "b", says=["broken.csv", "line 3"])
        (self.dir / "m").mkdir()
        bars(self.dir / "m", 40, 1)
        whole = (self.dir / "m" / "train-images-idx3-ubyte").read_bytes()
        self.write("m/train-images-idx3-ubyte", whole[:-100])
        self.fails("train", "--data", "mnist:m", says="train-images-idx3-ubyte")
        self.assertFalse((self.dir / "taeda-run").exists())

    def test_a_folder_that_cannot_be_written(self):
        self.write("file", "x")
        _, err = self.run_taeda("train", *QUICK, "--epochs", "1", "--out", "file/run", status=1)
        self.assertIn("file/run", err)


class DataTest(ProgramTest):
    def test_csv_classification(self):
        self.write("t.csv", flowers(300, 1))
        self.write("new.csv", flowers(60, 2))
        result = self.run_json("train", "--data", "csv:t.csv", "--target", "kind", "--epochs", "20")
        self.assertGreater(result["best_value"], 0.95)
        (self.dir / "t.csv").unlink()  # the model knows what it needs
        self.assertGreater(self.run_json("eval", "taeda-run", "--data", "csv:new.csv")["accuracy"], 0.95)
        rows = [json.loads(line) for line in self.run_taeda("predict", "taeda-run", "new.csv")[0].splitlines()]
        right = [line.split(";")[2] for line in (self.dir / "new.csv").read_text().splitlines()[1:]]
        self.assertEqual(len(rows), 60)
        self.assertGreater(sum(row["class"] == kind for row, kind in zip(rows, right)) / 60, 0.95)
        table, _ = self.run_taeda("predict", "taeda-run", "new.csv", "--format", "table")
        self.assertEqual(table.splitlines()[0].split(), ["source", "class", "probability"])
        self.fails("eval", "taeda-run", says="t.csv")

    def test_csv_regression(self):
        self.write("t.csv", friedman(600, 1))
        self.write("new.csv", "\n".join(line.rsplit(",", 1)[0] for line in friedman(50, 2).splitlines()))
        self.run_json("train", "--data", "csv:t.csv", "--target", "y", "--epochs", "40")
        measured = self.run_json("eval", "taeda-run")
        self.assertGreater(measured["r2"], 0.85)
        self.assertTrue({"mae", "rmse", "loss"} <= measured.keys())
        rows = [json.loads(line) for line in self.run_taeda("predict", "taeda-run", "new.csv")[0].splitlines()]
        right = [float(line.rsplit(",", 1)[1]) for line in friedman(50, 2).splitlines()[1:]]
        self.assertLess(sum(abs(row["y"] - y) for row, y in zip(rows, right)) / 50, 2)

    def test_mnist_files_and_images(self):
        (self.dir / "m").mkdir()
        bars(self.dir / "m", 300, 1)
        result = self.run_json("train", "--data", "mnist:m", "--epochs", "4", "--no-augment", "--width", "8", "--batch-size", "32")
        self.assertGreater(result["best_value"], 0.95)
        self.write("bar.png", png(12, 12, lambda x, y: 255 if x == 5 else 10))
        self.write("large.png", png(48, 48, lambda x, y: 255 if y // 4 == 5 else 10))
        rows = [json.loads(line) for line in self.run_taeda("predict", "taeda-run", "bar.png", "large.png")[0].splitlines()]
        self.assertEqual([row["class"] for row in rows], ["0", "1"])
        self.write("bad.png", png(12, 12, lambda x, y: 0)[:60])
        self.fails("predict", "taeda-run", "bad.png", says="bad.png")
        self.fails("predict", "taeda-run", "none.png", says="none.png")
        self.fails("predict", "taeda-run", says="no files")

    def test_image_folder(self):
        for i in range(40):
            self.write(f"f/dark/{i}.png", png(20, 16, lambda x, y: (x * 7 + y * 3 + i) % 60))
            self.write(f"f/light/{i}.png", png(16, 20, lambda x, y: 190 + (x * 7 + y * 3 + i) % 60))
        result = self.run_json("train", "--data", "folder:f", "--model", "cnn", "--image-size", "16", "--width", "8", "--epochs", "4")
        self.assertGreater(result["best_value"], 0.9)
        row = json.loads(self.run_taeda("predict", "taeda-run", "f/light/3.png")[0])
        self.assertEqual(row["class"], "light")
        self.assertEqual(self.run_json("eval", "taeda-run", "--data", "folder:f/")["samples"], 80)
        self.write("f/dark/7.png", b"not an image")
        self.fails("train", "--data", "folder:f", says="7.png")

    def test_text(self):
        self.write("t.txt", "the quick brown fox jumps over the lazy dog. " * 200)
        result = self.run_json("train", "--data", "text:t.txt", "--model", "gpt", "--width", "32", "--depth", "1", "--block", "16", "--max-steps", "150")
        self.assertLess(result["val_loss"], 1.5)
        (self.dir / "t.txt").unlink()
        write = ("predict", "taeda-run", "--prompt", "the quick", "--length", "30")
        out, _ = self.run_taeda(*write, "--temperature", "0")
        self.assertTrue(out.startswith("the quick"))
        self.assertEqual(len(out), len("the quick") + 31)
        self.assertEqual(out, self.run_taeda(*write, "--top-k", "1", "--seed", "5")[0])
        self.assertEqual(self.run_taeda(*write, "--seed", "5"), self.run_taeda(*write, "--seed", "5"))
        self.assertNotEqual(self.run_taeda(*write, "--seed", "5", "--temperature", "3"), self.run_taeda(*write, "--seed", "6", "--temperature", "3"))
        self.write("start.txt", "over the")
        row = json.loads(self.run_taeda("predict", "taeda-run", "start.txt", "--length", "20", "--format", "jsonl")[0])
        self.assertEqual((row["prompt"], len(row["text"])), ("over the", 20))
        self.fails("predict", "taeda-run", "--prompt", "QUICK", says="'Q'")

    def test_a_text_epoch_sees_the_text_once(self):
        self.write("t.txt", "abcdefghij" * 1000)
        result = self.run_json("train", "--data", "text:t.txt", "--model", "lstm", "--width", "8", "--depth", "1", "--block", "10", "--batch-size", "9",
                               "--epochs", "1")
        self.assertEqual(result["steps"], 100)  # 9,000 characters in windows of 10, 9 at a time (the last is one short)


class DamageTest(ProgramTest):
    def test_checkpoints(self):
        """Truncated, changed and foreign files end in a message, never in a crash."""
        self.run_json("train", *QUICK, "--epochs", "1")
        last = self.dir / "taeda-run" / "checkpoints" / "last.pt"
        whole = last.read_bytes()
        for size in (0, 1, 30, len(whole) // 2, len(whole) - 1):
            last.write_bytes(whole[:size])
            with self.subTest(size=size):
                self.fails("eval", last, says="last.pt")
                self.fails("info", last, says="last.pt")
                self.fails("train", "--resume", says="last.pt")
        for at in range(0, len(whole), max(1, len(whole) // 40)):
            changed = bytearray(whole)
            changed[at] ^= 0x55
            last.write_bytes(changed)
            done = subprocess.run([TAEDA, "eval", last], capture_output=True, text=True, cwd=self.dir, timeout=60)
            self.assertIn(done.returncode, (0, 1), f"byte {at}: {done.stderr}")
            self.assertEqual(done.stderr.startswith("taeda: "), done.returncode == 1, done.stderr)
        # A small file that describes a huge model.
        last.write_bytes(whole)
        with zipfile.ZipFile(last) as source, zipfile.ZipFile(self.dir / "huge.pt", "w") as target:
            for entry in source.infolist():
                content = source.read(entry)
                self.assertTrue(not entry.filename.endswith("data.pkl") or b"width = 16    " in content)
                target.writestr(entry.filename, content.replace(b"width = 16    ", b"width = 999999"))
        self.fails("eval", "huge.pt", says=["huge.pt", "larger than the file"])
        self.write("weights.pt", b"PK\x03\x04 nothing")
        self.fails("eval", "weights.pt", says="weights.pt")
        self.fails("eval", self.dir, says="there must be a run")
        self.fails("eval", "nowhere", says="nowhere")
        self.fails("train", "--resume", "nowhere", says="nowhere")
        self.fails("eval", "taeda-run/checkpoints/best.safetensors", says="configuration")

    def test_other_data_of_another_kind(self):
        self.write("t.csv", flowers(60, 1))
        self.run_json("train", *QUICK, "--epochs", "1")
        self.fails("eval", "taeda-run", "--data", "csv:t.csv", says="--target")
        (self.dir / "m").mkdir()
        bars(self.dir / "m", 20, 1)
        self.fails("eval", "taeda-run", "--data", "mnist:m", says="--data")


class InterruptTest(ProgramTest):
    LONG = ("train", "--model", "mlp", "--width", "64", "--threads", "1", "--epochs", "25", "--no-augment")

    def weights(self, out):
        return (self.dir / out / "checkpoints" / "best.safetensors").read_bytes(), (self.dir / out / "log.csv").read_text()

    def test_going_on_after_ctrl_c_equals_the_unbroken_run(self):
        self.run_taeda(*self.LONG, "--out", "whole")
        for number, (sent, wait) in enumerate([(signal.SIGINT, 0.2), (signal.SIGTERM, 0.6)]):
            out = f"broken{number}"
            with subprocess.Popen([TAEDA, *self.LONG, "--out", out], cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
                deadline = time.time() + 60
                while not (self.dir / out / "checkpoints" / "last.pt").exists() and time.time() < deadline:
                    time.sleep(0.01)
                time.sleep(wait)
                run.send_signal(sent)
                printed, errors = run.communicate(timeout=60)
            if run.returncode == 0:
                self.skipTest("the machine was too fast to be interrupted")
            self.assertEqual(run.returncode, 130, errors)
            self.assertIn(f"go on with: taeda train --resume {out}", printed)
            self.run_taeda("train", "--resume", out)
            self.assertEqual(self.weights(out), self.weights("whole"))

    def test_a_moved_run_goes_on_for_longer(self):
        self.run_json(*self.LONG[:-2], "2", "--out", "a")
        (self.dir / "a").rename(self.dir / "b")
        result = self.run_json("train", "--resume", "b", "--epochs", "3")
        self.assertEqual(result["epochs"], 3)
        self.assertTrue(result["last_checkpoint"].startswith("b/"))
        self.assertFalse((self.dir / "a").exists())
        out, _ = self.run_taeda("train", "--resume", "b")
        self.assertIn("nothing was left to do; raise --epochs", out)


class TerminalTest(ProgramTest):
    def test_a_bar_on_a_terminal(self):
        master, slave = pty.openpty()
        environment = dict(os.environ, TERM="xterm", COLUMNS="60")
        # Small batches: an epoch lasts longer than the bar's pause on any machine.
        run = subprocess.Popen([TAEDA, "train", "--epochs", "2", "--batch-size", "2", "--threads", "1"], cwd=self.dir, stdout=slave, stderr=slave, env=environment)
        os.close(slave)
        text = b""
        while True:
            ready, _, _ = select.select([master], [], [], 60)
            if not ready:
                break
            try:
                part = os.read(master, 65536)
            except OSError:
                break
            if not part:
                break
            text += part
        self.assertEqual(run.wait(timeout=60), 0)
        os.close(master)
        shown = text.decode()
        self.assertIn("\r\x1b[K", shown)
        self.assertRegex(shown, r"epoch \d/2  ?\[[=> ]+\] \d+/\d{3}  [\d,]+ batches/s  \d:\d\d left  loss \d")


class BenchTest(ProgramTest):
    def test_times_add_up(self):
        result = self.run_json("bench", "--model", "mlp", "--steps", "20", "--threads", "1")
        self.assertAlmostEqual(result["forward_backward_ms"] + result["optimizer_ms"], result["step_ms"], places=6)
        self.assertGreater(result["samples_per_second"], 0)
        self.assertGreater(result["peak_memory_bytes"], 0)
        self.assertIn("inference", self.run_taeda("bench", "--model", "linear", "--steps", "3")[0])


if __name__ == "__main__":
    TAEDA = str(Path(TAEDA).resolve())
    unittest.main(verbosity=1)
