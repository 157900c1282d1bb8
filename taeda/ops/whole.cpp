// SPDX-License-Identifier: Apache-2.0
// Comparisons of whole tensors, sums down to a shape, and what complex numbers would need (real tensors pass through).
#include <cmath>

#include "taeda/ops/door.h"
#include "taeda/ops/factory.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/kernels/indexing.h"
#include "taeda/ops/pointwise_engine.h"

namespace taeda {
namespace ops {
namespace {

/// Whether shapes and all elements are equal (nan equals nothing). The dtypes must agree.
struct Equal {
  static constexpr auto schema = "equal(Tensor self, Tensor other) -> bool";
  static constexpr auto no_grad = "the result is a truth value";
  static bool forward(const Tensor& self, const Tensor& other) {
    if (self.sizes() != other.sizes()) return false;
    TAEDA_CHECK(self.scalar_type() == other.scalar_type(), "[equal] expected object of data type ", self.scalar_type(), " but got data type ",
                other.scalar_type(), "; convert one of them");
    const Tensor a = self.contiguous();
    const Tensor b = other.contiguous();
    return dispatch_all(self.scalar_type(), "equal", [&]<class T>() {
      using M = OpMath<T>;
      const T* x = reinterpret_cast<const T*>(a.impl().data());
      const T* y = reinterpret_cast<const T*>(b.impl().data());
      for (int64_t i = 0; i < a.numel(); ++i) {
        if (!(static_cast<M>(x[i]) == static_cast<M>(y[i]))) return false;
      }
      return true;
    });
  }
};

/// Whether |self - other| <= atol + rtol |other| for all elements.
struct AllClose : Composite {
  static constexpr auto schema =
      "allclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> bool";
  static bool forward(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
    return taeda::isclose(self, other, rtol, atol, equal_nan).all().item<bool>();
  }
};

/// Sums over broadcast dimensions until the tensor has the given shape.
struct SumToSize : Composite {
  static constexpr auto schema = "sum_to_size(Tensor self, int[] size) -> Tensor";
  static constexpr auto variants = "method";
  static Tensor forward(const Tensor& self, IntArrayRef size) {
    const size_t rank = static_cast<size_t>(self.dim());
    bool fits = size.size() <= rank;
    for (size_t i = 0; fits && i < size.size(); ++i) {
      const int64_t own = self.sizes()[rank - size.size() + i];
      fits = size[i] == own || size[i] == 1;
    }
    TAEDA_CHECK(fits, "[sum_to_size] size ", size, " is not expandable to size ", self.sizes(), "; use sizes of 1 where it is summed");
    return size.empty() ? self.sum() : sum_to(self, size);
  }
};

/// The sum of the diagonal of a matrix.
struct Trace : Composite {
  static constexpr auto schema = "trace(Tensor self) -> Tensor";
  static Tensor forward(const Tensor& self) {
    TAEDA_CHECK(self.dim() == 2, "[trace] expected a matrix, but got tensor with dim ", self.dim(), "; use diagonal and sum");
    return self.diagonal().sum();
  }
};

/// The tensor itself: it has no imaginary part.
struct Real : Composite {
  static constexpr auto schema = "real(Tensor(a) self) -> Tensor(a)";
  static Tensor forward(const Tensor& self) { return self; }
};
/// The tensor itself.
struct Conj : Composite {
  static constexpr auto schema = "conj(Tensor(a) self) -> Tensor(a)";
  static Tensor forward(const Tensor& self) { return self; }
};
/// The tensor itself.
struct ConjPhysical : Composite {
  static constexpr auto schema = "conj_physical(Tensor self) -> Tensor";
  static Tensor forward(const Tensor& self) { return self; }
};
/// The tensor itself.
struct ResolveConj : Composite {
  static constexpr auto schema = "resolve_conj(Tensor(a) self) -> Tensor(a)";
  static Tensor forward(const Tensor& self) { return self; }
};
/// The tensor itself.
struct ResolveNeg : Composite {
  static constexpr auto schema = "resolve_neg(Tensor(a) self) -> Tensor(a)";
  static Tensor forward(const Tensor& self) { return self; }
};

/// Mantissa in [0.5, 1) and int32 exponent: self = mantissa · 2^exponent.
struct Frexp {
  static constexpr auto schema = "frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent)";
  static std::tuple<Tensor, Tensor> forward(const Tensor& self) {
    TAEDA_CHECK(self.is_floating_point(), "[frexp] only supports floating-point dtypes: got ", self.scalar_type(), "; convert it");
    const Tensor from = self.contiguous();
    Tensor mantissa = make_tensor(self.sizes(), self.scalar_type(), self.device());
    Tensor exponent = make_tensor(self.sizes(), kInt, self.device());
    dispatch_floating(self.scalar_type(), "frexp", [&]<class T>() {
      const T* x = reinterpret_cast<const T*>(from.impl().data());
      T* m = reinterpret_cast<T*>(mantissa.impl().data());
      auto* e = reinterpret_cast<int32_t*>(exponent.impl().data());
      for (int64_t i = 0; i < from.numel(); ++i) {
        int power = 0;
        m[i] = static_cast<T>(std::frexp(static_cast<OpMath<T>>(x[i]), &power));
        e[i] = std::isfinite(static_cast<OpMath<T>>(x[i])) ? power : 0;
      }
    });
    return {mantissa, exponent};
  }
  static Tensor grad_self(const Tensor& grad, const Tensor& exponent) {
    return grad.div(taeda::pow(2.0, exponent.to(grad.scalar_type())));
  }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/whole.inc"
