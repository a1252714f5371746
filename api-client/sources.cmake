# The transport, the retries, the client, login.
set(WS_API_CLIENT_SOURCES
  answer_reader.cpp
  client.cpp
  client_conclusions.cpp
  client_pages.cpp
  device_login.cpp
  http/curl.cpp
  http/curl_exchange.cpp
  http/curl_library.cpp
  http/retry.cpp
  http/transport.cpp
  redactor.cpp
  request_builder.cpp
  transfer/download.cpp
  transfer/file_source.cpp
  transfer/partial_file.cpp
  transfer/upload.cpp)
