// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/routes.h"

// The handlers that the table of routes names, a file a resource.
namespace tinker::api {

// service.cc
void client_config(Api& api, Call call);
void dynamic_config(Api& api, Call call);
void healthz(Api& api, Call call);
void server_capabilities(Api& api, Call call);
void telemetry(Api& api, Call call);
void root(Api& api, Call call);

// sessions.cc
void create_session(Api& api, Call call);
void session_heartbeat(Api& api, Call call);
void finish_session(Api& api, Call call);
void create_sampling_session(Api& api, Call call);
void join_sampling_session(Api& api, Call call);
void get_sampler(Api& api, Call call);

// sampling.cc
void asample(Api& api, Call call);
void cancel_future(Api& api, Call call);

// retrieve.cc
void retrieve_future(Api& api, Call call);

// retrieve_futures.cc
void retrieve_futures(Api& api, Call call);

}  // namespace tinker::api
