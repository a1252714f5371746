/// Uploads a file as an Asset: start, PUT of the bytes, finalize. An interrupted upload is resumed.
///
/// The key goes to the API alone, never to the upload address. The bytes stream from disk. An upload that ended
/// half-way is described by a `StartedUpload`; given back with the same bytes, it is finished: if its finalize was in
/// doubt, that is asked for first, so that one file becomes one Asset. Where the service refuses this, the newest
/// Assets are looked through; if it is not among them, the outcome stays unknown.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "api-client/base/result.hpp"
#include "api-client/base/sha256.hpp"
#include "api-client/client/client.hpp"

namespace ws {

/// Size and modification time: if they are equal, so are the bytes, within the file system's resolution.
struct FileStamp {
  std::uint64_t size_bytes = 0;
  std::int64_t changed_ns = 0;
  bool operator==(const FileStamp&) const = default;
};
/// Fails with `disk`: no such file, not a regular file, not readable.
Result<FileStamp> stamp_of(const std::filesystem::path& path);

struct UploadFile {
  std::filesystem::path path = {};
  std::string file_name = {};
  std::string mime_type = {};
  FileStamp stamp = {};
};

/// Of its bytes. Empty: they cannot be read, or are not those of the stamp any more.
std::optional<Sha256> hash_of(const UploadFile& file);

/// `sent`: the bytes may be at the service already, so that the finalize is asked for first.
enum class UploadState { started, sent, finishing };

/// The service's answer to the start, and the state of the upload. `upload_url` is a capability: keep it to yourself.
struct StartedUpload {
  std::string upload_id = {};
  std::string blob_name = {};
  std::string upload_url = {};
  http::Headers upload_headers = {};
  std::string expires_at = {};
  std::optional<Sha256> hash = {};           ///< of the bytes; known from the finalize on
  UploadState state = UploadState::started;  ///< `finishing`: a finalize may have been seen by the service
};

/// The bodies of the two calls around the bytes, checked against the limits by whoever calls.
Call upload_start_call(const UploadFile& file);
Call upload_finish_call(const UploadFile& file, const StartedUpload& started);

/// Empty where it lacks what the PUT needs.
std::optional<StartedUpload> read_started_upload(const Json& answer);
/// Fails as `unusable_answer`.
Result<StartedUpload> started_upload_of(const Reply& reply);

struct UploadObserver {
  bool begins_anew = true;  ///< where the service does not know an earlier start any more
  bool any_name = false;    ///< whatever its name, an Asset of the same bytes is what came of an upload in doubt
  /// After the start and before the finalize, to be kept; a failure ends the upload.
  std::function<Result<void>(const StartedUpload&)> kept = {};
  /// In place of `kept` before the finalize, which waits until `go_on` is called: so that those of many uploads can be
  /// flushed to the disk together.
  std::function<void(const StartedUpload&, std::function<void()> go_on)> finishing = {};
  /// The service does not know it any more, or made an Asset of other bytes. After a success nothing is called: what
  /// was kept leads the next run to this Asset, until whoever called has told its id.
  std::function<void(const StartedUpload&)> forgotten = {};
  std::function<void(std::uint64_t sent_bytes)> progress = {};
};

/// Begins it; `done` comes from `client.run` with the Asset as the service shows it. Many may be under way. Fails like
/// any call; with `integrity` where the Asset's hash or size is another one, with `disk` where the file changed.
void start_upload(Client& client,
                  UploadFile file,
                  std::optional<StartedUpload> resumed,
                  UploadObserver observer,
                  std::function<void(Result<Reply>)> done);

}  // namespace ws
