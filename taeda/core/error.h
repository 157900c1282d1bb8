// SPDX-License-Identifier: Apache-2.0
// Typed errors with one message format: "[operator] the rule; what was given; what to do".
#pragma once

#include <exception>
#include <initializer_list>
#include <ostream>
#include <string>
#include <utility>

#include "taeda/core/export.h"

namespace taeda {

namespace detail {
template <class T>
void write_piece(std::ostream& stream, const void* value) {
  stream << *static_cast<const T*>(value);
}
TAEDA_API void write_text(std::ostream& stream, const void* text);
TAEDA_API void manipulate(std::ostream& stream, const void* manipulator);  // std::hex and its like
/// A reference to something that can be streamed, without its type: one function puts any text together.
struct Piece {
  const void* value;
  void (*write)(std::ostream&, const void*);

  Piece(const char* text) : value(text), write(write_text) {}
  Piece(std::ios_base& (*manipulator)(std::ios_base&)) : value(reinterpret_cast<const void*>(manipulator)), write(manipulate) {}
  template <class T>
  Piece(const T& v) : value(&v), write(write_piece<T>) {}
};
TAEDA_API std::string concatenate(std::initializer_list<Piece> pieces);
}  // namespace detail

/// Concatenates the streamed forms of its arguments.
template <class... Args>
inline std::string str(const Args&... args) {
  return detail::concatenate({detail::Piece(args)...});
}
inline std::string str() { return {}; }
inline std::string str(const char* text) { return text; }
inline std::string str(std::string text) { return text; }

/// Where a check stands in the library's sources.
struct SourceLocation {
  const char* function = "";
  const char* file = "";
  unsigned line = 0;
};

/// Base of all errors thrown by the library (`c10::Error` in the compatible interface).
class TAEDA_API Error : public std::exception {
 public:
  explicit Error(std::string message, SourceLocation where = {});
  Error(SourceLocation where, std::string message) : Error(std::move(message), where) {}
  Error(const Error&) = default;
  Error& operator=(const Error&) = default;
  ~Error() override;

  const char* what() const noexcept override { return what_.c_str(); }
  /// The message without the context added by `add_context`.
  const std::string& msg() const noexcept { return message_; }
  const char* what_without_backtrace() const noexcept { return what_.c_str(); }
  const SourceLocation& where() const noexcept { return where_; }
  /// Puts `context` (for example "while loading layer3.0.conv1.weight") in front of the message.
  void add_context(const std::string& context);

 private:
  std::string message_;
  std::string what_;
  SourceLocation where_;
};

#define TAEDA_DECLARE_ERROR(Name, Base)     \
  class TAEDA_API Name : public Base {      \
   public:                                  \
    using Base::Base;                       \
    Name(const Name&) = default;            \
    Name& operator=(const Name&) = default; \
    ~Name() override;                       \
  }

TAEDA_DECLARE_ERROR(IndexError, Error);
TAEDA_DECLARE_ERROR(TypeError, Error);
TAEDA_DECLARE_ERROR(ValueError, Error);
TAEDA_DECLARE_ERROR(NotImplementedError, Error);
TAEDA_DECLARE_ERROR(LinAlgError, Error);
TAEDA_DECLARE_ERROR(OutOfMemoryError, Error);
/// A file or stream that cannot be read or written, or whose content is damaged.
TAEDA_DECLARE_ERROR(IoError, Error);
#undef TAEDA_DECLARE_ERROR

namespace detail {
enum class ErrorKind { kError, kIndex, kType, kValue, kNotImplemented, kLinAlg, kIo };
[[noreturn]] TAEDA_API void throw_error(ErrorKind kind, SourceLocation where, std::string message);
TAEDA_API void warn(SourceLocation where, const std::string& message);
/// The message of a check; without arguments, the condition itself.
template <class... Args>
TAEDA_COLD std::string check_message(const char* condition, const Args&... args) {
  if constexpr (sizeof...(Args) == 0) {
    return str("Expected ", condition, " to be true, but got false.");
  } else {
    return str(args...);
  }
}
}  // namespace detail
}  // namespace taeda

#define TAEDA_HERE (::taeda::SourceLocation{__func__, __FILE__, static_cast<unsigned>(__LINE__)})

#define TAEDA_CHECK_KIND(kind, cond, ...)                                                       \
  do {                                                                                          \
    if (TAEDA_UNLIKELY(!(cond)))                                                                \
      ::taeda::detail::throw_error(::taeda::detail::ErrorKind::kind, TAEDA_HERE,                \
                                   ::taeda::detail::check_message(#cond __VA_OPT__(, ) __VA_ARGS__)); \
  } while (false)

#define TAEDA_CHECK(cond, ...) TAEDA_CHECK_KIND(kError, cond __VA_OPT__(, ) __VA_ARGS__)
#define TAEDA_CHECK_INDEX(cond, ...) TAEDA_CHECK_KIND(kIndex, cond __VA_OPT__(, ) __VA_ARGS__)
#define TAEDA_CHECK_TYPE(cond, ...) TAEDA_CHECK_KIND(kType, cond __VA_OPT__(, ) __VA_ARGS__)
#define TAEDA_CHECK_VALUE(cond, ...) TAEDA_CHECK_KIND(kValue, cond __VA_OPT__(, ) __VA_ARGS__)
#define TAEDA_CHECK_LINALG(cond, ...) TAEDA_CHECK_KIND(kLinAlg, cond __VA_OPT__(, ) __VA_ARGS__)
#define TAEDA_CHECK_IO(cond, ...) TAEDA_CHECK_KIND(kIo, cond __VA_OPT__(, ) __VA_ARGS__)
#define TAEDA_CHECK_NOT_IMPLEMENTED(cond, ...) \
  TAEDA_CHECK_KIND(kNotImplemented, cond __VA_OPT__(, ) __VA_ARGS__)
#define TAEDA_WARN(...) ::taeda::detail::warn(TAEDA_HERE, ::taeda::str(__VA_ARGS__))
