// SPDX-License-Identifier: Apache-2.0
// Error types and the one place that throws them.
#include "taeda/core/error.h"

#include <cstdio>
#include <sstream>

namespace taeda {

Error::Error(std::string message, SourceLocation where)
    : message_(std::move(message)), what_(message_), where_(where) {}
Error::~Error() = default;
IndexError::~IndexError() = default;
TypeError::~TypeError() = default;
ValueError::~ValueError() = default;
NotImplementedError::~NotImplementedError() = default;
LinAlgError::~LinAlgError() = default;
OutOfMemoryError::~OutOfMemoryError() = default;
IoError::~IoError() = default;

void Error::add_context(const std::string& context) { what_ = context + ": " + what_; }

namespace detail {

void write_text(std::ostream& stream, const void* text) { stream << static_cast<const char*>(text); }
void manipulate(std::ostream& stream, const void* manipulator) { stream << reinterpret_cast<std::ios_base& (*)(std::ios_base&)>(manipulator); }
std::string concatenate(std::initializer_list<Piece> pieces) {
  std::ostringstream stream;
  for (const Piece& piece : pieces) piece.write(stream, piece.value);
  return std::move(stream).str();
}

void throw_error(ErrorKind kind, SourceLocation where, std::string message) {
  switch (kind) {
    case ErrorKind::kIndex: throw IndexError(std::move(message), where);
    case ErrorKind::kType: throw TypeError(std::move(message), where);
    case ErrorKind::kValue: throw ValueError(std::move(message), where);
    case ErrorKind::kNotImplemented: throw NotImplementedError(std::move(message), where);
    case ErrorKind::kLinAlg: throw LinAlgError(std::move(message), where);
    case ErrorKind::kIo: throw IoError(std::move(message), where);
    case ErrorKind::kError: break;
  }
  throw Error(std::move(message), where);
}

void warn(SourceLocation where, const std::string& message) {
  std::fprintf(stderr, "[taeda] warning: %s (%s)\n", message.c_str(), where.function);
}

}  // namespace detail
}  // namespace taeda
