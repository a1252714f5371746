// A bare probe beside the mock: answers every request with the bytes of a file, by epoll on one thread, and looks at
// nothing but the empty line that ends a request without a body. Prints its port.
//
// usage: responder FILE
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <unordered_map>

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::ifstream file(argv[1], std::ios::binary);
  const std::string answer{std::istreambuf_iterator<char>(file), {}};
  const int listening = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(listening, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(listening, 128) != 0 ||
      ::getsockname(listening, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    return 1;
  std::printf("%d\n", ntohs(address.sin_port));
  std::fflush(stdout);
  const int poll = ::epoll_create1(0);
  epoll_event event{.events = EPOLLIN, .data = {.fd = listening}};
  ::epoll_ctl(poll, EPOLL_CTL_ADD, listening, &event);
  std::unordered_map<int, std::string> requests;
  epoll_event events[64];
  char buffer[16384];
  while (true) {
    const int count = ::epoll_wait(poll, events, 64, -1);
    for (int i = 0; i < count; ++i) {
      const int one = events[i].data.fd;
      if (one == listening) {
        const int made = ::accept4(listening, nullptr, nullptr, SOCK_NONBLOCK);
        const int on = 1;
        ::setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        epoll_event added{.events = EPOLLIN, .data = {.fd = made}};
        if (made >= 0) ::epoll_ctl(poll, EPOLL_CTL_ADD, made, &added);
        continue;
      }
      const ssize_t got = ::recv(one, buffer, sizeof buffer, 0);
      if (got <= 0) {
        ::close(one);
        requests.erase(one);
        continue;
      }
      std::string& request = requests[one];
      request.append(buffer, static_cast<std::size_t>(got));
      std::string out;
      for (std::size_t end; (end = request.find("\r\n\r\n")) != std::string::npos; request.erase(0, end + 4))
        out += answer;
      if (!out.empty() && ::send(one, out.data(), out.size(), MSG_NOSIGNAL) < 0) ::close(one);
    }
  }
}
