/** The gateway's commands as slash commands of the bot. */
import type { ChannelAccount } from "service-gateway/sdk/channel";
import type { Api } from "./api.ts";

/** The platform's limits: names of lower case letters, and descriptions of a hundred characters. */
const name = /^[-_\p{Ll}\p{Lo}\p{N}]{1,32}$/u;
const mostCommands = 100;
const guild = 0;
const botDirect = 1;

export async function registerCommands(
  commands: ReturnType<ChannelAccount["commands"]>,
  { api, application }: { readonly api: Api; readonly application: string },
): Promise<void> {
  const body = commands
    .filter((command) => name.test(command.name))
    .slice(0, mostCommands)
    .map((command) => ({
      name: command.name,
      description: command.summary.trim().slice(0, 100) || command.name,
      type: 1,
      contexts: [guild, botDirect],
      options: [{ type: 3, name: "text", description: "What follows the command.", required: false }],
    }));
  await api.call("PUT", `/applications/${application}/commands`, { body });
}
