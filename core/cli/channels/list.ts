/** `channels list`: which channels there are, by what they declare. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { programCommand } from "../../contract/command.ts";
import { type ChannelDescription, describeChannel, wordsOf } from "../../reports/channel-list.ts";
import type { CommandContext } from "../context.ts";
import { wrapped } from "../output/wrap.ts";
import { readDeclarations, readyPlugins } from "../plugins/declarations.ts";

/** A channel in a package of its own, which is not installed with the gateway. */
interface Packaged extends ChannelDescription {
  readonly package: string;
}

export interface ListedChannel extends ChannelDescription {
  readonly state: "bundled" | "loaded" | "available";
  /** How many accounts the configuration has. */
  readonly accounts: number;
  readonly package?: string;
}

/** Written by the tests from the declarations of all channels; see `test/house/channels.test.ts`. */
const packagedFile = join(import.meta.dirname, "..", "..", "..", "plugins", "channels.json");

function packagedChannels(): readonly Packaged[] {
  if (!existsSync(packagedFile)) return [];
  return (JSON.parse(readFileSync(packagedFile, "utf8")) as { readonly channels: readonly Packaged[] }).channels;
}

export async function listChannels(
  context: CommandContext,
  _: readonly [],
  { json, available }: { readonly json?: boolean; readonly available?: boolean },
): Promise<number> {
  const loaded = await context.load();
  const declared = await readDeclarations(loaded, await context.stateDirectory(), context.terminal);
  const accountsOf = (id: string) => {
    const { accounts } = (loaded.config.channels[id] ?? {}) as { readonly accounts?: object };
    return loaded.config.channels[id] === undefined ? 0 : Math.max(1, Object.keys(accounts ?? {}).length);
  };
  const own = readyPlugins(declared).flatMap(({ channel, id }): readonly ListedChannel[] => {
    const state = declared.find((one) => one.id === id)?.bundled === true ? "bundled" : "loaded";
    return channel === undefined ? [] : [{ ...describeChannel(channel), state, accounts: accountsOf(channel.id) }];
  });
  const others = packagedChannels()
    .filter(({ id }) => !own.some((one) => one.id === id))
    .map((one): ListedChannel => ({ ...one, state: "available", accounts: accountsOf(one.id) }));
  const channels = available === true ? [...own, ...others] : own;
  if (json === true) context.terminal.json({ channels });
  else show(channels, context, { hidden: available === true ? 0 : others.length });
  return 0;
}

function show(
  channels: readonly ListedChannel[],
  { terminal }: CommandContext,
  { hidden }: { readonly hidden: number },
): void {
  const { style } = terminal;
  const columns = process.stdout.columns;
  for (const [index, channel] of channels.entries()) {
    const { can, whileAway, twice, needs, tried } = wordsOf(channel);
    if (index > 0) terminal.line();
    terminal.line(`${style("bold", channel.id)}  ${channel.name}  ${style("dim", stateOf(channel))}`);
    const rows = [
      ["can", can],
      ["written while away", whileAway],
      ["a send without an answer", twice],
      ["needs", needs],
      ["tried with", tried],
    ] as const;
    for (const [title, words] of rows)
      if (words !== "") terminal.line(wrapped(words, { columns, first: `  ${title.padEnd(26)}` }));
  }
  if (hidden === 0) return;
  terminal.line();
  terminal.line(style("dim", `\`${programCommand} channels list --available\` lists ${hidden} more.`));
}

function stateOf({ state, accounts, package: name }: ListedChannel): string {
  if (state === "available") return `\`${programCommand} plugins add ${name}\``;
  const how = accounts === 0 ? "not configured" : accounts === 1 ? "1 account" : `${accounts} accounts`;
  return `${state === "bundled" ? "included" : "loaded"}, ${how}`;
}
