/** `service slack manifest` and `service slack install`. */
import type { CliDefinition } from "service-gateway/sdk";
import { manifestOf } from "./manifest.ts";

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
    {
      name: "install",
      options: [
        { name: "client-id", value: "id", summary: "the Client ID of the app (Basic Information)", required: true },
        { name: "address", value: "address", summary: "the address that the browser showed after Allow" },
        { name: "api-url", value: "address", summary: "another host of the Web API (https://slack.com/api)" },
      ],
      summary: "Install an app in one more workspace, and store the token of its bot.",
      example: "install --client-id 4711.0815",
      prepares: true,
      run: async (call) => (await import("./install.ts")).install(call),
    },
  ],
};
