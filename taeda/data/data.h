// SPDX-License-Identifier: Apache-2.0
// Everything about data: data sets, samplers, transforms, loaders, readers.
#pragma once

#include "taeda/data/any_loader.h"
#include "taeda/data/chunk_dataset.h"
#include "taeda/data/csv.h"
#include "taeda/data/data_loader.h"
#include "taeda/data/idx.h"
#include "taeda/data/image_folder.h"
#include "taeda/data/image_transforms.h"
#include "taeda/data/tensor_dataset.h"
#include "taeda/data/text.h"

namespace taeda::data {
using datasets::BatchDataset;
using datasets::Dataset;
}  // namespace taeda::data
