#!/usr/bin/env python3
"""The peer of models_images.cpp: the same epoch with torchvision. Prints what Google Benchmark would.
SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import time

import torch
from torchvision import datasets, transforms


def main():
    torch.set_num_threads(1)  # in this process; the work is done by the two others
    steps = [transforms.RandomResizedCrop(224), transforms.RandomHorizontalFlip(), transforms.ToTensor(),
             transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))]
    images = datasets.ImageFolder(os.environ["BENCH_IMAGES"], transforms.Compose(steps))
    loader = torch.utils.data.DataLoader(images, batch_size=32, shuffle=True, num_workers=2, persistent_workers=True)
    epoch = lambda: sum(len(target) for _, target in loader)  # noqa: E731
    epoch()  # starts the workers
    start = time.perf_counter()
    for _ in range(3):
        epoch()
    nanoseconds = (time.perf_counter() - start) / 3 * 1e9
    print(json.dumps({"benchmarks": [{"name": "image_folder_224_epoch/iterations:3", "real_time": nanoseconds, "cpu_time": nanoseconds, "time_unit": "ns"}]}))


if __name__ == "__main__":
    main()
