# brew install --build-from-source ./packaging/homebrew/ws.rb   (Linux; from the tarball of the sources)
class Ws < Formula
  desc "Sync a folder of Markdown with a Workspace service, and call its whole API"
  homepage "https://example.com/ws"
  url "https://example.com/ws/ws-0.1.0.tar.gz"
  license "Apache-2.0"
  head "https://example.com/ws.git", branch: "main"

  depends_on "cmake" => :build
  depends_on "cli11" => :build
  depends_on "ninja" => :build
  depends_on "nlohmann-json" => :build
  depends_on "pkg-config" => :build
  depends_on "tl-expected" => :build
  depends_on "boost"
  depends_on "cmark-gfm"
  depends_on "curl"
  depends_on "fmt"
  depends_on "jemalloc"
  depends_on "jq"
  depends_on "libgit2"
  depends_on :linux
  depends_on "openssl@3"
  depends_on "qrencode"
  depends_on "sqlite"
  depends_on "utf8proc"
  depends_on "yaml-cpp"

  def install
    system "cmake", "-S", ".", "-B", "build", "-G", "Ninja", "-DWS_TESTS=OFF", *std_cmake_args
    system "cmake", "--build", "build"
    bin.install "build/bin/ws", "build/bin/ws-mock"
    generate_completions_from_executable(bin/"ws", "completion")
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/ws --version")
    system bin/"ws-mock", "exec", "--", bin/"ws", "whoami"
  end
end
