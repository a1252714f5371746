/// Owns one object of a C library.
#pragma once

#include <memory>

namespace ws {

template <auto destroy>
struct Destroy {
  template <class T>
  void operator()(T* object) const noexcept {
    destroy(object);
  }
};

/// Owns one C object: `using Statement = Handle<sqlite3_stmt, sqlite3_finalize>;` The size of one pointer.
template <class T, auto destroy>
using Handle = std::unique_ptr<T, Destroy<destroy>>;

}  // namespace ws
