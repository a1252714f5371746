/// A short list held in itself: a row of a constant table names its few values in place.
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>

namespace ws {

/// At most `most` values; in a constant, more do not compile.
template <class T, std::size_t most>
class SmallList {
 public:
  constexpr SmallList() = default;
  constexpr SmallList(std::initializer_list<T> values) : size_(values.size()) { std::ranges::copy(values, values_); }

  constexpr const T* begin() const { return values_; }
  constexpr const T* end() const { return values_ + size_; }
  constexpr std::size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr const T& front() const { return values_[0]; }
  constexpr const T& operator[](std::size_t place) const { return values_[place]; }

 private:
  T values_[most] = {};
  std::size_t size_ = 0;
};

}  // namespace ws
