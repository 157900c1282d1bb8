// SPDX-License-Identifier: Apache-2.0
// Decompositions through LAPACK, one matrix at a time; batches run on the threads of the library, LAPACK itself on one.
#include "taeda/ops/kernels/lapack.h"

#include <cblas.h>

#include <algorithm>
#include <mutex>
#include <vector>

#include "taeda/core/parallel.h"

extern "C" {
void sgetrf_(const int*, const int*, float*, const int*, int*, int*);
void dgetrf_(const int*, const int*, double*, const int*, int*, int*);
void spotrf_(const char*, const int*, float*, const int*, int*);
void dpotrf_(const char*, const int*, double*, const int*, int*);
void sgeqrf_(const int*, const int*, float*, const int*, float*, float*, const int*, int*);
void dgeqrf_(const int*, const int*, double*, const int*, double*, double*, const int*, int*);
void ssyevd_(const char*, const char*, const int*, float*, const int*, float*, float*, const int*, int*, const int*, int*);
void dsyevd_(const char*, const char*, const int*, double*, const int*, double*, double*, const int*, int*, const int*, int*);
void sgesdd_(const char*, const int*, const int*, float*, const int*, float*, float*, const int*, float*, const int*, float*, const int*, int*, int*);
void dgesdd_(const char*, const int*, const int*, double*, const int*, double*, double*, const int*, double*, const int*, double*, const int*, int*, int*);
}

namespace taeda {
namespace {

// One name for both types.
void getrf(const int* m, const int* n, float* a, const int* l, int* p, int* i) { sgetrf_(m, n, a, l, p, i); }
void getrf(const int* m, const int* n, double* a, const int* l, int* p, int* i) { dgetrf_(m, n, a, l, p, i); }
void potrf(const char* u, const int* n, float* a, const int* l, int* i) { spotrf_(u, n, a, l, i); }
void potrf(const char* u, const int* n, double* a, const int* l, int* i) { dpotrf_(u, n, a, l, i); }
void geqrf(const int* m, const int* n, float* a, const int* l, float* t, float* w, const int* s, int* i) { sgeqrf_(m, n, a, l, t, w, s, i); }
void geqrf(const int* m, const int* n, double* a, const int* l, double* t, double* w, const int* s, int* i) { dgeqrf_(m, n, a, l, t, w, s, i); }
void syevd(const char* j, const char* u, const int* n, float* a, float* w, float* k, const int* lk, int* q, const int* lq, int* i) {
  ssyevd_(j, u, n, a, n, w, k, lk, q, lq, i);
}
void syevd(const char* j, const char* u, const int* n, double* a, double* w, double* k, const int* lk, int* q, const int* lq, int* i) {
  dsyevd_(j, u, n, a, n, w, k, lk, q, lq, i);
}
void gesdd(const char* j, const int* m, const int* n, float* a, float* s, float* u, float* v, const int* lv, float* w, const int* lw, int* q, int* i) {
  sgesdd_(j, m, n, a, m, s, u, m, v, lv, w, lw, q, i);
}
void gesdd(const char* j, const int* m, const int* n, double* a, double* s, double* u, double* v, const int* lv, double* w, const int* lw, int* q, int* i) {
  dgesdd_(j, m, n, a, m, s, u, m, v, lv, w, lw, q, i);
}
void trsm(CBLAS_SIDE s, CBLAS_UPLO u, CBLAS_DIAG d, int m, int n, const float* a, int la, float* b) {
  cblas_strsm(CblasRowMajor, s, u, CblasNoTrans, d, m, n, 1, a, la, b, n);
}
void trsm(CBLAS_SIDE s, CBLAS_UPLO u, CBLAS_DIAG d, int m, int n, const double* a, int la, double* b) {
  cblas_dtrsm(CblasRowMajor, s, u, CblasNoTrans, d, m, n, 1, a, la, b, n);
}

/// One problem of a batch.
template <class T>
struct Problem {
  T *a, *b, *c, *d;
  int *ints, *info;
};
/// Work space that a routine asks for and gets.
template <class T>
std::vector<T> work_space(T wanted) { return std::vector<T>(static_cast<size_t>(std::max<T>(wanted, T(1))) + 64); }

template <class T>
void solve_one(const LapackArgs& x, const Problem<T>& p) {
  const int m = static_cast<int>(x.m), n = static_cast<int>(x.n);
  const int ask = -1;
  T size = 0;
  switch (x.routine) {
    case LapackRoutine::kLu: return getrf(&m, &n, p.a, &m, p.ints, p.info);
    case LapackRoutine::kCholesky: return potrf("L", &n, p.a, &n, p.info);
    case LapackRoutine::kQr: {
      geqrf(&m, &n, p.a, &m, p.b, &size, &ask, p.info);
      std::vector<T> work = work_space(size);
      const int length = static_cast<int>(work.size());
      return geqrf(&m, &n, p.a, &m, p.b, work.data(), &length, p.info);
    }
    case LapackRoutine::kEigh: {
      const char* job = x.vectors ? "V" : "N";
      const char* triangle = x.lower ? "L" : "U";
      int int_size = 0;
      syevd(job, triangle, &n, p.a, p.b, &size, &ask, &int_size, &ask, p.info);
      std::vector<T> work = work_space(size);
      std::vector<int> ints(static_cast<size_t>(std::max(1, int_size)));
      const int length = static_cast<int>(work.size()), int_length = static_cast<int>(ints.size());
      return syevd(job, triangle, &n, p.a, p.b, work.data(), &length, ints.data(), &int_length, p.info);
    }
    case LapackRoutine::kSvd: {
      const char* job = !x.vectors ? "N" : x.full ? "A" : "S";
      const int k = std::min(m, n), v_rows = !x.vectors ? 1 : x.full ? n : k;
      std::vector<int> ints(static_cast<size_t>(8 * std::max(1, k)));
      gesdd(job, &m, &n, p.a, p.b, p.c, p.d, &v_rows, &size, &ask, ints.data(), p.info);
      std::vector<T> work = work_space(size);
      const int length = static_cast<int>(work.size());
      return gesdd(job, &m, &n, p.a, p.b, p.c, p.d, &v_rows, work.data(), &length, ints.data(), p.info);
    }
    case LapackRoutine::kTriangularSolve:
      return trsm(x.left ? CblasLeft : CblasRight, x.lower ? CblasLower : CblasUpper, x.unit ? CblasUnit : CblasNonUnit, m, n, p.a, x.left ? m : n, p.b);
  }
}

struct Sizes {
  int64_t a, b, c, d, ints;
};
Sizes sizes_of(const LapackArgs& x) {
  const int64_t m = x.m, n = x.n, k = std::min(m, n);
  switch (x.routine) {
    case LapackRoutine::kLu: return {m * n, 0, 0, 0, k};
    case LapackRoutine::kQr: return {m * n, k, 0, 0, 0};
    case LapackRoutine::kSvd: return {m * n, k, x.full ? m * m : m * k, x.full ? n * n : k * n, 0};
    case LapackRoutine::kTriangularSolve: return {x.left ? m * m : n * n, m * n, 0, 0, 0};
    default: return {n * n, n, 0, 0, 0};
  }
}

template <class T>
void run_lapack(const LapackArgs& x) {
  const Sizes s = sizes_of(x);
  const auto at = [](char* base, int64_t offset) { return base ? reinterpret_cast<T*>(base) + offset : nullptr; };
  parallel_for(0, x.batch, std::max<int64_t>(1, 32768 / std::max<int64_t>(1, s.a * std::min(x.m, x.n))), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int ignored = 0;
      solve_one(x, Problem<T>{at(x.a, i * s.a), at(x.b, i * s.b), at(x.c, i * s.c), at(x.d, i * s.d), x.ints ? x.ints + i * s.ints : nullptr,
                              x.info ? x.info + i : &ignored});
    }
  });
}

void lapack_cpu(const KernelContext&, const LapackArgs& x) {
  static std::once_flag once;  // the library keeps a pool of its own, which would compete with ours
  std::call_once(once, [] { openblas_set_num_threads(1); });
  dispatch_float_double(x.dtype, "linalg", [&]<class T>() { run_lapack<T>(x); });
}

}  // namespace

constinit DeviceKernel<void(const LapackArgs&)> lapack_kernel{&lapack_cpu};

}  // namespace taeda
