#include "cli/commands/shared/calls_ahead.hpp"

#include <chrono>
#include <utility>

namespace ws::cli {

void CallsAhead::start(Call call) {
  auto ended = std::make_shared<std::optional<Result<Reply>>>();
  client_.start(std::move(call), [ended](Result<Reply> reply) { ended->emplace(std::move(reply)); });
  calls_.push_back(std::move(ended));
  client_.run(std::chrono::milliseconds{0});
}

Result<Reply> CallsAhead::take() {
  const Ended oldest = std::move(calls_.front());
  calls_.pop_front();
  while (!*oldest) client_.run(std::chrono::milliseconds{1000});
  return std::move(**oldest);
}

}  // namespace ws::cli
