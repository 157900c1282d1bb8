// SPDX-License-Identifier: Apache-2.0
// Writes into tensors that share memory with what is read. Which are errors is what PyTorch 2.13 does.
#include <gtest/gtest.h>

#include "taeda/core/error.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/operators.h"

namespace taeda {
namespace {

template <class F>
void expect_refused(const F& f, Tensor& all, int line = __builtin_LINE()) {
  const testing::ScopedTrace trace(__FILE__, line, "");
  const Tensor before = all.clone();
  EXPECT_THROW(f(), Error);
  EXPECT_TRUE(taeda::equal(all, before)) << "something was written";
}

TEST(Overlap, PartOfTheWrittenTensorIsRefused) {
  Tensor a = taeda::rand({4, 4}), line = taeda::rand({8});
  Tensor head = line.slice(0, 0, 4);
  const Tensor shifted = line.slice(0, 2, 6), tail = line.slice(0, 4, 8);
  expect_refused([&] { a.add_(a[0]); }, a);
  expect_refused([&] { a.div_(a[0][0]); }, a);
  expect_refused([&] { a.add_(a.t()); }, a);
  expect_refused([&] { a.copy_(a.t()); }, a);
  expect_refused([&] { head.add_(shifted); }, line);
  expect_refused([&] { head.copy_(shifted); }, line);
  expect_refused([&] { line.slice(0, 1, 8).copy_(line.slice(0, 0, 7)); }, line);
  expect_refused([&] { taeda::exp_out(head, shifted); }, line);
  expect_refused([&] { taeda::add_out(head, shifted, tail); }, line);
  expect_refused([&] { taeda::where_out(head, tail > 0, shifted, tail); }, line);
}

TEST(Overlap, IndexedWritesRefuseASourceThatOverlaps) {
  Tensor line = taeda::rand({5});
  Tensor head = line.slice(0, 0, 4);
  const Tensor shifted = line.slice(0, 1, 5);
  const Tensor index = taeda::arange(4).remainder(3), all = taeda::arange(4);
  expect_refused([&] { head.index_add_(0, index, shifted); }, line);
  expect_refused([&] { head.index_copy_(0, all, shifted); }, line);
  expect_refused([&] { head.index_reduce_(0, index, shifted, "prod"); }, line);
  expect_refused([&] { head.scatter_(0, index, shifted); }, line);
  expect_refused([&] { head.scatter_add_(0, index, shifted); }, line);
  expect_refused([&] { head.scatter_reduce_(0, index, shifted, "amax"); }, line);
  expect_refused([&] { head.put_(index, shifted); }, line);
  expect_refused([&] { head.index_put_({index}, shifted); }, line);
  Tensor row = taeda::rand({1, 4});
  Tensor wide = row.expand({3, 4});
  expect_refused([&] { wide.scatter_reduce_(0, taeda::zeros({3, 4}, kLong), taeda::rand({3, 4}), "amax"); }, row);
  expect_refused([&] { wide.index_reduce_(0, taeda::arange(3), taeda::rand({3, 4}), "amax"); }, row);
}

TEST(Overlap, OutputsThatTakePartOfAnInputAreRefused) {
  Tensor line = taeda::rand({8}), table = taeda::rand({10});
  Tensor head = line.slice(0, 0, 4), square = table.slice(0, 0, 9).view({3, 3});
  const Tensor shifted = line.slice(0, 1, 5), moved = table.slice(0, 1, 10).view({3, 3}), all = taeda::arange(4), m = taeda::rand({3, 3});
  expect_refused([&] { taeda::index_select_out(head, shifted, 0, all); }, line);
  expect_refused([&] { taeda::gather_out(head, shifted, 0, all); }, line);
  expect_refused([&] { taeda::scatter_out(head, shifted, 0, all, taeda::rand({4})); }, line);
  expect_refused([&] { taeda::scatter_add_out(head, taeda::rand({4}), 0, all, shifted); }, line);
  expect_refused([&] { taeda::take_out(head, shifted, all); }, line);
  expect_refused([&] { taeda::index_add_out(head, shifted, 0, all, taeda::rand({4})); }, line);
  expect_refused([&] { taeda::index_out(head, shifted, {all}); }, line);
  expect_refused([&] { taeda::masked_select_out(head, shifted, shifted.gt(-1)); }, line);
  expect_refused([&] { taeda::cumsum_out(head, shifted, 0); }, line);
  expect_refused([&] { taeda::clamp_out(head, shifted, 0, 1); }, line);
  expect_refused([&] { taeda::cat_out(head, {shifted}); }, line);
  expect_refused([&] { taeda::mse_loss_out(head, shifted, taeda::rand({4}), 0); }, line);
  expect_refused([&] { taeda::bernoulli_out(head, shifted); }, line);
  expect_refused([&] { taeda::addmm_out(square, moved, m, m); }, table);
  expect_refused([&] { taeda::renorm_out(square, moved, 2, 0, 1); }, table);
  // Where the product is complete before it is written, it may lie on its factors.
  const Tensor want = taeda::mm(moved, m);
  EXPECT_TRUE(taeda::equal(taeda::mm_out(square, moved, m), want));
}

TEST(Overlap, TheSameElementsAndOthersAreFine) {
  Tensor a = taeda::arange(16).reshape({4, 4}).to(kFloat);
  const Tensor twice = a * 2;
  EXPECT_TRUE(taeda::equal(a.add_(a), twice));
  Tensor out = a;
  EXPECT_TRUE(taeda::equal(taeda::neg_out(out, a), -twice));
  Tensor line = taeda::arange(8).to(kFloat);
  line.slice(0, 0, 8, 2).add_(line.slice(0, 1, 8, 2));  // interleaved
  EXPECT_TRUE(taeda::equal(line, taeda::stack({taeda::arange(4) * 4 + 1, taeda::arange(4) * 2 + 1}, 1).flatten().to(kFloat)));
  Tensor folded = taeda::arange(4).to(kFloat);
  folded.slice(0, 1, 3).add_(folded.slice(0, 0, 4, 3));  // strided: read as if before the write
  EXPECT_TRUE(taeda::equal(folded, taeda::stack({taeda::full({}, 0), taeda::full({}, 1), taeda::full({}, 5), taeda::full({}, 3)}).to(kFloat)));
}

TEST(Overlap, ExpandedTensorsTakeOneValueOnly) {
  Tensor one = taeda::rand({1});
  Tensor wide = one.expand({4});
  expect_refused([&] { wide.add_(1); }, one);
  expect_refused([&] { taeda::exp_out(wide, taeda::rand({4})); }, one);
  expect_refused([&] { wide.copy_(taeda::rand({4})); }, one);
  expect_refused([&] { wide.normal_(); }, one);
  expect_refused([&] { wide.squeeze_(0).relu_(); }, one);
  expect_refused([&] { wide.renorm_(2, 0, 0.01); }, one);
  expect_refused([&] { wide.scatter_(0, taeda::zeros({4}, kLong), taeda::rand({4})); }, one);
  wide.fill_(3);
  EXPECT_EQ(one.item<float>(), 3);
  wide.fill_(taeda::full({}, 4));
  EXPECT_EQ(one.item<float>(), 4);
  wide.zero_();
  EXPECT_EQ(one.item<float>(), 0);
}

}  // namespace
}  // namespace taeda
