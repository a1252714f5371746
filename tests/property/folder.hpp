/// The files of a folder, as users change them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

namespace ws::property {

/// `tree`: the files that `pick` chooses among.
class Folder {
 public:
  explicit Folder(const std::filesystem::path& root, const std::map<std::string, std::string>& tree) : root_(root) {
    for (const auto& [path, text] : tree) paths_.push_back(path);
  }

  std::optional<std::string> pick(std::uint8_t number) const {
    if (paths_.empty()) return std::nullopt;
    return paths_[number % paths_.size()];
  }
  std::string read(const std::string& path) const {
    std::ifstream stream(root_ / path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  void write(const std::string& path, const std::string& text) const {
    if (!make_room(path)) return;
    std::ofstream(root_ / path, std::ios::binary) << text;
  }
  /// As many editors save: a new file replaces the old one.
  void replace(const std::string& path, const std::string& text) const {
    std::ofstream(root_ / "save.tmp", std::ios::binary) << text;
    std::filesystem::rename(root_ / "save.tmp", root_ / path);
  }
  bool is_there(const std::string& path) const {
    std::error_code ignored;
    return std::filesystem::exists(std::filesystem::symlink_status(root_ / path, ignored));
  }
  bool make_room(const std::string& path) const {
    std::error_code error;
    std::filesystem::create_directories((root_ / path).parent_path(), error);
    return !error && !std::filesystem::is_directory(root_ / path);
  }
  void move(const std::string& from, const std::string& to) const {
    std::error_code ignored;
    if (make_room(to)) std::filesystem::rename(root_ / from, root_ / to, ignored);
  }
  void remove(const std::string& path) const {
    std::error_code ignored;
    std::filesystem::remove_all(root_ / path, ignored);
  }
  std::filesystem::path operator/(const std::string& path) const { return root_ / path; }

 private:
  std::filesystem::path root_;
  std::vector<std::string> paths_;
};

}  // namespace ws::property
