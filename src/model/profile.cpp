#include "profile.hpp"

#include <ostream>

#include "../core/error.hpp"
#include "../core/text.hpp"

namespace mock_gateway {

std::string to_string(Profile profile) {
  switch (profile) {
    case Profile::documented: return "documented";
    case Profile::openai: return "openai";
    case Profile::dashscope: return "dashscope";
    case Profile::deepseek: return "deepseek";
  }
  return "unknown";
}

std::ostream& operator<<(std::ostream& out, Profile profile) { return out << to_string(profile); }

Profile profile_named(std::string_view name) {
  for (const Profile profile : {Profile::documented, Profile::openai, Profile::dashscope, Profile::deepseek}) {
    if (to_string(profile) == name) return profile;
  }
  throw GatewayError("no profile is named \"" + detail::text::excerpt(name, 40) +
                     "\"; use documented, openai, dashscope or deepseek");
}

}  // namespace mock_gateway
