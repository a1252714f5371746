#include "sync-engine/remote/pulled_page.hpp"

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/json_items.hpp"
#include "api-client/client.hpp"
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
  PageReader(const Call& call, const std::function<Result<void>(PulledItem item)>& visit)
      : call_(call), visit_(visit), items_("data", [this](const Json& item) { return take(item); }) {}

  Result<void> feed(std::string_view piece) {
    has_begun_ = true;
    auto fed = items_.feed(piece);
    if (fed || from_visit_) return fed;
    return fail(unusable_page(call_, fed.error().what));
  }
  bool has_begun() const { return has_begun_; }

  Result<Json> finish() {
    auto page = items_.finish();
    if (!page) return fail(unusable_page(call_, page.error().what));
    const Json* const list = find(*page, "data");
    if (list != nullptr && list->is_array() && list->empty()) return page;
    return fail(unusable_page(call_, "no list of documents"));
  }

 private:
  Result<void> take(const Json& value) {
    from_visit_ = true;
    WS_LET(PulledItem item, read_item(value));
    WS_TRY(visit_(std::move(item)));
    from_visit_ = false;
    return {};
  }

  const Call& call_;
  const std::function<Result<void>(PulledItem item)>& visit_;
  JsonItems items_;
  bool has_begun_ = false;
  bool from_visit_ = false;  // the failure under way is of what the page says, not of how
};

}  // namespace

Result<Json> stream_page(Client& client, const Call& call, const std::function<Result<void>(PulledItem item)>& visit) {
  for (int cuts = 1;; ++cuts) {
    PageReader reader(call, visit);
    Call sent = call;
    sent.sink = [&reader](std::string_view piece) { return reader.feed(piece); };
    const Result<Reply> reply = client.call(std::move(sent));
    if (reply) return reader.finish();
    // Before its first byte the client repeats by itself.
    const bool was_cut = reply.error().kind == Failure::Kind::unreachable && reader.has_begun();
    if (!was_cut || cuts == 3 || !client.spend_retry(cuts)) return fail(reply.error());
  }
}

}  // namespace ws::sync
