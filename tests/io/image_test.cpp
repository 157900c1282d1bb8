// SPDX-License-Identifier: Apache-2.0
// Images against files and pixels made by Pillow, and damage.
#include "taeda/io/image.h"

#include <algorithm>
#include <cmath>

#include "taeda/io/describe.h"
#include "taeda/io/npy.h"
#include "tests/io/io_support.h"

namespace taeda::test {
namespace {

/// Pixels recorded as (height, width, channels).
Tensor recorded(const std::string& name) {
  const Tensor rows = io::load_npy(fixture(name));
  Tensor image = make_tensor_strided({rows.size(2), rows.size(0), rows.size(1)}, {1, rows.size(1) * rows.size(2), rows.size(2)}, kByte);
  std::memcpy(image.mutable_data_ptr(), rows.const_data_ptr(), rows.nbytes());
  return image;
}

int largest_difference(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.sizes(), b.sizes());
  const auto x = values<uint8_t>(a), y = values<uint8_t>(b);
  int largest = 0;
  for (size_t i = 0; i < x.size() && i < y.size(); ++i) largest = std::max(largest, std::abs(x[i] - y[i]));
  return largest;
}

TEST(Image, DecodesPng) {
  const Tensor expected = recorded("color.npy");
  EXPECT_EQ(largest_difference(io::load_image(fixture("color.png")), expected), 0);
  EXPECT_EQ(largest_difference(io::load_image(fixture("alpha.png")), expected), 0);
  EXPECT_EQ(io::load_image(fixture("alpha.png"), {.mode = io::ImageMode::kUnchanged}).size(0), 4);
  EXPECT_EQ(io::load_image(fixture("gray.png"), {.mode = io::ImageMode::kUnchanged}).size(0), 1);
  EXPECT_EQ(io::load_image(fixture("gray.png")).size(0), 3);
  EXPECT_EQ(io::load_image(fixture("palette.png")).sizes(), expected.sizes());
  EXPECT_EQ(io::load_image(fixture("bits.png")).sizes(), expected.sizes());
  EXPECT_EQ(values<uint8_t>(io::load_image(fixture("deep.png"), {.mode = io::ImageMode::kGray}))[20], 20);
  EXPECT_LE(largest_difference(io::load_image(fixture("color.png"), {.mode = io::ImageMode::kGray}),
                               io::load_image(fixture("gray.png"), {.mode = io::ImageMode::kGray})), 1);
}

TEST(Image, DecodesJpeg) {
  EXPECT_LE(largest_difference(io::load_image(fixture("color.jpg")), recorded("color_jpg.npy")), 2);
  EXPECT_EQ(io::load_image(fixture("progressive.jpg")).sizes(), (IntArrayRef{3, 12, 20}));
  EXPECT_EQ(io::load_image(fixture("gray.jpg"), {.mode = io::ImageMode::kUnchanged}).size(0), 1);
  EXPECT_LE(largest_difference(io::load_image(fixture("cmyk.jpg")), recorded("color.npy")), 40);
}

TEST(Image, DecodesSmallerWhereThatIsEnough) {
  const std::string large = io::encode_jpeg(io::resize_image(recorded("color.npy"), 240, 400));
  EXPECT_EQ(io::decode_image(large, {.min_height = 100, .min_width = 100}).sizes(), (IntArrayRef{3, 120, 200}));
  EXPECT_EQ(io::decode_image(large, {.min_height = 30, .min_width = 50}).sizes(), (IntArrayRef{3, 30, 50}));
  EXPECT_EQ(io::decode_image(large, {.min_height = 121, .min_width = 1}).sizes(), (IntArrayRef{3, 240, 400}));
}

TEST(Image, EncodesWhatItDecodes) {
  const TemporaryFolder folder;
  const Tensor image = recorded("color.npy");
  for (const char* name : {"a.png", "b.jpg", "c.JPEG"}) {
    io::save_image(folder / name, image);
    EXPECT_LE(largest_difference(io::load_image(folder / name), image), std::string(name) == "a.png" ? 0 : 20) << name;
  }
  EXPECT_THROW(io::save_image(folder / "a.gif", image), ValueError);
  const Tensor plain = make<uint8_t>({1, 2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(values<uint8_t>(io::decode_image(io::encode_png(plain), {.mode = io::ImageMode::kUnchanged})), (std::vector<uint8_t>{1, 2, 3, 4}));
}

TEST(Image, DamageEndsInErrors) {
  for (const char* name : {"color.png", "palette.png", "color.jpg", "progressive.jpg"}) {
    const std::string bytes = io::read_file(fixture(name));
    for (size_t n = 0; n + 2 < bytes.size(); ++n) {  // a JPEG may lack its last two bytes, the end mark, without losing pixels
      EXPECT_THROW(io::decode_image(bytes.substr(0, n)), IoError) << name << " truncated to " << n;
    }
    flip_bits(bytes, 3000, [](const io::SourcePtr& source) { io::decode_image(source->read_all(), {.max_pixels = 1 << 20}); });
  }
  expect_io_error([] { io::decode_image("GIF89a", {}, "x.gif"); }, "x.gif is neither a JPEG nor a PNG image");
  expect_io_error([] { io::load_image(fixture("color.png"), {.max_pixels = 100}); }, "color.png is too large: 20 x 12");
}

TEST(Image, ResizesAsPillowDoes) {
  const Tensor image = recorded("color.npy");
  for (const char* name : {"down", "up", "mixed"}) {
    const Tensor expected = recorded(std::string("resized_") + name + ".npy");
    EXPECT_EQ(largest_difference(io::resize_image(image, expected.size(1), expected.size(2)), expected), 0) << name;
  }
}

TEST(Image, ResizesFloatAndNearest) {
  const Tensor ramp = make<float>({1, 1, 4}, {0, 1, 2, 3});
  EXPECT_EQ(values<float>(io::resize_image(ramp, 1, 2)), (std::vector<float>{0.714285731f, 2.28571415f}));
  EXPECT_EQ(values<float>(io::resize_image(ramp, 1, 2, io::Interpolation::kBilinear, false)), (std::vector<float>{0.5f, 2.5f}));
  EXPECT_EQ(values<float>(io::resize_image(ramp, 2, 8, io::Interpolation::kNearest)),
            (std::vector<float>{0, 0, 1, 1, 2, 2, 3, 3, 0, 0, 1, 1, 2, 2, 3, 3}));
  EXPECT_THROW(io::resize_image(ramp, 0, 2), ValueError);
  EXPECT_THROW(io::resize_image(make<float>({2}, {0, 1}), 1, 1), ValueError);
}

TEST(Image, CropsFlipsAndPads) {
  const Tensor image = make<uint8_t>({1, 2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(values<uint8_t>(io::crop_image(image, 0, 1, 2, 2)), (std::vector<uint8_t>{2, 3, 5, 6}));
  EXPECT_TRUE(io::crop_image(image, 0, 1, 2, 2).is_alias_of(image));
  EXPECT_EQ(values<uint8_t>(io::crop_image(image, -1, -1, 2, 2, 9)), (std::vector<uint8_t>{9, 9, 9, 1}));
  EXPECT_EQ(values<uint8_t>(io::crop_image(image, 5, 5, 1, 2, 7)), (std::vector<uint8_t>{7, 7}));
  EXPECT_EQ(values<uint8_t>(io::center_crop_image(image, 2, 1)), (std::vector<uint8_t>{2, 5}));
  EXPECT_EQ(values<uint8_t>(io::flip_image_horizontal(image)), (std::vector<uint8_t>{3, 2, 1, 6, 5, 4}));
  EXPECT_EQ(values<uint8_t>(io::flip_image_vertical(image)), (std::vector<uint8_t>{4, 5, 6, 1, 2, 3}));
  const Tensor planar = make<uint8_t>({3, 1, 2}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(values<uint8_t>(io::flip_image_horizontal(planar)), (std::vector<uint8_t>{2, 1, 4, 3, 6, 5}));
  EXPECT_EQ(values<uint8_t>(io::flip_image_horizontal(io::crop_image(planar, 0, 0, 1, 1))), (std::vector<uint8_t>{1, 3, 5}));
}

TEST(Image, ChangesColors) {
  const Tensor image = make<uint8_t>({3, 1, 2}, {200, 10, 100, 20, 50, 30});
  EXPECT_EQ(values<uint8_t>(io::adjust_brightness(image, 1.5)), (std::vector<uint8_t>{255, 15, 150, 30, 75, 45}));
  EXPECT_EQ(values<uint8_t>(io::adjust_saturation(image, 1)), values<uint8_t>(image));
  EXPECT_EQ(values<uint8_t>(io::adjust_saturation(image, 0)), (std::vector<uint8_t>{124, 18, 124, 18, 124, 18}));
  EXPECT_EQ(values<uint8_t>(io::adjust_contrast(image, 0)), (std::vector<uint8_t>{71, 71, 71, 71, 71, 71}));
  EXPECT_EQ(values<uint8_t>(io::adjust_hue(image, 0)), values<uint8_t>(image));
  const auto turned = values<uint8_t>(io::adjust_hue(make<uint8_t>({3, 1, 1}, {255, 0, 0}), 1.0 / 3));
  EXPECT_LE(turned[0], 1);
  EXPECT_EQ(turned[1], 255);
  EXPECT_EQ(turned[2], 0);
  EXPECT_THROW(io::adjust_brightness(image, -1), ValueError);
  EXPECT_THROW(io::adjust_hue(make<uint8_t>({1, 1, 1}, {1}), 0.1), ValueError);
}

TEST(Image, BecomesAFloatTensor) {
  const Tensor plain = io::image_to_float(make<uint8_t>({3, 1, 1}, {0, 51, 255}));
  EXPECT_EQ(values<float>(plain), (std::vector<float>{0, 51.0f / 255.0f, 1}));
  const Tensor normal = io::image_to_float(make<uint8_t>({3, 1, 1}, {0, 255, 255}), {0.5, 0.25, 0.0}, {0.5});
  EXPECT_EQ(values<float>(normal), (std::vector<float>{-1, 1.5, 2}));
  EXPECT_TRUE(io::image_to_float(recorded("color.npy")).is_contiguous());
  EXPECT_THROW(io::image_to_float(make<uint8_t>({3, 1, 1}, {0, 0, 0}), {0.1, 0.2}), ValueError);
}

TEST(Describe, SaysWhatIsInAFile) {
  const auto has = [](const std::string& name, const std::string& part) {
    const std::string text = io::describe_file(fixture(name));
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has("state_dict.pt", "PyTorch file: 7 tensors");
  has("state_dict.pt", "fc.weight");
  has("checkpoint.pt", "betas");
  has("three.safetensors", "metadata made");
  has("three.safetensors", "float32 (2, 3)");
  has("row.npy", "NumPy array: float32 (2, 3)");
  has("pair.npz", "NumPy archive: 2 arrays");
  has("color.png", "png image: 20 x 12, 3 channels");
  has("gray.jpg", "jpeg image: 20 x 12, 1 channel");
  expect_io_error([] { io::describe_file(fixture("../file_test.cpp")); }, "of no known format");
}

}  // namespace
}  // namespace taeda::test
