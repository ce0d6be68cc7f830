// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tinker::base {

// One visitor out of several lambdas, for std::visit.
template <class... Fs>
struct overloaded : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
overloaded(Fs...) -> overloaded<Fs...>;

}  // namespace tinker::base
