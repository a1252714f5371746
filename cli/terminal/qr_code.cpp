#include "cli/terminal/qr_code.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <limits>

namespace ws::cli {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// ISO/IEC 18004, tables 7 and 9 (level L) and annex E.
struct Version {
  std::size_t data_bytes;
  std::size_t check_bytes;  // of each block
  std::size_t blocks;
  std::array<std::size_t, 3> alignment;  // centres; 0: none
};
constexpr Version versions[] = {
    {19, 7, 1, {0, 0, 0}},
    {34, 10, 1, {6, 18, 0}},
    {55, 15, 1, {6, 22, 0}},
    {80, 20, 1, {6, 26, 0}},
    {108, 26, 1, {6, 30, 0}},
    {136, 18, 2, {6, 34, 0}},
    {156, 20, 2, {6, 22, 38}},
    {194, 24, 2, {6, 24, 42}},
    {232, 30, 2, {6, 26, 46}},
};
constexpr std::size_t header_bits = 12;  // mode and length

std::uint8_t multiply(std::uint8_t a, std::uint8_t b) {
  unsigned product = 0;
  for (unsigned bit = 8; bit-- > 0;) {
    product = (product << 1U) ^ ((product >> 7U) * 0x11DU);
    product ^= ((b >> bit) & 1U) * a;
  }
  return static_cast<std::uint8_t>(product);
}

/// Reed-Solomon check bytes of one block.
Bytes check_bytes(const Bytes& data, std::size_t count) {
  Bytes generator(count, 0);
  generator.back() = 1;
  std::uint8_t root = 1;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < count; ++j) {
      generator[j] = multiply(generator[j], root);
      if (j + 1 < count) generator[j] ^= generator[j + 1];
    }
    root = multiply(root, 2);
  }
  Bytes rest(count, 0);
  for (const std::uint8_t byte : data) {
    const auto factor = static_cast<std::uint8_t>(byte ^ rest.front());
    std::rotate(rest.begin(), rest.begin() + 1, rest.end());
    rest.back() = 0;
    for (std::size_t i = 0; i < count; ++i) rest[i] ^= multiply(generator[i], factor);
  }
  return rest;
}

Bytes data_of(std::string_view text, const Version& version) {
  std::vector<bool> bits;
  const auto put = [&bits](unsigned value, unsigned count) {
    for (unsigned i = count; i-- > 0;) bits.push_back(((value >> i) & 1U) != 0);
  };
  put(0b0100, 4);
  put(static_cast<unsigned>(text.size()), 8);
  for (const char c : text) put(static_cast<unsigned char>(c), 8);
  put(0, static_cast<unsigned>(std::min<std::size_t>(4, version.data_bytes * 8 - bits.size())));
  while (bits.size() % 8 != 0) bits.push_back(false);
  Bytes data(bits.size() / 8, 0);
  for (std::size_t i = 0; i < bits.size(); ++i) {
    if (bits[i]) data[i / 8] |= static_cast<std::uint8_t>(0x80U >> (i % 8));
  }
  for (std::uint8_t filler = 0xEC; data.size() < version.data_bytes; filler ^= 0xEC ^ 0x11) data.push_back(filler);
  return data;
}

/// Data and check bytes of all blocks, woven as they are placed.
Bytes woven(const Bytes& data, const Version& version) {
  const std::size_t length = data.size() / version.blocks;
  std::vector<Bytes> blocks;
  std::vector<Bytes> checks;
  for (std::size_t i = 0; i < version.blocks; ++i) {
    const auto begin = data.begin() + static_cast<std::ptrdiff_t>(i * length);
    blocks.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(length));
    checks.push_back(check_bytes(blocks.back(), version.check_bytes));
  }
  Bytes all;
  for (std::size_t i = 0; i < length; ++i) {
    for (const Bytes& block : blocks) all.push_back(block[i]);
  }
  for (std::size_t i = 0; i < version.check_bytes; ++i) {
    for (const Bytes& check : checks) all.push_back(check[i]);
  }
  return all;
}

class Matrix {
 public:
  explicit Matrix(std::size_t number)
      : number_(number), size_(17 + 4 * number), dark_(size_ * size_, 0), fixed_(size_ * size_, 0) {
    draw_patterns(versions[number - 1]);
  }

  std::size_t size() const { return size_; }
  const std::vector<char>& dark() const { return dark_; }

  void place(const Bytes& bytes) {
    std::size_t bit = 0;
    bool upwards = true;
    for (std::size_t right = size_ - 1; right < size_; right = right < 2 ? size_ : right - 2) {
      if (right == 6) right = 5;  // the timing column
      for (std::size_t step = 0; step < size_; ++step) {
        const std::size_t y = upwards ? size_ - 1 - step : step;
        for (const std::size_t x : {right, right - 1}) {
          if (fixed_[at(x, y)] != 0 || bit >= bytes.size() * 8) continue;
          dark_[at(x, y)] = static_cast<char>((bytes[bit / 8] >> (7 - bit % 8)) & 1U);
          ++bit;
        }
      }
      upwards = !upwards;
    }
  }

  /// Masks the data (again: takes the mask away) and writes the format that names it.
  void mask(unsigned number) {
    for (std::size_t y = 0; y < size_; ++y) {
      for (std::size_t x = 0; x < size_; ++x) {
        if (fixed_[at(x, y)] == 0 && inverts(number, x, y)) dark_[at(x, y)] ^= 1;
      }
    }
    draw_format(number);
  }

  /// How hard it is to read (7.8.3.1): runs, blocks, look-alikes of a finder, imbalance.
  std::size_t penalty() const {
    std::size_t total = 0;
    std::size_t count = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      total += penalty_of_line([&](std::size_t j) { return is_dark(j, i); });
      total += penalty_of_line([&](std::size_t j) { return is_dark(i, j); });
      for (std::size_t j = 0; j < size_; ++j) {
        count += is_dark(i, j) ? 1U : 0U;
        if (i + 1 == size_ || j + 1 == size_) continue;
        const bool here = is_dark(i, j);
        if (here == is_dark(i + 1, j) && here == is_dark(i, j + 1) && here == is_dark(i + 1, j + 1)) total += 3;
      }
    }
    const auto percent = static_cast<int>(count * 100 / (size_ * size_));
    return total + static_cast<std::size_t>(std::abs(percent - 50) / 5) * 10;
  }

 private:
  std::size_t at(std::size_t x, std::size_t y) const { return y * size_ + x; }
  bool is_dark(std::size_t x, std::size_t y) const { return dark_[at(x, y)] != 0; }

  void set(std::size_t x, std::size_t y, bool dark) {
    dark_[at(x, y)] = dark ? 1 : 0;
    fixed_[at(x, y)] = 1;
  }

  static bool inverts(unsigned number, std::size_t x, std::size_t y) {
    switch (number) {
      case 0: return (x + y) % 2 == 0;
      case 1: return y % 2 == 0;
      case 2: return x % 3 == 0;
      case 3: return (x + y) % 3 == 0;
      case 4: return (x / 3 + y / 2) % 2 == 0;
      case 5: return x * y % 2 + x * y % 3 == 0;
      case 6: return (x * y % 2 + x * y % 3) % 2 == 0;
      default: return ((x + y) % 2 + x * y % 3) % 2 == 0;
    }
  }

  template <class Line>
  std::size_t penalty_of_line(Line line) const {
    std::size_t total = 0;
    std::size_t run = 0;
    unsigned last = 0;  // the last eleven modules as bits
    for (std::size_t i = 0; i < size_; ++i) {
      run = i > 0 && line(i) == line(i - 1) ? run + 1 : 1;
      if (run == 5) total += 3;
      if (run > 5) ++total;
      last = ((last << 1U) | (line(i) ? 1U : 0U)) & 0x7FFU;
      if (i >= 10 && (last == 0b10111010000 || last == 0b00001011101)) total += 40;
    }
    return total;
  }

  void draw_patterns(const Version& version) {
    for (std::size_t i = 0; i < size_; ++i) {
      set(6, i, i % 2 == 0);
      set(i, 6, i % 2 == 0);
    }
    draw_finder(3, 3);
    draw_finder(size_ - 4, 3);
    draw_finder(3, size_ - 4);
    for (const std::size_t x : version.alignment) {
      for (const std::size_t y : version.alignment) draw_alignment(x, y);
    }
    draw_format(0);  // keeps its place free
    if (number_ >= 7) draw_version();
  }

  void draw_finder(std::size_t x, std::size_t y) {
    for (std::size_t dy = 0; dy <= 8; ++dy) {
      for (std::size_t dx = 0; dx <= 8; ++dx) {
        const std::size_t at_x = x + dx - 4;  // wraps where it would be -1: not below `size_`
        const std::size_t at_y = y + dy - 4;
        if (at_x >= size_ || at_y >= size_) continue;
        const int ring = std::max(std::abs(static_cast<int>(dx) - 4), std::abs(static_cast<int>(dy) - 4));
        set(at_x, at_y, ring != 2 && ring != 4);
      }
    }
  }

  void draw_alignment(std::size_t x, std::size_t y) {
    const bool at_finder = (x == 6 && y == 6) || (x == 6 && y == size_ - 7) || (x == size_ - 7 && y == 6);
    if (x == 0 || y == 0 || at_finder) return;
    for (std::size_t dy = 0; dy <= 4; ++dy) {
      for (std::size_t dx = 0; dx <= 4; ++dx) {
        const int ring = std::max(std::abs(static_cast<int>(dx) - 2), std::abs(static_cast<int>(dy) - 2));
        set(x + dx - 2, y + dy - 2, ring != 1);
      }
    }
  }

  void draw_format(unsigned mask_number) {
    const unsigned data = (0b01U << 3U) | mask_number;  // level L
    unsigned rest = data;
    for (int i = 0; i < 10; ++i) rest = (rest << 1U) ^ ((rest >> 9U) * 0x537U);
    const unsigned bits = ((data << 10U) | rest) ^ 0x5412U;
    const auto bit = [bits](std::size_t i) { return ((bits >> i) & 1U) != 0; };
    for (std::size_t i = 0; i < 6; ++i) set(8, i, bit(i));
    set(8, 7, bit(6));
    set(8, 8, bit(7));
    set(7, 8, bit(8));
    for (std::size_t i = 9; i < 15; ++i) set(14 - i, 8, bit(i));
    for (std::size_t i = 0; i < 8; ++i) set(size_ - 1 - i, 8, bit(i));
    for (std::size_t i = 8; i < 15; ++i) set(8, size_ - 15 + i, bit(i));
    set(8, size_ - 8, true);
  }

  void draw_version() {
    unsigned rest = static_cast<unsigned>(number_);
    for (int i = 0; i < 12; ++i) rest = (rest << 1U) ^ ((rest >> 11U) * 0x1F25U);
    const unsigned bits = (static_cast<unsigned>(number_) << 12U) | rest;
    for (std::size_t i = 0; i < 18; ++i) {
      const bool dark = ((bits >> i) & 1U) != 0;
      set(size_ - 11 + i % 3, i / 3, dark);
      set(i / 3, size_ - 11 + i % 3, dark);
    }
  }

  std::size_t number_;
  std::size_t size_;
  std::vector<char> dark_;
  std::vector<char> fixed_;  // patterns: neither data nor mask touches them
};

}  // namespace

std::optional<QrCode> QrCode::of(std::string_view text) {
  std::size_t number = 1;
  while (number <= std::size(versions) && text.size() * 8 + header_bits > versions[number - 1].data_bytes * 8) ++number;
  if (number > std::size(versions)) return std::nullopt;
  const Version& version = versions[number - 1];
  Matrix matrix(number);
  matrix.place(woven(data_of(text, version), version));
  unsigned best = 0;
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (unsigned mask = 0; mask < 8; ++mask) {
    matrix.mask(mask);
    if (const std::size_t penalty = matrix.penalty(); penalty < least) {
      least = penalty;
      best = mask;
    }
    matrix.mask(mask);
  }
  matrix.mask(best);
  return QrCode(matrix.size(), matrix.dark());
}

std::string render_qr_code(const QrCode& code, const Terminal& terminal, Stream stream) {
  constexpr std::size_t quiet = 4;
  const bool color = terminal.has_color(stream);
  const std::size_t whole = code.size() + 2 * quiet;
  // What is drawn is the dark in colour, else the light.
  const auto is_drawn = [&](std::size_t x, std::size_t y) {
    const bool inside = x >= quiet && y >= quiet && x - quiet < code.size() && y - quiet < code.size();
    return (inside && code.is_dark(x - quiet, y - quiet)) == color;
  };
  std::string text;
  for (std::size_t y = 0; y < whole; y += 2) {
    if (color) text += "\033[38;5;16;48;5;231m";
    for (std::size_t x = 0; x < whole; ++x) {
      const bool upper = is_drawn(x, y);
      const bool lower = y + 1 < whole ? is_drawn(x, y + 1) : !color;
      text += upper ? (lower ? "█" : "▀") : (lower ? "▄" : " ");
    }
    text += color ? "\033[0m\n" : "\n";
  }
  return text;
}

}  // namespace ws::cli
