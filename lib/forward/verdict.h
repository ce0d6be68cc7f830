// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "codec/completion.h"
#include "forward/outcome.h"
#include "forward/upstream_url.h"
#include "http/client_connection.h"

namespace tinker::forward {

// What is to be done after one exchange with an upstream (server-contract.md §4.3).
enum class Next {
  deliver,     // the sample is there
  fail,        // final
  retry,       // the upstream was not reached, or answered 5xx: once more after a pause
  regenerate,  // the upstream broke the generation off: once more after a pause (cases.md U6)
  reconnect,   // the upstream closed an idle connection as the request was written: at once, on a new connection (U5)
};

struct Verdict {
  Next next = Next::fail;
  codec::Completion completion = {};  // of deliver and regenerate
  Failure failure = {};               // of all but deliver: what to say when it is not done
};

// Judges an answer:
//
//   2xx               decoded; what is no JSON, or no completion, is final and the server's fault (U9)
//   2xx with `abort`  regenerate
//   3xx               final, the server's: redirects are not followed
//   400, 413, 422     final, the user's: a parameter or prompt that vLLM or its router refuses; but the server's where the text
//   says
//                     that the model gave NaN (U7), or that our own request was not understood
//   other 4xx         final, the server's: 401, 403, 404 (a model that the upstream was not given, or a wrong base URL), 405,
//   408 and
//                     429 (overload) are for the operator to mend
//   5xx               retry, the server's
//
// A model that is unknown (404) counts as the server's even for a model of the user's own: tinkerd only forwards models that
// exist here, so the upstream has lost or not yet loaded it.
Verdict judge(const http::Answer& answer, const codec::CompletionWants& wants, const UpstreamUrl& url);

// Judges an exchange that broke: only what cannot have started a generation is tried again (design.md §5). `read` is the read
// time-out that held.
Verdict judge(const http::Broken& broken, const UpstreamUrl& url, base::Seconds read);

}  // namespace tinker::forward
