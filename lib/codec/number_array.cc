// SPDX-License-Identifier: Apache-2.0
#include "codec/number_array.h"
