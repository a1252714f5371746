#include "cli/commands/docs/exported_pictures.hpp"

#include <chrono>
#include <filesystem>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/files.hpp"
#include "cli/commands/shared/calls_ahead.hpp"
#include "sync-engine/model/relative_path.hpp"
#include "sync-engine/remote/api_assets.hpp"

namespace ws::cli {
namespace {

constexpr std::size_t downloads_at_a_time = 4;
constexpr std::chrono::milliseconds one_turn{200};

ExportedPicture exported(const WantedPicture& picture) {
  return {.asset = picture.file.asset, .hash = picture.file.hash, .source = picture.source};
}

}  // namespace

bool ends_export(const Failure& failure) {
  return failure.kind == Failure::Kind::auth || failure.kind == Failure::Kind::unreachable ||
         failure.kind == Failure::Kind::cancelled || failure.kind == Failure::Kind::rate_limited;
}

Result<void> ExportedPictures::take(const std::set<std::string>& of_sources, ProgressLine& line) {
  for (const auto& [name, picture] : sources_.pictures()) {
    if (of_sources.contains(picture.source)) WS_TRY(look_at(name, picture));
  }
  auto downloaded = folder_.is_dry_run() ? Result<void>() : download(line);
  line.clear();
  if (folder_.is_dry_run()) {
    for (const auto& [hash, due] : due_) WS_TRY(put_at_all(due));
  }
  WS_TRY(folder_.save());
  return downloaded;
}

Result<void> ExportedPictures::look_at(const std::string& name, const WantedPicture& picture) {
  const ExportState need = folder_.need_of_picture(name, picture.file.hash, session_.has("force"));
  if (need == ExportState::kept) {
    tell_(name, picture.file.asset, ws::cli::name(need), nullptr);
    return {};
  }
  if (need == ExportState::unchanged) {
    WS_TRY(folder_.note_picture(name, exported(picture)));
    tell_(name, picture.file.asset, ws::cli::name(need), nullptr);
    return {};
  }
  const auto may_go = [this](const std::string& other) {
    return !sources_.pictures().contains(other) && sources_.is_read(folder_.pictures().at(other).source);
  };
  WS_LET(const bool is_taken, folder_.take_equal(name, exported(picture), may_go));
  if (is_taken) {
    tell_(name, picture.file.asset, ws::cli::name(need), nullptr);
    return {};
  }
  Due& due = due_[picture.file.hash];
  due.picture = picture;
  due.names.push_back(name);
  states_[name] = need;
  return {};
}

Result<void> ExportedPictures::download(ProgressLine& line) {
  const std::unique_ptr<sync::Assets> assets = sync::make_api_assets(client_);
  auto next = due_.begin();
  while (next != due_.end() || under_way_ > 0) {
    if (session_.world().cancelled.load() && !ended_by_)
      ended_by_ = Failure{.kind = Failure::Kind::cancelled, .what = "stopped", .hint = "run the same command again"};
    while (next != due_.end() && under_way_ < downloads_at_a_time && !ended_by_) {
      const Due& due = (next++)->second;
      if (!may_fetch_) {
        lacks_named_ = lacks_named_ || sources_.is_named(due.picture.source);
        continue;
      }
      if (auto begun = start(*assets, due, line); !begun) tell_failed(due, begun.error());
    }
    if (under_way_ == 0 && ended_by_) break;
    assets->run(one_turn);
  }
  if (!may_fetch_) session_.note("the key may not read files (assets:read): pictures are missing from the export");
  return ended_by_ ? fail(*ended_by_) : Result<void>();
}

Result<void> ExportedPictures::start(sync::Assets& assets, const Due& due, ProgressLine& line) {
  const std::string& name = due.names.front();
  WS_LET(Descriptor opened, folder_.folder_for(name));
  // It stays open until the download is over: the path leads through it.
  const auto folder = std::make_shared<Descriptor>(std::move(opened));
  const std::filesystem::path real = (folder_.path() / name).parent_path();
  const std::string to = (path_through(folder->get(), real) / sync::last_part(name)).string();
  sync::AssetDownload wanted{.asset = due.picture.file.asset,
                             .size_bytes = due.picture.file.size_bytes,
                             .hash = due.picture.file.hash,
                             .to = to};
  wanted.progress = [this, &line, hash = due.picture.file.hash](std::uint64_t bytes) {
    received_[hash] = bytes;
    std::uint64_t done = 0, total = 0;
    for (const auto& [each, count] : received_) done += count;
    for (const auto& [each, other] : due_) total += other.picture.file.size_bytes;
    line.update("downloading pictures", done, total, Counted::bytes);
  };
  ++under_way_;
  assets.start(std::move(wanted), [this, folder, to, &due](Result<void> ended) {
    --under_way_;
    end(due, to, std::move(ended));
  });
  return {};
}

void ExportedPictures::end(const Due& due, const std::string& to, Result<void> ended) {
  if (ended) ended = put_at_all(due);
  if (ended) return;
  Failure why = std::move(ended).error();
  if (const std::size_t at = why.what.find(to); at != std::string::npos)
    why.what.replace(at, to.size(), (folder_.path() / due.names.front()).string());
  if (why.code == "missing_scope") {
    may_fetch_ = false;
    lacks_named_ = lacks_named_ || sources_.is_named(due.picture.source);
    return;
  }
  if (ends_export(why) && !ended_by_) ended_by_ = why;
  tell_failed(due, why);
}

/// The bytes are at the first of the names; the others get copies.
Result<void> ExportedPictures::put_at_all(const Due& due) {
  const auto stays = [](const std::string&) { return false; };
  for (const std::string& name : due.names) {
    if (name == due.names.front()) {
      WS_TRY(folder_.note_picture(name, exported(due.picture)));
    } else {
      WS_TRY(folder_.take_equal(name, exported(due.picture), stays));
    }
    tell_(name, due.picture.file.asset, ws::cli::name(states_.at(name)), nullptr);
  }
  return {};
}

void ExportedPictures::tell_failed(const Due& due, const Failure& why) {
  for (const std::string& name : due.names) tell_(name, due.picture.file.asset, "failed", &why);
}

std::vector<std::string> ExportedPictures::unlisted() const {
  std::vector<std::string> names;
  for (const auto& [name, picture] : folder_.pictures()) {
    if (!sources_.pictures().contains(name) && sources_.is_read(picture.source)) names.push_back(name);
  }
  return names;
}

Result<void> ExportedPictures::take_unlisted(bool remove, ProgressLine& line) {
  const std::vector<std::string> names = unlisted();
  CallsAhead calls(client_);
  std::size_t done = 0;
  for (const std::string& name : names) {
    while (remove && calls.size() < reads_ahead && done + calls.size() < names.size()) {
      const ExportedPicture& next = folder_.pictures().at(names[done + calls.size()]);
      calls.start({.operation = "files.get", .parameters = {{"asset_id", next.asset}}, .validate = false});
    }
    ++done;
    if (remove) {
      WS_TRY(take_missing(name, calls.take()));
      line.update("asking for missing pictures", done, names.size());
    } else {
      tell_(name, folder_.pictures().at(name).asset, ws::cli::name(ExportState::unlisted), nullptr);
    }
  }
  line.clear();
  return remove && !names.empty() ? folder_.save() : Result<void>();
}

Result<void> ExportedPictures::take_missing(const std::string& name, const Result<Reply>& reply) {
  const std::string asset = folder_.pictures().at(name).asset;
  if (!reply) {
    if (ends_export(reply.error())) return fail(reply.error());
    const bool is_hidden = is_out_of_sight(reply.error());
    tell_(name,
          asset,
          is_hidden ? ws::cli::name(ExportState::not_visible) : "failed",
          is_hidden ? nullptr : &reply.error());
    return {};
  }
  const Json& answer = *reply->json;
  const bool is_gone = find_text(answer, "status") == "archived" || find_bool(answer, "deleted").value_or(false);
  ExportState state = ExportState::unlisted;
  if (is_gone) {
    WS_LET(state, folder_.remove_picture(name));
  }
  tell_(name, asset, ws::cli::name(state), nullptr);
  return {};
}

}  // namespace ws::cli
