/** `service slack manifest`: what makes the app, to paste into Slack's form. */
import type { CliDefinition, Json } from "service-gateway/sdk";
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
    oauth_config: { scopes: { bot: Object.keys(scopes) } },
    settings: {
      event_subscriptions: { ...address, bot_events: [...events] },
      interactivity: { is_enabled: true, ...address },
      org_deploy_enabled: false,
      socket_mode_enabled: url === undefined,
      token_rotation_enabled: false,
    },
  };
}

export const slackCommands: CliDefinition = {
  name: "slack",
  summary: "Set up a Slack app.",
  commands: [
    {
      name: "manifest",
      options: [
        { name: "name", value: "name", summary: "the app's name (Gateway)" },
        { name: "command", value: "command", summary: "the slash command (/ask)" },
        { name: "url", value: "address", summary: "the public address of the account, without Socket Mode" },
      ],
      summary: "Print the manifest of a Slack app, to paste at https://api.slack.com/apps > Create New App.",
      example: "manifest --name Helper",
      prepares: true,
      run({ options }) {
        const { name, command, url } = options as Readonly<Record<string, string | undefined>>;
        if (command !== undefined && !/^\/[a-z0-9_-]{1,32}$/.test(command))
          return { lines: [`${command} is not a slash command. Use one such as /ask.`], data: null, failed: "usage" };
        if (url !== undefined && !/^https:\/\/\S+$/.test(url))
          return {
            lines: [`${url} is not a public address. Slack posts to https alone.`],
            data: null,
            failed: "usage",
          };
        const manifest = manifestOf({
          name: name ?? "Gateway",
          command: command ?? "/ask",
          ...(url !== undefined && { url }),
        });
        return { lines: JSON.stringify(manifest, undefined, 2).split("\n"), data: manifest };
      },
    },
  ],
};
