/** What makes the app, to paste into Slack's form. */
import type { Json } from "service-gateway/sdk";
import { redirectUrl } from "./install.ts";
import { events, scopes } from "./scopes.ts";

/** https://docs.slack.dev/reference/app-manifest */
export function manifestOf({
  name,
  command,
  url,
}: {
  readonly name: string;
  readonly command: string;
  /** The address of the account on the gateway's port; absent: Socket Mode. */
  readonly url?: string;
}): Json {
  const address: Readonly<Record<string, string>> = url === undefined ? {} : { request_url: url };
  return {
    display_information: { name },
    features: {
      app_home: { home_tab_enabled: false, messages_tab_enabled: true, messages_tab_read_only_enabled: false },
      bot_user: { display_name: name, always_online: true },
      slash_commands: [
        {
          command,
          description: "Ask the agent",
          usage_hint: "your question",
          should_escape: true,
          ...(url === undefined ? {} : { url }),
        },
      ],
    },
    oauth_config: { redirect_urls: [redirectUrl], scopes: { bot: Object.keys(scopes) } },
    settings: {
      event_subscriptions: { ...address, bot_events: [...events] },
      interactivity: { is_enabled: true, ...address },
      org_deploy_enabled: false,
      socket_mode_enabled: url === undefined,
      token_rotation_enabled: false,
    },
  };
}
