// SPDX-License-Identifier: Apache-2.0
#include "tinkerctl/call_command.h"

#include <cstdio>
#include <utility>

#include "control/client.h"
#include "tinkerctl/exit_code.h"
#include "tinkerctl/offline.h"
#include "tinkerctl/show.h"

namespace tinker::ctl {
namespace {

namespace pb = google::protobuf;

std::string last_word(const std::string& command) { return command.substr(command.rfind(' ') + 1); }

std::string dashed(std::string name) {
  for (char& c : name) {
    if (c == '_') c = '-';
  }
  return name;
}

}  // namespace

CLI::App& group_of(CLI::App& parent, const std::string& command) {
  CLI::App* app = &parent;
  std::size_t at = 0;
  for (std::size_t space; (space = command.find(' ', at)) != std::string::npos; at = space + 1) {
    const std::string word = command.substr(at, space - at);
    const std::vector<CLI::App*> known =
        app->get_subcommands([&](const CLI::App* candidate) { return candidate->get_name() == word; });
    CLI::App* group = known.empty() ? nullptr : known.front();
    if (group == nullptr) {
      group = app->add_subcommand(word, "Commands about " + word + ".");
      group->require_subcommand(1);
    }
    app = group;
  }
  return *app;
}

CallCommand::CallCommand(CLI::App& parent, const control::CallRow& call)
    : call_(call), app_(group_of(parent, call.command).add_subcommand(last_word(call.command), call.help)) {
  const pb::Descriptor* request = call.method->input_type();
  for (int i = 0; i < request->field_count(); ++i) {
    Parameter& parameter = parameters_.emplace_back();
    parameter.field = request->field(i);
    const std::string& help = parameter.field->options().GetExtension(control::help);
    const bool is_text = parameter.field->cpp_type() == pb::FieldDescriptor::CPPTYPE_STRING;
    if (parameter.field->cpp_type() == pb::FieldDescriptor::CPPTYPE_BOOL) {
      parameter.option = app_->add_flag("--" + dashed(parameter.field->name()), parameter.flag, help);
    } else if (control::in_path(call, *parameter.field) || (call.http_method != "GET" && is_text)) {
      parameter.option = app_->add_option(parameter.field->name(), parameter.text, help)->required();
    } else {
      parameter.option = app_->add_option("--" + dashed(parameter.field->name()), parameter.text, help);
    }
  }
}

int CallCommand::run(const Common& common) const {
  const std::unique_ptr<pb::Message> request = control::new_message(*call_.method->input_type());
  for (const Parameter& parameter : parameters_) {
    if (parameter.option->count() == 0) continue;
    const bool is_flag = parameter.field->cpp_type() == pb::FieldDescriptor::CPPTYPE_BOOL;
    const auto set = control::set_field(*request, *parameter.field, is_flag ? "true" : parameter.text);
    if (!set) {
      std::fprintf(stderr, "tinkerctl: %s\n", set.error().text.c_str());
      return kUsage;
    }
  }
  auto reply = control::ask(common.socket, call_, *request, base::Seconds{common.timeout_sec});
  if (!reply && reply.error().code == base::Code::unavailable) {
    if (auto read = offline_reply(call_, *request, common.database_url)) reply = std::move(*read);
  }
  if (!reply) return complain(reply.error());
  add_own_version(**reply);
  print(**reply, common);
  return kOk;
}

void print(const pb::Message& reply, const Common& common) {
  const std::string text = common.json ? control::to_json(reply, true) : show(reply);
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (!text.empty() && text.back() != '\n') std::fputc('\n', stdout);
}

int complain(const base::Error& error) {
  std::fprintf(stderr, "tinkerctl: %s\n", error.text.c_str());
  return exit_code(error.code);
}

}  // namespace tinker::ctl
