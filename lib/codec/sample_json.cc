// SPDX-License-Identifier: Apache-2.0
#include "codec/sample_json.h"
