/// The only way to name a file of the synced tree.
///
/// A `RelativePath` is relative, `/` between parts, in NFC or as found on disk, and breaks none of the rules of
/// `safety.md`, "Path rules": holding one is the proof. So a hostile `../x` or `.GIT/config` cannot exist as a value,
/// whoever sent it.
///
/// A document has up to four paths, and each has one name in the code:
///
///   path, disk_path   where its file lies in this tree
///   base path         where both sides agreed that it is: `Entry::path` of the base. The file is there, too, unless
///                     another file held the place (`displaced_to`)
///   service_path      where the service has it now: `Entry::path` of the remote tree, `Action::service_path`
///   previous_path     where it was before the rename that the same value describes
///
/// On disk a name keeps the Unicode form that it was found in; what goes to the service is in `service_form`.
#pragma once

#include <compare>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "api-client/base/result.hpp"

namespace ws::sync {

inline constexpr std::size_t max_segment_bytes = 255;
inline constexpr std::size_t max_path_bytes = 1024;
inline constexpr std::size_t max_path_levels = 200;

/// The path of the folder that holds it; empty at the top. Of any path, also of one that is no `RelativePath`.
std::string_view parent_folder(std::string_view path);
/// The path without that folder.
std::string_view last_part(std::string_view path);

/// Whether the path is `place`, or lies in the folder of that name. Of any paths.
bool is_at_or_below(std::string_view path, std::string_view place);

class RelativePath {
 public:
  /// Fails with `invalid`, saying which part breaks which rule; the message holds no control characters.
  static Result<RelativePath> parse(std::string_view text);

  std::string_view text() const noexcept { return *text_; }
  const std::string& string() const noexcept { return *text_; }
  std::string_view folder() const noexcept;  ///< without the last part; empty at the top
  std::string_view name() const noexcept;    ///< the last part
  /// Equal keys: the two paths are one on some file system (NFC and case folding), "twins".
  std::string twin_key() const;

  // All copies have one text: a run of 100,000 files holds each path some eight times. To move is to copy, so that
  // none is ever without.
  RelativePath(const RelativePath&) = default;
  RelativePath& operator=(const RelativePath&) = default;
  ~RelativePath() = default;
  bool operator==(const RelativePath& other) const noexcept { return text_ == other.text_ || *text_ == *other.text_; }
  auto operator<=>(const RelativePath& other) const noexcept { return *text_ <=> *other.text_; }

 private:
  explicit RelativePath(std::string text) : text_(std::make_shared<const std::string>(std::move(text))) {}
  std::shared_ptr<const std::string> text_;
};

/// A path as it goes to the service: in NFC. Paths in an answer are compared in this form.
std::string service_form(std::string_view path);

/// Which rule one part of a path breaks; empty: none. The scanner's check of each name that it meets.
std::optional<std::string_view> dangerous_part(std::string_view part);

/// Whether one of the two lies in a folder that bears the other's name.
bool is_nested(const RelativePath& a, const RelativePath& b);

/// Ends in `.md` or `.markdown`, whatever the case.
bool is_markdown(std::string_view name);

/// Cannot stand on some other system (`a:b.md`, `CON.md`, a trailing dot): synced all the same, and noted.
bool is_unportable(const RelativePath& path);

/// A note that programs obey, such as `AGENTS.md`.
bool is_for_programs(const RelativePath& path);

}  // namespace ws::sync
