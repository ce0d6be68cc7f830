// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"

namespace tinker::store {

// The forms in which the peer keeps values as text in SQLite (server-contract.md §2.3).

// `YYYY-MM-DD HH:MM:SS.ffffff`, UTC, always 6 digits: the engine compares these as text.
std::string datetime_text(base::Wall time);
// What datetime_text() writes; nullopt for any other form.
std::optional<base::Wall> parse_datetime(std::string_view text);

// JSON as Python's json.dumps writes it: `, ` and `: ` between the parts, ASCII only, lower-case \u escapes. Numbers and
// escapes stay as they are. `json` is valid JSON. Errors (invalid_argument): text that is not UTF-8, a string without end.
base::Result<std::string> json_text(std::string_view json);

}  // namespace tinker::store
