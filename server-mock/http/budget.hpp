/// How much all conversations of a server hold together: what came in and is not answered, what is answered and not
/// taken. One client is bounded by its limits; this bounds how much many of them can make the server hold.
#pragma once

#include <cstddef>

namespace ws::mock::http {

class Budget {
 public:
  explicit Budget(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  bool allows(std::size_t more_bytes) const { return held_bytes_ + more_bytes <= most_bytes_; }
  /// Nothing new is begun. A quarter beyond `allows`: who sends much must not keep out those who send little.
  bool is_exhausted() const { return held_bytes_ > most_bytes_ + most_bytes_ / 4; }
  std::size_t held_bytes() const { return held_bytes_; }
  /// One of them holds `now_bytes` in place of `before_bytes`.
  void replace(std::size_t before_bytes, std::size_t now_bytes) { held_bytes_ += now_bytes - before_bytes; }

 private:
  std::size_t most_bytes_;
  std::size_t held_bytes_ = 0;
};

}  // namespace ws::mock::http
