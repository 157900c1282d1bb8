// SPDX-License-Identifier: Apache-2.0
// Tensors as text, in the layout of the compatible interface: one shared number format, a common scale factor where the
// numbers are of very different size, columns wrapped at the line's width, and a last line with type and sizes.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <iomanip>
#include <ostream>

#include "taeda/ops/functions.h"

namespace taeda {
namespace {

/// Restores the stream's format.
class FormatGuard {
 public:
  explicit FormatGuard(std::ostream& stream) : stream_(stream), saved_(nullptr) { saved_.copyfmt(stream); }
  ~FormatGuard() { stream_.copyfmt(saved_); }
  FormatGuard(const FormatGuard&) = delete;
  FormatGuard& operator=(const FormatGuard&) = delete;

 private:
  std::ostream& stream_;
  std::ios saved_;
};

/// How all numbers of one block are printed.
struct NumberFormat {
  int width = 0;
  double scale = 1;  ///< numbers are divided by it; printed once in front when it is not 1
};

/// Number of digits before the decimal point (0 or less below 1); 1 for zero.
double digits(double magnitude) { return magnitude == 0 ? 1 : std::floor(std::log10(magnitude)) + 1; }

/// Chooses the format for the values and sets the stream to it.
NumberFormat choose_format(std::ostream& stream, const double* values, int64_t n) {
  NumberFormat format;
  if (n == 0) return format;
  bool integers = true;
  bool any = false;
  double low = 1;
  double high = 1;
  for (int64_t i = 0; i < n; ++i) {
    if (!std::isfinite(values[i])) continue;
    integers = integers && values[i] == std::ceil(values[i]);
    const double magnitude = std::abs(values[i]);
    low = any ? std::min(low, magnitude) : magnitude;
    high = any ? std::max(high, magnitude) : magnitude;
    any = true;
  }
  const double low_digits = any ? digits(low) : 1;
  const double high_digits = any ? digits(high) : 1;
  constexpr int kScientificWidth = 11;
  if (integers) {
    if (high_digits > 9) {
      stream << std::scientific << std::setprecision(4);
      format.width = kScientificWidth;
    } else {
      stream << std::defaultfloat;
      format.width = static_cast<int>(high_digits) + 1;
    }
    return format;
  }
  if (high_digits - low_digits > 4) {
    stream << std::scientific << std::setprecision(4);
    format.width = kScientificWidth + (std::abs(high_digits) > 99 || std::abs(low_digits) > 99 ? 1 : 0);
    return format;
  }
  stream << std::fixed << std::setprecision(4);
  if (high_digits > 5 || high_digits < 0) {
    format.width = 7;
    format.scale = std::pow(10, high_digits - 1);
  } else {
    format.width = high_digits == 0 ? 7 : static_cast<int>(high_digits) + 6;
  }
  return format;
}

/// The shortest decimal text that reads back as the same double; with an exponent below 1e-4 and from 1e16 on.
std::string shortest(double value) {
  const double magnitude = std::abs(value);
  const bool plain = value == 0 || (magnitude >= 1e-4 && magnitude < 1e16) || !std::isfinite(value);
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, value, plain ? std::chars_format::fixed : std::chars_format::scientific);
  return {text, end.ptr};
}

void print_scale(std::ostream& stream, double scale) { stream << shortest(scale) << " *\n"; }

void print_matrix(std::ostream& stream, const double* values, int64_t rows, int64_t columns, int64_t line_size, int indent) {
  const NumberFormat format = choose_format(stream, values, rows * columns);
  const std::string margin(static_cast<size_t>(indent), ' ');
  const int64_t per_line = std::max<int64_t>(1, (line_size - indent) / (format.width + 1));
  // As in the compatible interface, the first row alone has no margin.
  for (int64_t first = 0; first < columns; first += per_line) {
    const int64_t last = std::min(first + per_line, columns) - 1;
    if (per_line < columns) {
      if (first != 0) stream << '\n';
      stream << "Columns " << first + 1 << " to " << last + 1 << margin;
    }
    if (format.scale != 1) {
      print_scale(stream, format.scale);
      stream << margin;
    }
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t column = first; column <= last; ++column) {
        stream << std::setw(format.width) << values[row * columns + column] / format.scale << (column == last ? '\n' : ' ');
      }
      if (row == rows - 1) continue;
      stream << margin;
      if (format.scale != 1) stream << ' ';
    }
  }
}

/// All matrices of a tensor with more than two dimensions; the first dimension counts fastest.
void print_matrices(std::ostream& stream, const double* values, IntArrayRef sizes, int64_t line_size) {
  const size_t outer = sizes.size() - 2;
  const int64_t rows = sizes[outer];
  const int64_t columns = sizes[outer + 1];
  DimVector position(outer, 0);
  bool first = true;
  while (true) {
    if (!first) stream << '\n';
    first = false;
    stream << '(';
    int64_t matrix = 0;
    for (size_t d = 0; d < outer; ++d) {
      stream << position[d] + 1 << ',';
      matrix = matrix * sizes[d] + position[d];
    }
    stream << ".,.) = \n";
    print_matrix(stream, values + matrix * rows * columns, rows, columns, line_size, 1);
    size_t d = 0;
    while (d < outer && ++position[d] == sizes[d]) position[d++] = 0;
    if (d == outer) return;
  }
}

}  // namespace

std::ostream& print(std::ostream& stream, const Tensor& tensor, int64_t line_size) {
  FormatGuard guard(stream);
  if (!tensor.defined()) return stream << "[ Tensor (undefined) ]";
  const Tensor wide = tensor.detach().to(kDouble).contiguous();
  const double* values = reinterpret_cast<const double*>(wide.impl().data());
  if (wide.dim() == 0) {
    stream << shortest(values[0]) << '\n';
  } else if (wide.numel() > 0 && wide.dim() == 1) {
    const NumberFormat format = choose_format(stream, values, wide.numel());
    if (format.scale != 1) print_scale(stream, format.scale);
    for (int64_t i = 0; i < wide.numel(); ++i) stream << std::setw(format.width) << values[i] / format.scale << '\n';
  } else if (wide.numel() > 0 && wide.dim() == 2) {
    print_matrix(stream, values, wide.size(0), wide.size(1), line_size, 0);
  } else if (wide.numel() > 0) {
    print_matrices(stream, values, wide.sizes(), line_size);
  }
  stream << "[ " << tensor.toString() << '{';
  for (int64_t d = 0; d < tensor.dim(); ++d) stream << (d ? "," : "") << tensor.size(d);
  return stream << "} ]";
}

std::ostream& operator<<(std::ostream& stream, const Tensor& tensor) { return print(stream, tensor, 80); }

}  // namespace taeda
