// Writes the texts that freeze a careless reader into FOLDER, a file each: the first inputs of every fuzz target.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/bounds/freezing_texts.hpp"

int main(int count, char** values) {
  if (count != 2) {
    std::fputs("usage: fuzz_seeds FOLDER\n", stderr);
    return 2;
  }
  const std::filesystem::path folder = values[1];
  std::filesystem::create_directories(folder);
  for (const ws::test::FreezingText& text : ws::test::freezing_texts()) {
    std::string name = text.name;
    for (char& c : name) c = c == ' ' ? '-' : c;
    std::ofstream(folder / name, std::ios::binary) << text.make(16'000);
  }
  return 0;
}
