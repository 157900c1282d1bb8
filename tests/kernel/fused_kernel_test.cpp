// SPDX-License-Identifier: Apache-2.0
// Fused kernels against the eager operators they replace: layouts, dtypes, rows, many tensors.
#include <functional>

#include "taeda/core/parallel.h"
#include "taeda/ops/kernels/optim.h"
#include "tests/kernel/kernel_support.h"

namespace taeda::kernel {
namespace {

Tensor numbers(IntArrayRef sizes, ScalarType dtype = kFloat) { return randn(sizes).mul(3).to(dtype); }

TEST(FusedKernel, ChainOfActivationsEqualsEager) {
  for (const int64_t n : {1, 7, 8, 1000, 70001}) {
    const Tensor x = numbers({n});
    const Tensor expected = tanh(x * 1.5 + 0.5) * sigmoid(x) + exp(-x * x);
    Kernel k("chain");
    const Id in = k.input(kFloat);
    const Id c15 = k.constant(1.5, kFloat), c05 = k.constant(0.5, kFloat);
    const Id t = k.call("Tanh", kFloat, {k.call("Add", kFloat, {k.call("Mul", kFloat, {in, c15}), c05}, {1})});
    const Id e = k.call("Exp", kFloat, {k.call("Mul", kFloat, {k.call("Neg", kFloat, {in}), in})});
    k.output(k.call("Add", kFloat, {k.call("Mul", kFloat, {t, k.call("Sigmoid", kFloat, {in})}), e}, {1}), kFloat);
    for (const Backend backend : backends()) {
      const Tensor out = empty({n});
      run_over(*compile_kernel(k, backend), x.sizes(), {x, out});
      EXPECT_TRUE(same_bits(out, expected)) << n;
      const Tensor y = x.clone();
      run_over(*compile_kernel(k, backend), x.sizes(), {y, y});
      EXPECT_TRUE(same_bits(y, expected)) << "in place, " << n;
    }
  }
}

// Generated code computes a power by logarithms only where some exponent of a vector is not 1, 2 or 3; what both sides of that branch
// need lies before it.
TEST(FusedKernel, BranchesOfPowersEqualEager) {
  for (const ScalarType dtype : {kFloat, kDouble}) {
    for (const double scalar : {1.0, 2.0, 3.0, 2.5, -1.0, 0.0}) {
      const Tensor x = numbers({1003}, dtype);
      const Tensor some = where(arange(1003).remainder(97) == 0, 0.7, 2.0).to(dtype), all = numbers({1003}, dtype).round();
      const Tensor inner = pow(abs(x), some), outer = pow(inner, Scalar(scalar)), other = pow(inner + 1, all);
      Kernel k("powers");
      const Id in = k.input(dtype), in_some = k.input(dtype), in_all = k.input(dtype), one = k.constant(1, dtype), given = k.param(dtype);
      const Id a = k.call("Pow", dtype, {k.call("Abs", dtype, {in}), in_some});
      const Id b = k.call("Pow", dtype, {a, given});
      const Id c = k.call("Pow", dtype, {k.call("Add", dtype, {a, one}, {1}), in_all});
      k.output(k.call("Add", dtype, {k.call("Mul", dtype, {b, a}), c}, {1}), dtype);
      k.output(b, dtype);
      for (const Backend backend : backends()) {
        const Tensor sum = empty({1003}, dtype), power = empty({1003}, dtype);
        run_over(*compile_kernel(k, backend), x.sizes(), {x, some, all, sum, power}, {scalar});
        EXPECT_TRUE(same_bits(sum, outer * inner + other)) << dtype << ' ' << scalar;
        EXPECT_TRUE(same_bits(power, outer)) << dtype << ' ' << scalar;
      }
    }
  }
}

TEST(FusedKernel, StridedAndBroadcastOperandsEqualEager) {
  const Tensor a = numbers({40, 30}).t(), b = numbers({1, 40}), c = numbers({30, 80}).slice(1, 0, 80, 2), d = numbers({30, 1});
  const Tensor expected = where(a > b, a * c, c - d);
  Kernel k("layouts");
  const Id ia = k.input(kFloat), ib = k.input(kFloat), ic = k.input(kFloat), id = k.input(kFloat);
  const Id greater = k.call("Gt", kFloat, {ia, ib});
  k.output(k.call("Where", kFloat, {greater, k.call("Mul", kFloat, {ia, ic}), k.call("Sub", kFloat, {ic, id}, {1})}), kFloat);
  k.output(greater, kBool);
  for (const Backend backend : backends()) {
    const Tensor out = empty({40, 30}).t(), mask = empty({30, 40}, kBool);
    run_over(*compile_kernel(k, backend), {30, 40}, {a, b, c, d, out, mask});
    EXPECT_TRUE(same_bits(out, expected));
    EXPECT_TRUE(same_bits(mask, a > b));
  }
}

TEST(FusedKernel, EveryPairOfDtypesConvertsAsCopies) {
  const std::vector<ScalarType> dtypes = {kByte, kChar, kShort, kInt, kLong, kHalf, kBFloat16, kFloat, kDouble, kBool};
  for (const ScalarType from : dtypes) {
    Tensor x = cat({randn({500}) * 1000, tensor({0.0, -0.0, 1.5, -1.5, 255.0, 256.0, 65519.9, 65520.0, 1e-7, 1e30, -1e30, 70000.25, 0.1,
                                                  std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})}).to(from);
    for (const ScalarType to : dtypes) {
      Kernel k("convert");
      k.output(k.convert(k.input(from), to), to);
      for (const Backend backend : backends()) {
        const Tensor out = empty(x.sizes(), to);
        run_over(*compile_kernel(k, backend), x.sizes(), {x, out});
        EXPECT_TRUE(same_bits(out, x.to(to))) << to_string(from) << " to " << to_string(to);
      }
    }
  }
}

TEST(FusedKernel, SixteenBitChainRoundsAfterEachOperator) {
  for (const ScalarType dtype : {kHalf, kBFloat16}) {
    const Tensor x = numbers({333}, dtype), y = numbers({333}, dtype);
    Kernel k("half");
    const Id a = k.input(dtype), b = k.input(dtype);
    const Id product = k.convert(k.call("Mul", dtype, {a, b}), dtype);
    k.output(k.call("Add", dtype, {product, a}, {0.3}), dtype);
    for (const Backend backend : backends()) {
      const Tensor out = empty({333}, dtype);
      run_over(*compile_kernel(k, backend), x.sizes(), {x, y, out});
      EXPECT_TRUE(same_bits(out, add(x * y, x, 0.3)));
    }
  }
}

TEST(FusedKernel, SwappedOutputsMayLieOnInputs) {
  Kernel k("swap");
  const Id a = k.input(kFloat), b = k.input(kFloat);
  k.output(b, kFloat);
  k.output(k.call("Add", kFloat, {a, b}, {1}), kFloat);
  for (const Backend backend : backends()) {
    const Tensor x = numbers({5000}), y = numbers({5000});
    const Tensor want_x = y.clone(), want_y = x + y;
    run_over(*compile_kernel(k, backend), {5000}, {x, y, x, y});
    EXPECT_TRUE(same_bits(x, want_x));
    EXPECT_TRUE(same_bits(y, want_y));
  }
}

TEST(FusedKernel, ConstantsFillOutputs) {
  Kernel k("fill");
  k.output(k.param(kFloat), kFloat);
  k.output(k.constant(7, kLong), kLong);
  for (const Backend backend : backends()) {
    const Tensor a = empty({3, 50}), b = empty({3, 50}, kLong);
    run_over(*compile_kernel(k, backend), {3, 50}, {a, b}, {2.5});
    EXPECT_TRUE(same_bits(a, full({3, 50}, 2.5)));
    EXPECT_TRUE(same_bits(b, full({3, 50}, 7, kLong)));
  }
}

/// x * 2 → row operation → + 1, with the rows' own layout.
void check_rows(const std::function<Id(Kernel&, Id)>& node, const std::function<Tensor(const Tensor&)>& eager) {
  for (const auto& sizes : std::vector<std::vector<int64_t>>{{1, 5}, {3, 1}, {7, 10}, {100, 65}, {5, 4, 1000}, {3, 20000}, {1, 100003}}) {
    const Tensor x = numbers(sizes);
    Kernel k("rows");
    const Id scaled = k.call("Mul", kFloat, {k.input(kFloat), k.constant(2, kFloat)});
    k.output(k.call("Add", kFloat, {node(k, scaled), k.constant(1, kFloat)}, {1}), kFloat);
    const Tensor expected = eager(x * 2) + 1;
    for (const Backend backend : backends()) {
      const Tensor out = empty(expected.sizes());
      run_over(*compile_kernel(k, backend), sizes, {x, out});
      EXPECT_TRUE(same_bits(out, expected)) << x.sizes();
    }
  }
}

Id row_op(Kernel& k, RowOp op, std::initializer_list<Id> in, double eps = 0) {
  return k.row_op(op, std::span<const Id>(in.begin(), in.size()), eps);
}

TEST(FusedKernel, RowReductionsEqualEager) {
  check_rows([](Kernel& k, Id x) { return k.reduce(ReduceKind::kSum, x); }, [](const Tensor& x) { return x.sum({-1}, true); });
  check_rows([](Kernel& k, Id x) { return k.reduce(ReduceKind::kSum, x, true); }, [](const Tensor& x) { return x.mean({-1}, true); });
  check_rows([](Kernel& k, Id x) { return k.reduce(ReduceKind::kMax, x); }, [](const Tensor& x) { return x.amax({-1}, true); });
  check_rows([](Kernel& k, Id x) { return k.reduce(ReduceKind::kMin, x); }, [](const Tensor& x) { return x.amin({-1}, true); });
}

TEST(FusedKernel, RowOperationsEqualEager) {
  check_rows([](Kernel& k, Id x) { return row_op(k, RowOp::kSoftmax, {x}); }, [](const Tensor& x) { return softmax(x, -1); });
  check_rows([](Kernel& k, Id x) { return row_op(k, RowOp::kLogSoftmax, {x}); }, [](const Tensor& x) { return log_softmax(x, -1); });
  check_rows([](Kernel& k, Id x) { return row_op(k, RowOp::kLayerNorm, {x, -1, -1}, 1e-5); },
             [](const Tensor& x) { return layer_norm(x, {x.size(-1)}, {}, {}, 1e-5); });
}

TEST(FusedKernel, LongSumsEqualEagerForEveryNumberOfThreads) {
  const int before = get_num_threads();
  for (const int threads : {1, 2, 3}) {
    set_num_threads(threads);
    for (const int64_t n : {65537, 131072, 300007, 1000000}) {
      for (const ScalarType dtype : {kFloat, kDouble}) {
        const Tensor x = numbers({n}, dtype), y = numbers({2 * n}, dtype).slice(0, 0, 2 * n, 2), bias = numbers({1}, dtype);
        Kernel k("loss");
        const Id ix = k.input(dtype), iy = k.input(dtype), ib = k.input(dtype, true);
        const Id d = k.call("Add", dtype, {k.call("Sub", dtype, {ix, iy}, {1}), k.call("Tanh", dtype, {ib})}, {1});
        k.output(k.call("Mul", dtype, {k.reduce(ReduceKind::kSum, k.call("Square", dtype, {d}), true), k.constant(3, dtype)}), dtype);
        k.output(k.reduce(ReduceKind::kSumAbs, iy), dtype);
        k.output(d, dtype);
        const Tensor want = x - y + tanh(bias);
        for (const Backend backend : backends()) {
          const Tensor mean = empty({1}, dtype), sum = empty({1}, dtype), out = empty({n}, dtype);
          run_over(*compile_kernel(k, backend), {n}, {x, y, bias, mean, sum, out});
          EXPECT_TRUE(same_bits(mean, square(want).mean().view({1}) * 3)) << n << ", threads: " << threads;
          EXPECT_TRUE(same_bits(sum, y.contiguous().norm(1).view({1}))) << n << ", threads: " << threads;
          EXPECT_TRUE(same_bits(out, want));
        }
      }
    }
  }
  set_num_threads(before);
}

TEST(FusedKernel, ValuesOfRowsSpreadOverTheirElements) {
  const Tensor x = numbers({50, 77});
  const Tensor mean = x.mean({-1}, true), centered = x - mean;
  const Tensor expected = centered * rsqrt(square(centered).mean({-1}, true) + 1e-5);
  Kernel k("normalize");
  const Id in = k.input(kFloat);
  const Id m = k.reduce(ReduceKind::kSum, in, true);
  const Id c = k.call("Sub", kFloat, {in, m}, {1});
  const Id var = k.reduce(ReduceKind::kSum, k.call("Square", kFloat, {c}), true);
  const Id rstd = k.call("Rsqrt", kFloat, {k.call("Add", kFloat, {var, k.constant(1e-5, kFloat)}, {1})});
  k.output(k.call("Mul", kFloat, {c, rstd}), kFloat);
  k.output(m, kFloat);
  for (const Backend backend : backends()) {
    const Tensor out = empty({50, 77}), means = empty({50, 1});
    run_over(*compile_kernel(k, backend), {50, 77}, {x, out, means});
    EXPECT_TRUE(same_bits(out, expected));
    EXPECT_TRUE(same_bits(means, mean));
    const Tensor y = x.clone();
    run_over(*compile_kernel(k, backend), {50, 77}, {y, y, means});
    EXPECT_TRUE(same_bits(y, expected)) << "in place";
  }
}

TEST(FusedKernel, LayerNormWithWeightsAndItsGradientEqualEager) {
  const Tensor x = numbers({33, 48}), w = numbers({48}), b = numbers({48}), g = numbers({33, 48});
  const auto [y, mean, rstd] = native_layer_norm(x, {48}, w, b, 1e-5);
  Kernel forward("layer_norm");
  const Id ix = forward.input(kFloat), iw = forward.input(kFloat), ib = forward.input(kFloat);
  const Id norm = row_op(forward, RowOp::kLayerNorm, {ix, iw, ib}, 1e-5);
  forward.output(norm, kFloat);
  forward.output(forward.extra(norm, 1), kFloat);
  forward.output(forward.extra(norm, 2), kFloat);
  Kernel backward("layer_norm_backward");
  const Id bg = backward.input(kFloat), bx = backward.input(kFloat), bm = backward.input(kFloat, true), br = backward.input(kFloat, true),
           bw = backward.input(kFloat);
  backward.output(row_op(backward, RowOp::kLayerNormBackward, {bg, bx, bm, br, bw}), kFloat);
  const Tensor want = std::get<0>(native_layer_norm_backward(g, x, {48}, mean, rstd, w, b, true, false, false));
  for (const Backend backend : backends()) {
    const Tensor out = empty({33, 48}), m = empty({33, 1}), r = empty({33, 1}), dx = empty({33, 48});
    run_over(*compile_kernel(forward, backend), {33, 48}, {x, w.view({1, 48}), b.view({1, 48}), out, m, r});
    EXPECT_TRUE(same_bits(out, y));
    EXPECT_TRUE(same_bits(m, mean.view({33, 1})));
    EXPECT_TRUE(same_bits(r, rstd.view({33, 1})));
    run_over(*compile_kernel(backward, backend), {33, 48}, {g, x, m, r, w.view({1, 48}), dx});
    EXPECT_TRUE(same_bits(dx, want));
  }
}

/// Adam as the fused eager step computes it.
Kernel adam_kernel() {
  Kernel k("adam");
  const Id p = k.input(kFloat), g = k.input(kFloat), m = k.input(kFloat), v = k.input(kFloat);
  const Id step = k.param(kFloat), bias2_scale = k.param(kFloat);
  const auto call = [&](const char* name, std::initializer_list<Id> in, std::initializer_list<Scalar> attrs = {}) {
    return k.call(name, kFloat, in, attrs);
  };
  const Id m2 = call("Add", {m, call("Sub", {g, m}, {1})}, {1 - 0.9});
  const Id v2 = call("Addcmul", {call("Mul", {v, k.constant(0.999, kFloat)}), g, g}, {1 - 0.999});
  const Id denominator = call("Add", {call("Mul", {call("Sqrt", {v2}), bias2_scale}), k.constant(1e-8, kFloat)}, {1});
  k.output(call("Sub", {p, call("Div", {call("Mul", {m2, step}), denominator})}, {1}), kFloat);
  k.output(m2, kFloat);
  k.output(v2, kFloat);
  return k;
}

TEST(FusedKernel, OneAdamKernelOverManyTensorsEqualsTheEagerStep) {
  const Kernel k = adam_kernel();
  for (const Backend backend : backends()) {
    std::vector<Tensor> p, g, m, v, want_p, want_m, want_v;
    for (int i = 0; i < 20; ++i) {
      const std::vector<int64_t> sizes = {i % 4 == 0 ? 40000 : 1 + i * 13};
      for (auto* list : {&p, &g, &m}) list->push_back(numbers(sizes));
      v.push_back(numbers(sizes).square());
      want_p.push_back(p.back().clone());
      want_m.push_back(m.back().clone());
      want_v.push_back(v.back().clone());
    }
    std::vector<OptimTensor> tensors;
    std::vector<Launch> launches;
    std::vector<Place> places(20 * 7);
    std::vector<Scalar> params;
    for (int i = 0; i < 20; ++i) {
      params.emplace_back(1e-3 * (i + 1));
      params.emplace_back(1 / (0.5 + 0.01 * i));
    }
    for (size_t i = 0; i < 20; ++i) {
      OptimTensor t{want_p[i].data_ptr(), g[i].data_ptr(), {want_m[i].data_ptr(), want_v[i].data_ptr(), nullptr}, p[i].numel()};
      t.step_size = params[2 * i].toDouble();
      t.bias2_sqrt = 0.5 + 0.01 * static_cast<double>(i);
      tensors.push_back(t);
      const Tensor operands[] = {p[i], g[i], m[i], v[i], p[i], m[i], v[i]};
      for (size_t o = 0; o < 7; ++o) places[i * 7 + o] = {operands[o].impl().data(), {4}};
      launches.push_back({.dims = 1, .sizes = {p[i].numel()}, .places = &places[i * 7], .params = &params[2 * i]});
    }
    OptimStepArgs args{.rule = OptimRule::kAdam, .dtype = kFloat, .lr = 1e-3, .eps = 1e-8, .beta1 = 0.9, .beta2 = 0.999, .tensors = tensors};
    optim_step_kernel(Device(kCPU), args);
    compile_kernel(k, backend)->run(launches);
    for (size_t i = 0; i < 20; ++i) {
      EXPECT_TRUE(same_bits(p[i], want_p[i])) << i;
      EXPECT_TRUE(same_bits(m[i], want_m[i])) << i;
      EXPECT_TRUE(same_bits(v[i], want_v[i])) << i;
    }
  }
}

}  // namespace
}  // namespace taeda::kernel
