/// What people set in `.ws/config.yaml`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/result.hpp"
#include "sync-engine/binding/left_out.hpp"
#include "sync-engine/binding/ws_folder.hpp"

namespace ws::sync {

/// Which files beside the documents are synced. `linked`: those that documents show.
enum class AttachmentMode { off, linked, all };
std::string_view name(AttachmentMode mode);
std::optional<AttachmentMode> find_attachment_mode(std::string_view name);

inline constexpr std::uint64_t max_attachment_bytes = 104'857'600;  // API document v1, "Limits"

/// What a run does about links to what was renamed here.
enum class LinksMode { report, keep, off };

struct TreeConfig {
  AttachmentMode attachments = AttachmentMode::off;   ///< a new tree's file says `linked`
  bool says_attachments = false;                      ///< the file has the key
  std::vector<std::string> attachments_exclude = {};  ///< globs
  /// Which may arrive unasked: "plain", "any", or last extensions without the dot, in small letters.
  std::vector<std::string> attachments_kinds = {"plain"};
  std::uint64_t attachments_max_bytes = max_attachment_bytes;
  LinksMode links = LinksMode::report;
  std::uint64_t max_file_bytes = std::uint64_t{1} << 20U;  ///< a larger file here is skipped
  std::vector<std::string> include = {};                   ///< globs of further files, hidden ones too
  std::vector<std::string> merge_later = {};               ///< front matter keys of which the later date wins
  LeftOut left_out = {};                                   ///< what is not to be here, and stays on the service
  bool portable_names = false;  ///< `names: portable`: what another system could not hold is refused, on either side

  /// Changes with every setting that decides what a walk finds: what the stat cache compares.
  std::uint64_t fingerprint() const;
  bool operator==(const TreeConfig&) const = default;
};

/// What a new tree gets: every key, explained, none set.
extern const std::string_view config_template;
/// The same, with the line that sets `attachments`.
std::string new_config(AttachmentMode attachments);

/// Defaults where there is no file. Fails with `usage` (code `bad_config`), naming file, line and column: no YAML, a
/// key that nobody knows, a value of the wrong kind.
Result<TreeConfig> read_config(const WsFolder& folder);

}  // namespace ws::sync
