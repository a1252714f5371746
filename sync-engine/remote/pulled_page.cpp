#include "sync-engine/remote/pulled_page.hpp"

#include <cstdint>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/json_items.hpp"
#include "api-client/client/client.hpp"
#include "sync-engine/remote/answers.hpp"

namespace ws::sync {
namespace {

Failure unusable_page(const Call& call, std::string_view reason) {
  Failure failure = unusable(reason);
  failure.call.operation = call.operation;
  return failure;
}

/// One send of the call.
class PageReader {
 public:
  PageReader(const Call& call, const PullTotal& before, const std::function<Result<void>(PulledItem item)>& visit)
      : call_(call),
        before_(before),
        visit_(visit),
        items_("data", [this](const Json& item) { return take(item, {}); }) {
    items_.on_damaged([this](const Json& item, Failure why) { return take(item, std::move(why)); });
  }
  PageReader(const PageReader&) = delete;  // `items_` refers to it
  PageReader& operator=(const PageReader&) = delete;

  Result<void> feed(std::string_view piece) {
    bytes_ += piece.size();
    if (before_.bytes + bytes_ > before_.bounds.bytes) {
      return fail(unusable_page(call_, fmt::format("a pull of more than {} bytes", before_.bounds.bytes)));
    }
    auto fed = items_.feed(piece);
    if (fed || from_visit_) return fed;
    return fail(unusable_page(call_, fed.error().what));
  }

  Result<Json> finish(PullTotal& total) {
    auto page = items_.finish();
    if (!page) return fail(unusable_page(call_, page.error().what));
    const Json* const list = find(*page, "data");
    if (list == nullptr || !list->is_array() || !list->empty()) {
      return fail(unusable_page(call_, "no list of documents"));
    }
    total.items += items_.count();
    total.bytes += bytes_;
    return page;
  }

 private:
  Result<void> take(const Json& value, std::optional<Failure> why) {
    if (before_.items + items_.count() > before_.bounds.items) {
      return fail(Failure::Kind::invalid, fmt::format("a pull of more than {} documents", before_.bounds.items));
    }
    if (!value.is_object()) return fail(Failure::Kind::invalid, "a document that is not an object");
    PulledItem item = read_item(value);
    if (why) {
      item.damage = damaged_text(item.document, fmt::format("cannot be read: {}", why->what));
      item.content.reset();
      item.hash.reset();
    }
    from_visit_ = true;
    WS_TRY(visit_(std::move(item)));
    from_visit_ = false;
    return {};
  }

  std::uint64_t bytes_ = 0;
  const Call& call_;
  const PullTotal& before_;
  const std::function<Result<void>(PulledItem item)>& visit_;
  JsonItems items_;
  bool from_visit_ = false;  // the failure under way is of what the page says, not of how
};

}  // namespace

Result<Json> stream_page(Client& client,
                         const Call& call,
                         PullTotal& total,
                         const std::function<Result<void>(PulledItem item)>& visit) {
  std::optional<PageReader> reader;
  Call sent = call;
  sent.sink_afresh = [&] { reader.emplace(call, total, visit); };
  sent.sink = [&reader](std::string_view piece) { return reader->feed(piece); };
  WS_TRY(client.call(std::move(sent)));
  return reader->finish(total);
}

}  // namespace ws::sync
