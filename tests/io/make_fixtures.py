#!/usr/bin/env python3
"""Makes the files of tests/io/fixtures with PyTorch, NumPy, safetensors and Pillow. The tests need the files only.

Run as `python3 tests/io/make_fixtures.py`; the committed files were made with PyTorch 2.15, NumPy 2.4, safetensors 0.8 and Pillow 13.
SPDX-License-Identifier: Apache-2.0
"""
from collections import OrderedDict
from pathlib import Path

import numpy
import torch
from PIL import Image
from safetensors.numpy import save_file

OUT = Path(__file__).resolve().parent / "fixtures"


def small_model():
    torch.manual_seed(0)
    model = torch.nn.Sequential(OrderedDict(fc=torch.nn.Linear(3, 2), norm=torch.nn.BatchNorm1d(2)))
    with torch.no_grad():
        model.fc.weight.copy_(torch.arange(6.0).reshape(2, 3))
        model.fc.bias.copy_(torch.tensor([0.5, -0.5]))
    return model


def make_pt():
    model = small_model()
    torch.save(model.state_dict(), OUT / "state_dict.pt")
    torch.save(torch.arange(12, dtype=torch.float64).reshape(3, 4), OUT / "tensor.pt")
    optimizer = torch.optim.Adam(model.parameters(), lr=0.25, betas=(0.5, 0.75))
    model(torch.ones(4, 3)).sum().backward()
    optimizer.step()
    base = torch.arange(10.0)
    torch.save({
        "optimizer": optimizer.state_dict(), "epoch": 3, "large": -(1 << 40), "rate": 0.125, "name": "grün", "done": False,
        "nothing": None, "list": [1, 2.5, "x", [True]], "tuple": (4, 5), "size": torch.Size([2, 3]), "dtype": torch.float16,
        "device": torch.device("cpu"), "bytes": b"\x00\xff", "base": base, "view": base[2:8:2], "transposed": base[:6].reshape(2, 3).t(),
        "parameter": torch.nn.Parameter(torch.tensor([1.5])), "empty": torch.zeros(0, 3), "scalar": torch.tensor(7),
    }, OUT / "checkpoint.pt")
    values = [0, 1, 2]
    torch.save([torch.tensor(values, dtype=t) for t in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16,
                                                       torch.bfloat16, torch.float32, torch.float64, torch.bool)], OUT / "dtypes.pt")
    torch.save(torch.nn.Linear(1, 1), OUT / "module.pt")
    torch.save(torch.ones(2), OUT / "legacy.pt", _use_new_zipfile_serialization=False)
    torch.save(torch.ones(2, dtype=torch.complex64), OUT / "complex.pt")


def make_numpy():
    numpy.save(OUT / "row.npy", numpy.arange(6, dtype="<f4").reshape(2, 3))
    numpy.save(OUT / "column.npy", numpy.asfortranarray(numpy.arange(24, dtype="<i8").reshape(2, 3, 4)))
    numpy.save(OUT / "big.npy", numpy.array([1.5, -2.0], dtype=">f8"))
    numpy.savez(OUT / "pair.npz", a=numpy.array([True, False]), b=numpy.array(3, dtype="<i2"))
    numpy.savez_compressed(OUT / "packed.npz", zeros=numpy.zeros(1000, dtype="<f2"), half=numpy.array([0.5], dtype="<f2"))
    save_file({"w": numpy.arange(6, dtype="<f4").reshape(2, 3), "n": numpy.array([1, 2], dtype="<i8"),
               "flag": numpy.array([True])}, OUT / "three.safetensors", metadata={"made": "here"})


def make_images():
    rows = numpy.array([[(10 * x, 20 * y, 255 - 5 * x) for x in range(20)] for y in range(12)], dtype="u1")
    picture = Image.fromarray(rows)
    picture.save(OUT / "color.png")
    picture.save(OUT / "color.jpg", quality=95)
    picture.save(OUT / "progressive.jpg", quality=80, progressive=True)
    picture.convert("L").save(OUT / "gray.png")
    picture.convert("L").save(OUT / "gray.jpg")
    picture.convert("RGBA").save(OUT / "alpha.png")
    picture.quantize(8).save(OUT / "palette.png")
    picture.convert("1").save(OUT / "bits.png")
    picture.convert("CMYK").save(OUT / "cmyk.jpg")
    Image.fromarray((rows[:, :, 1].astype("u2") << 8) + 7).save(OUT / "deep.png")
    numpy.save(OUT / "color.npy", rows)
    numpy.save(OUT / "color_jpg.npy", numpy.asarray(Image.open(OUT / "color.jpg")))
    for name, size in {"down": (7, 5), "up": (33, 25), "mixed": (31, 4)}.items():
        numpy.save(OUT / f"resized_{name}.npy", numpy.asarray(picture.resize(size, Image.BILINEAR)))


if __name__ == "__main__":
    OUT.mkdir(exist_ok=True)
    make_pt()
    make_numpy()
    make_images()
