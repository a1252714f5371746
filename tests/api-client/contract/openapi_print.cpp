// Prints the OpenAPI document, for linters that read files.
#include <iostream>

#include <nlohmann/json.hpp>

#include "api-client/contract/openapi.hpp"

int main() { std::cout << ws::dump(ws::contract::openapi(""), 2) << '\n'; }
