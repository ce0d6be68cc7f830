// SPDX-License-Identifier: Apache-2.0
#include "store/database_url.h"

#include <cctype>
#include <filesystem>
#include <system_error>

namespace tinker::store {
namespace {

using base::Code;
using base::fail;

constexpr std::string_view kForms = "; write sqlite:///relative/path or sqlite:////absolute/path";

bool percent_encoded(std::string_view path) {
  for (std::size_t at = path.find('%'); at != path.npos; at = path.find('%', at + 1))
    if (at + 2 < path.size() && std::isxdigit(static_cast<unsigned char>(path[at + 1])) &&
        std::isxdigit(static_cast<unsigned char>(path[at + 2])))
      return true;
  return false;
}

tl::unexpected<base::Error> refused(std::string_view why) {
  return fail(Code::invalid_argument, "--database-url: " + std::string(why) + std::string(kForms));
}

}  // namespace

base::Result<std::string> database_path(std::string_view url) {
  const std::size_t colon = url.find("://");
  if (colon == url.npos) return refused("it is not a URL");
  const std::string_view scheme = url.substr(0, colon);
  const std::string_view rest = url.substr(colon + 3);

  if (scheme.starts_with("postgres")) return refused("this build serves SQLite; PostgreSQL comes with a later release");
  if (scheme != "sqlite") return refused("the scheme '" + std::string(scheme.substr(0, 32)) + "' is not served");
  if (rest.find('?') != rest.npos) return refused("options after '?' are not served");
  if (percent_encoded(rest))
    return refused("percent-encoding is not decoded here, nor by the engine; write the path as it is, or rename the file");
  if (rest.empty() || rest == "/" || rest == "/:memory:")
    return refused("a database in memory cannot be shared with the engine and is lost at a restart");
  if (rest[0] != '/') return refused("an SQLite database has no host, so three slashes follow the scheme");

  std::error_code error;
  const std::filesystem::path path = std::filesystem::absolute(std::filesystem::path(rest.substr(1)), error);
  if (error) return refused("the working directory is not known (" + error.message() + ")");
  return path.lexically_normal().string();
}

}  // namespace tinker::store
