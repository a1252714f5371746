#include "sync-engine/survey/staged_ahead.hpp"

#include <utility>

namespace ws::sync {

Result<std::unique_ptr<StagedAhead>> StagedAhead::open(const RootFolder& root) {
  WS_LET(StagingFolder staging, StagingFolder::open(root, "tmp"));
  return std::unique_ptr<StagedAhead>(new StagedAhead(std::move(staging)));
}

void StagedAhead::add(const DocumentId& document, const Sha256& hash, std::string text) {
  const auto [place, is_new] = texts_.try_emplace(document.text);
  if (!is_new) return;  // a page is read again after a cut connection; `take` compares the hash
  disk_.add(std::move(text), [this, &staged = place->second, hash](const std::string& held) {
    staged = staging_.stage_unnamed(held, hash);
  });
}

void StagedAhead::close() {
  disk_.add([this] { static_cast<void>(staging_.flush_texts()); });
}

std::optional<Staged> StagedAhead::take(const DocumentId& document, const Sha256& hash) {
  disk_.wait();
  const auto found = texts_.find(document.text);
  if (found == texts_.end() || !found->second || found->second->hash != hash) return std::nullopt;
  return std::exchange(found->second, std::nullopt);
}

}  // namespace ws::sync
