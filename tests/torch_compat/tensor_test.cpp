// SPDX-License-Identifier: Apache-2.0
// Programs as a user of LibTorch writes them: creation, operators, indexing, printing, dispatch, errors.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <sstream>

namespace {

using namespace torch::indexing;  // NOLINT

std::string text(const torch::Tensor& t) {
  std::ostringstream stream;
  stream << t;
  return stream.str();
}

TEST(TorchCompat, ValuesGetLibTorchsDtypes) {
  EXPECT_EQ(torch::tensor(1).scalar_type(), torch::kLong);
  EXPECT_EQ(torch::tensor(1.5).scalar_type(), torch::kFloat);
  EXPECT_EQ(torch::tensor(1.5f).scalar_type(), torch::kFloat);
  EXPECT_EQ(torch::tensor(true).scalar_type(), torch::kBool);
  EXPECT_EQ(torch::tensor({1, 2, 3}).scalar_type(), torch::kLong);
  EXPECT_EQ(torch::tensor({1.0, 2.0}, torch::kDouble).scalar_type(), torch::kDouble);
  EXPECT_EQ(torch::tensor(std::vector<int64_t>{1, 2}).scalar_type(), torch::kLong);
  EXPECT_EQ(torch::tensor(std::vector<int>{1, 2}).scalar_type(), torch::kLong);
  EXPECT_EQ(torch::tensor(std::vector<uint8_t>{1, 2}).scalar_type(), torch::kByte);
  EXPECT_EQ(torch::tensor(std::vector<bool>{true, false}).scalar_type(), torch::kBool);
  EXPECT_EQ(torch::tensor({true, false}).scalar_type(), torch::kBool);
}

TEST(TorchCompat, NestedListsGiveShapes) {
  EXPECT_EQ(torch::tensor(1).sizes(), torch::IntArrayRef({}));
  EXPECT_EQ(torch::tensor({1}).sizes(), torch::IntArrayRef({1}));
  EXPECT_EQ(torch::tensor({{1, 2, 3}, {4, 5, 6}}).sizes(), torch::IntArrayRef({2, 3}));
  EXPECT_EQ(torch::tensor({{{1.0}, {2.0}}}).sizes(), torch::IntArrayRef({1, 2, 1}));
  EXPECT_EQ(torch::tensor({}).sizes(), torch::IntArrayRef({0}));
  const auto t = torch::tensor({{1, 2}, {3, 4}}, torch::kFloat);
  EXPECT_EQ(t[1][0].item<float>(), 3);
  EXPECT_THROW(torch::tensor({{1, 2}, {3}}), c10::Error);
  EXPECT_THROW(torch::tensor({{1.5, 2.5}, {3, 4}}), c10::Error);
}

TEST(TorchCompat, OptionsChain) {
  const auto options = torch::TensorOptions().dtype(torch::kDouble).device(torch::kCPU).requires_grad(true);
  const torch::Tensor t = torch::zeros({2, 3}, options);
  EXPECT_EQ(t.dtype(), torch::kDouble);
  EXPECT_TRUE(t.requires_grad());
  EXPECT_EQ(torch::ones({2}, torch::dtype(torch::kInt64)).scalar_type(), at::kLong);
  EXPECT_TRUE(torch::ones({2}, torch::requires_grad()).requires_grad());
}

TEST(TorchCompat, OperatorsMixTensorsAndNumbers) {
  const torch::Tensor x = torch::arange(4, torch::kFloat);
  EXPECT_TRUE(torch::equal(2 * x + 1, torch::tensor({1.0, 3.0, 5.0, 7.0})));
  EXPECT_TRUE(torch::equal(1 - x, torch::tensor({1.0, 0.0, -1.0, -2.0})));
  EXPECT_TRUE(torch::equal(6 / (x + 1), torch::tensor({6.0, 3.0, 2.0, 1.5})));
  EXPECT_TRUE(torch::equal(x > 1, torch::tensor({false, false, true, true})));
  EXPECT_TRUE(torch::equal(1 < x, x > 1));
  EXPECT_TRUE(torch::equal((x > 0) & (x < 3), torch::tensor({false, true, true, false})));
  EXPECT_TRUE(torch::equal(~(x > 1), x <= 1));
  EXPECT_TRUE(torch::equal(-x, x * -1));
  torch::Tensor y = x.clone();
  y += 1;
  y *= x;
  y -= x;
  y /= 2;
  EXPECT_TRUE(torch::equal(y, x * x / 2));
}

TEST(TorchCompat, IndexingLikePython) {
  const torch::Tensor x = torch::arange(12).view({3, 4});
  EXPECT_TRUE(torch::equal(x.index({1}), torch::tensor({4, 5, 6, 7})));
  EXPECT_TRUE(torch::equal(x.index({Slice(), 1}), torch::tensor({1, 5, 9})));
  EXPECT_TRUE(torch::equal(x.index({"...", 0}), torch::tensor({0, 4, 8})));
  EXPECT_TRUE(torch::equal(x.index({Slice(1, None), Slice(None, None, 2)}), torch::tensor({{4, 6}, {8, 10}})));
  EXPECT_EQ(x.index({None, 0}).sizes(), torch::IntArrayRef({1, 4}));
  EXPECT_TRUE(torch::equal(x.index({torch::tensor({0, 2})}), torch::tensor({{0, 1, 2, 3}, {8, 9, 10, 11}})));
  EXPECT_TRUE(torch::equal(x.index({x > 8}), torch::tensor({9, 10, 11})));
  EXPECT_TRUE(torch::equal(x.index({torch::tensor({0, 1}), torch::tensor({3, 0})}), torch::tensor({3, 4})));
  torch::Tensor y = x.clone();
  y.index_put_({0, Slice(None, 2)}, 100);
  y.index_put_({y == 5}, -1);
  y[2][3] = 42;
  y[1] = torch::tensor({7, 7, 7, 7});
  EXPECT_TRUE(torch::equal(y, torch::tensor({{100, 100, 2, 3}, {7, 7, 7, 7}, {8, 9, 10, 42}})));
  EXPECT_THROW(x.index({5}), c10::IndexError);
  EXPECT_THROW(x.index({0, 0, 0}), c10::IndexError);
  EXPECT_THROW(x.index({torch::tensor({0, 7})}), c10::IndexError);
}

TEST(TorchCompat, PrintsAsLibTorch) {
  EXPECT_EQ(text(torch::ones({2, 2})), " 1  1\n 1  1\n[ CPUFloatType{2,2} ]");
  EXPECT_EQ(text(torch::tensor({1.5, 2.25})), " 1.5000\n 2.2500\n[ CPUFloatType{2} ]");
  EXPECT_EQ(text(torch::tensor(3.5)), "3.5\n[ CPUFloatType{} ]");
  EXPECT_EQ(text(torch::tensor({100000.5, 1234567.5}, torch::kDouble)), "1000000 *\n 0.1000\n 1.2346\n[ CPUDoubleType{2} ]");
  EXPECT_EQ(text(torch::zeros({0})), "[ CPUFloatType{0} ]");
  EXPECT_EQ(text(torch::Tensor()), "[ Tensor (undefined) ]");
  EXPECT_EQ(text(torch::arange(4).view({1, 2, 2})), "(1,.,.) = \n 0  1\n  2  3\n[ CPULongType{1,2,2} ]");
}

TEST(TorchCompat, DispatchMacrosAndChecks) {
  const torch::Tensor x = torch::arange(4, torch::kDouble);
  double sum = 0;
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "sum", [&] {
    const scalar_t* data = x.data_ptr<scalar_t>();
    for (const auto i : c10::irange(x.numel())) sum += static_cast<double>(data[i]);
  });
  EXPECT_EQ(sum, 6);
  EXPECT_THROW(AT_DISPATCH_INTEGRAL_TYPES(x.scalar_type(), "none", [&] { return; }), c10::Error);
  EXPECT_THROW(TORCH_CHECK(false, "value ", 3, " is wrong"), c10::Error);
  EXPECT_NO_THROW(TORCH_CHECK_EQ(1 + 1, 2));
  try {
    TORCH_CHECK(1 == 2, "message ", 5);
  } catch (const c10::Error& e) {
    EXPECT_EQ(e.msg(), "message 5");
  }
}

TEST(TorchCompat, DtypesOfOtherTensors) {
  const auto x = torch::ones({2}, torch::kDouble), y = torch::ones({2}, torch::kInt);
  EXPECT_EQ(y.to(x.dtype()).scalar_type(), torch::kDouble);
  EXPECT_EQ(y.to(torch::kCPU, x.dtype()).scalar_type(), torch::kDouble);
  EXPECT_FALSE(x.to(x.dtype(), false, true).is_same(x));
  EXPECT_EQ(x.type_as(y).scalar_type(), torch::kInt);
  EXPECT_EQ(torch::typeMetaToScalarType(x.dtype()), torch::kDouble);
  EXPECT_EQ(x.dtype().name(), "double");
  EXPECT_EQ(torch::result_type(y, 2.5), torch::kFloat);
  std::ostringstream stream;
  stream << at::Half(1.5f) << ' ' << at::BFloat16(2.5f);
  EXPECT_EQ(stream.str(), "1.5 2.5");
}

TEST(TorchCompat, AccessorsAndBlobs) {
  std::vector<float> data{1, 2, 3, 4, 5, 6};
  torch::Tensor t = torch::from_blob(data.data(), {2, 3});
  auto a = t.accessor<float, 2>();
  EXPECT_EQ(a[1][2], 6);
  a[0][0] = 10;
  EXPECT_EQ(data[0], 10);
  bool freed = false;
  {
    const torch::Tensor strided = torch::from_blob(data.data(), {3, 2}, {1, 3}, [&](void*) { freed = true; }, torch::kFloat);
    const torch::Tensor view = strided.t();
    EXPECT_TRUE(torch::equal(view, t));
  }
  EXPECT_TRUE(freed);
  int rows = 0;
  for (const torch::Tensor& row : t) rows += static_cast<int>(row.numel());
  EXPECT_EQ(rows, 6);
}

TEST(TorchCompat, AutogradAsInTheTutorial) {
  torch::Tensor x = torch::ones({2, 2}, torch::requires_grad());
  const torch::Tensor z = (x + 2) * (x + 2) * 3;
  z.mean().backward();
  EXPECT_TRUE(torch::allclose(x.grad(), torch::full({2, 2}, 4.5)));
  {
    torch::NoGradGuard guard;
    EXPECT_FALSE((x * 2).requires_grad());
  }
  const auto grads = torch::autograd::grad({(x * x).sum()}, {x});
  EXPECT_TRUE(torch::equal(grads[0], torch::full({2, 2}, 2.0)));
}

TEST(TorchCompat, NamespacesOfFunctions) {
  EXPECT_NEAR(torch::special::erf(torch::tensor(0.5)).item<float>(), 0.5204999, 1e-6);
  EXPECT_FALSE(torch::cuda::is_available());
  EXPECT_EQ(torch::special::expit(torch::zeros({1})).item<float>(), 0.5F);
}

// Overloads that differ in one argument leave no call of fewer arguments ambiguous.
TEST(TorchCompat, ShortCallsOfOverloadedOperatorsAreNotAmbiguous) {
  const auto x = torch::ones({1, 2, 5, 5}), w = torch::ones({3, 2, 3, 3}), b = torch::ones({3});
  EXPECT_EQ(torch::conv2d(x, w).sum().item<double>(), 3 * 9 * 18);
  EXPECT_EQ(torch::conv2d(x, w, b).sum().item<double>(), 3 * 9 * 19);
  EXPECT_EQ(torch::conv2d(x, w, b, 2).sizes(), (std::vector<int64_t>{1, 3, 2, 2}));
  EXPECT_EQ(torch::conv2d(x, w, {}, 1, 1).sizes(), (std::vector<int64_t>{1, 3, 5, 5}));
  EXPECT_EQ(torch::conv2d(x, w, {}, 1, "same").sizes(), (std::vector<int64_t>{1, 3, 5, 5}));
  EXPECT_EQ(torch::conv1d(torch::ones({2, 3, 5}), torch::ones({2, 3, 3})).sizes(), (std::vector<int64_t>{2, 2, 3}));
  EXPECT_EQ(torch::conv3d(torch::ones({1, 1, 4, 4, 4}), torch::ones({1, 1, 2, 2, 2})).sum().item<double>(), 27 * 8);
  const auto eye = torch::eye(3);
  EXPECT_TRUE(torch::allclose(torch::linalg_pinv(eye), eye));
  EXPECT_TRUE(torch::allclose(torch::linalg_pinv(eye, 1e-3), eye));
  EXPECT_EQ(torch::linalg_matrix_rank(eye).item<int64_t>(), 3);
  EXPECT_EQ(torch::linalg_matrix_rank(eye, 1e-3).item<int64_t>(), 3);
}

// What programs in the wild leaned on, found by compiling and running them both ways.
TEST(TorchCompat, AssignmentsConvertNumbersButNotTensors) {
  auto x = torch::zeros({2, 3});
  const auto rows = torch::tensor({0, 1});
  EXPECT_THROW(x.index_put_({rows}, torch::tensor({1, 2, 3})), c10::Error);
  EXPECT_THROW(x.index_put_({x == 0}, torch::tensor(1)), c10::Error);
  EXPECT_EQ(x.abs().sum().item<double>(), 0);
  x.index_put_({rows, 0}, 2);
  x.index_put_({Slice(), 1}, torch::tensor({3, 4}));  // no tensor among the indices: a copy, which converts
  EXPECT_TRUE(x.equal(torch::tensor({{2., 3., 0.}, {2., 4., 0.}})));
}

TEST(TorchCompat, AZeroDimensionalIndexSelectsAView) {
  auto x = torch::zeros({2, 3});
  x.index({torch::tensor(1)}).fill_(5);
  x.index({Slice(), torch::tensor(-1, torch::kInt)}).fill_(7);
  EXPECT_TRUE(x.equal(torch::tensor({{0., 0., 7.}, {5., 5., 7.}})));
  x.index_put_({torch::tensor(0), 0}, torch::tensor(2));
  EXPECT_EQ(x[0][0].item<double>(), 2);
  EXPECT_FALSE(x.index({torch::tensor({1})}).is_alias_of(x));
  EXPECT_EQ(x.index({torch::tensor(true)}).sizes(), torch::IntArrayRef({1, 2, 3}));
  EXPECT_THROW(x.index({torch::tensor(2)}), c10::IndexError);
}

TEST(TorchCompat, ProbabilitiesAreDrawnInMemoryOrder) {
  torch::manual_seed(42);
  const auto x = torch::zeros({5, 2}).t().bernoulli_(torch::tensor(.6));
  EXPECT_TRUE(x.t().flatten().equal(torch::tensor({0., 1., 1., 1., 0., 0., 0., 0., 0., 1.}).view({2, 5}).t().flatten()));
  EXPECT_TRUE(torch::bernoulli(torch::ones({5, 2}).t(), .25).is_contiguous());
}

TEST(TorchCompat, NothingCannotBeDrawn) {
  EXPECT_THROW(torch::multinomial(torch::ones({2, 0}), 3, true), c10::Error);
  EXPECT_THROW(torch::multinomial(torch::ones({0}), 1), c10::Error);
  EXPECT_EQ(torch::multinomial(torch::ones({0, 3}), 2).sizes(), torch::IntArrayRef({0, 2}));
}

TEST(TorchCompat, IndicesPrintAndRepeat) {
  const auto x = torch::ones({2, 3, 4});
  EXPECT_EQ(x.index({"...", "..."}).sizes(), x.sizes());
  EXPECT_EQ(x.index({Slice(0, torch::indexing::None, 2)}).strides(), torch::IntArrayRef({24, 4, 1}));
  std::ostringstream stream;
  stream << Slice() << ' ' << Slice(1, torch::indexing::None) << ' ' << Slice(1, 5, 2);
  EXPECT_EQ(stream.str(), "0:4611686018427387903:1 1:4611686018427387903:1 1:5:2");
}

TEST(TorchCompat, PositionsOfNonzerosLieByDimension) {
  const auto x = torch::tensor({{1, 0, 2}, {0, 3, 0}});
  const auto at = x.nonzero();
  EXPECT_TRUE(at.equal(torch::tensor({{0, 0}, {0, 2}, {1, 1}})));
  EXPECT_EQ(at.strides(), torch::IntArrayRef({1, 3}));
  EXPECT_EQ(torch::argwhere(torch::zeros({2, 3})).strides(), torch::IntArrayRef({1, 0}));
  EXPECT_FALSE(at.is_view());
  auto out = torch::empty({0}, torch::kLong);
  torch::nonzero_out(out, x);
  EXPECT_TRUE(out.equal(at));
}

TEST(TorchCompat, ContainersPrint) {
  std::ostringstream stream;
  stream << std::vector<int>{1, 2, 3} << '|' << std::vector<std::string>{"a", "b"} << '|' << std::set<int>{3, 1} << '|'
         << std::vector<int64_t>{} << '|';
  stream << std::map<std::string, int>{{"a", 1}, {"b", 2}} << '|' << std::pair<int, double>(3, 0.5);
  EXPECT_EQ(stream.str(), "1 2 3|a b|1 3||(a, 1) (b, 2)|(3, 0.5)");
  std::ostringstream many;
  many << std::vector<int>(101, 7);
  EXPECT_EQ(many.str().size(), 100U * 2 + 3);
  EXPECT_EQ(many.str().substr(196), "7 7 ...");
}

TEST(TorchCompat, FlagsAndVersionsKeepTheirRules) {
  const auto x = torch::ones({2}, torch::requires_grad());
  const auto y = x * 2;
  y.set_requires_grad(false);
  EXPECT_TRUE(y.requires_grad());
  EXPECT_THROW(y.requires_grad_(false), c10::Error);
  torch::Tensor quick;
  {
    const c10::InferenceMode guard;
    quick = torch::ones({2});
  }
  EXPECT_THROW(quick._version(), c10::Error);
  const auto sink = torch::autograd::impl::grad_accumulator(x);
  EXPECT_EQ(sink, y.grad_fn()->next_edge(0).function);
  EXPECT_EQ(sink->getptr(), sink);
  EXPECT_THROW(torch::autograd::impl::grad_accumulator(y), c10::Error);
  EXPECT_FALSE(torch::autograd::impl::grad_accumulator(torch::ones(1)));
  EXPECT_EQ(c10::IValue(std::vector<int64_t>{1, 2}).toIntList()[1], 2);
}

TEST(TorchCompat, FreeFunctionsAndMembersMeet) {
  auto x = torch::arange(4.).view({2, 2});
  EXPECT_TRUE(torch::is_nonzero(x[0][1]));
  EXPECT_FALSE(x[0][0].is_nonzero());
  EXPECT_THROW(x.is_nonzero(), c10::Error);
  EXPECT_TRUE(torch::is_same_size(x, torch::detach(x)));
  EXPECT_TRUE(x.is_set_to(x.detach()));
  EXPECT_FALSE(x.is_set_to(x.t()));
  EXPECT_EQ(torch::range(0, 3, torch::kInt).numel(), 4);
  EXPECT_EQ(torch::result_type(1, 2.5), torch::kFloat);
  x.clip_(torch::tensor(1.), torch::tensor(2.));
  EXPECT_TRUE(x.equal(torch::tensor({{1., 1.}, {2., 2.}})));
  x.divide_(torch::tensor(0.5), "floor");
  EXPECT_TRUE(x.equal(torch::tensor({{2., 2.}, {4., 4.}})));
  EXPECT_THROW(x.float_power_(2), c10::Error);
  EXPECT_TRUE(torch::ones({2}, torch::kDouble).mul_(3).float_power_(2).equal(torch::full({2}, 9., torch::kDouble)));
  EXPECT_TRUE(torch::full({2}, 3.).mvlgamma_(2).equal(torch::full({2}, 3.).mvlgamma(2)));
  const auto copy = x.narrow_copy(1, 1, 1);
  EXPECT_TRUE(copy.equal(x.narrow(1, 1, 1)));
  EXPECT_FALSE(copy.is_alias_of(x));
}

TEST(TorchCompat, MixedDtypesMeetAsInArithmetic) {
  const auto x = torch::tensor({0, 2, 5});
  EXPECT_TRUE(torch::bucketize(torch::tensor({0.5, 2., 9.}), x).equal(torch::tensor({1, 1, 3})));
  // 0.1 is compared as the float32 that the boundary is.
  EXPECT_EQ(torch::searchsorted(torch::tensor({0.1F}), 0.1, false, true).item<int64_t>(), 1);
  EXPECT_EQ(torch::searchsorted(torch::tensor({0.1}, torch::kDouble), 0.1F, false, true).item<int64_t>(), 1);
  EXPECT_TRUE(x.masked_fill(x > 1, torch::tensor(7.5)).equal(torch::tensor({0, 7, 7})));
  EXPECT_TRUE((x > 1).masked_fill(x == 0, torch::tensor(3)).equal(torch::tensor({true, true, true})));
  const auto a = torch::tensor({1., 2., 3.});
  EXPECT_THROW(a.scatter(0, torch::tensor({2, 1, 0}), torch::tensor(5.)), c10::Error);
  EXPECT_THROW(a.clone().scatter_add_(0, torch::tensor({2, 1}), torch::tensor(5.)), c10::Error);
  EXPECT_TRUE(a.scatter(0, torch::tensor({2}), torch::tensor(5.)).equal(torch::tensor({1., 2., 5.})));
}

TEST(TorchCompat, ValuesKeepTheirDtypeOnTheWayIntoAWiderResult) {
  const auto yes = torch::ones({2}, torch::kBool), bytes = torch::full({2}, 100, torch::kChar), halves = torch::full({2}, 1.001, torch::kHalf);
  auto out = torch::empty({2});
  EXPECT_TRUE(torch::add_out(out, yes, yes).equal(torch::ones({2})));
  EXPECT_TRUE(torch::add_out(out, bytes, bytes).equal(torch::full({2}, -56.)));
  EXPECT_TRUE(torch::mul_out(out, halves, halves).equal((halves * halves).to(torch::kFloat)));
  EXPECT_TRUE(torch::exp_out(out, halves).equal(halves.exp().to(torch::kFloat)));
  auto wide = torch::empty({2}, torch::kDouble);
  const auto third = torch::full({2}, 1.F / 3);
  EXPECT_TRUE(torch::mul_out(wide, third, third).equal((third * third).to(torch::kDouble)));
  EXPECT_EQ(torch::trapezoid(torch::tensor({100, 100, 100}, torch::kChar)).item<double>(), 200);
  EXPECT_EQ(torch::trapezoid(torch::tensor({100, 100, -100}, torch::kChar), -1).item<double>(), -100);
  EXPECT_THROW(torch::nextafter(halves, halves), c10::NotImplementedError);
}

TEST(TorchCompat, DiagonalsAreFilled) {
  EXPECT_TRUE(torch::zeros({3, 3}).fill_diagonal_(1).equal(torch::eye(3)));
  const auto tall = torch::zeros({7, 3}).fill_diagonal_(2, true);
  EXPECT_EQ(tall.sum().item<double>(), 2 * 6);
  EXPECT_EQ(tall[4][0].item<double>(), 2);
  EXPECT_EQ(tall[3].sum().item<double>(), 0);
  EXPECT_EQ(torch::zeros({7, 3}).fill_diagonal_(2).sum().item<double>(), 2 * 3);
  const auto cube = torch::zeros({3, 3, 3}).fill_diagonal_(1);
  EXPECT_EQ(cube.sum().item<double>(), 3);
  EXPECT_EQ(cube[1][1][1].item<double>(), 1);
  EXPECT_THROW(torch::zeros({3}).fill_diagonal_(1), c10::Error);
  EXPECT_THROW(torch::zeros({3, 3, 2}).fill_diagonal_(1), c10::Error);
}

}  // namespace

// Names without qualification keep one meaning.
namespace user {
using namespace torch;  // NOLINT
using namespace at;     // NOLINT
Tensor twice(const Tensor& x) { return x + x; }
TEST(TorchCompat, UsingDirectivesAreNotAmbiguous) {
  EXPECT_TRUE(at::equal(twice(ones({2})), full({2}, 2.0)));
  const c10::optional<int64_t> none = c10::nullopt;
  EXPECT_FALSE(none.has_value());
  EXPECT_TRUE(indexing::TensorIndex(indexing::Ellipsis).is_ellipsis());
}
}  // namespace user
