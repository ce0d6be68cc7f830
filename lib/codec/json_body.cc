// SPDX-License-Identifier: Apache-2.0
#include "codec/json_body.h"
