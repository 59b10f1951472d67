/** The list of channels is made from what they declare, those in packages of their own included. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { describeChannel, wordsOf } from "../../core/reports/channel-list.ts";
import type { PluginDefinition } from "../../core/sdk/contract.ts";
import { root } from "./sources.ts";

interface Found {
  readonly folder: string;
  readonly channel: NonNullable<PluginDefinition["channel"]>;
  /** The npm package, if it is one of its own. */
  readonly package?: string;
}

async function channels(): Promise<readonly Found[]> {
  const files = globSync("plugins/*/index.ts", { cwd: root }).sort();
  const found = await Promise.all(
    files.map(async (file): Promise<readonly Found[]> => {
      const { default: plugin } = (await import(join(root, file))) as { readonly default: PluginDefinition };
      if (plugin.channel === undefined) return [];
      const manifest = join(root, dirname(file), "package.json");
      const name = existsSync(manifest) ? JSON.parse(readFileSync(manifest, "utf8")).name : undefined;
      return [{ folder: dirname(file), channel: plugin.channel, ...(name !== undefined && { package: name }) }];
    }),
  );
  return found.flat();
}

const cell = (text: string) => text.replaceAll("|", "\\|");

test("plugins/channels.json lists the packages; update it with `vitest run test/house -u`", async () => {
  const packaged = (await channels()).flatMap(({ channel, package: name }) =>
    name === undefined ? [] : [{ package: name, ...describeChannel(channel) }],
  );
  const text = `${JSON.stringify({ channels: packaged }, undefined, 2)}\n`;
  await expect(text).toMatchFileSnapshot(join(root, "plugins", "channels.json"));
});

test("examples/reference/channels.md is up to date; update it with `vitest run test/house -u`", async () => {
  const all = (await channels()).map((one) => ({
    ...one,
    ...describeChannel(one.channel),
    ...wordsOf(describeChannel(one.channel)),
  }));
  const rows = (columns: readonly ((one: (typeof all)[number]) => string)[]) =>
    all.map((one) => `| ${columns.map((column) => cell(column(one)) || "not stated").join(" | ")} |`);
  const page = [
    "# Channels",
    "",
    "What each channel can do, what it needs, and how it was tried, as the channels declare it.",
    "`service channels list --available` prints the same for your installation, with channels of others.",
    "",
    "| channel | platform | how to get it | needs |",
    "|---|---|---|---|",
    ...rows([
      ({ id, folder }) => `[${id}](../../${folder}/README.md)`,
      ({ name }) => name,
      ({ package: name }) => (name === undefined ? "included" : `\`service plugins add ${name}\``),
      ({ needs }) => needs,
    ]),
    "",
    "| channel | can | what people write while the gateway is down | a send whose answer is lost |",
    "|---|---|---|---|",
    ...rows([({ id }) => id, ({ can }) => can, ({ whileAway }) => whileAway, ({ twice }) => twice]),
    "",
    "| channel | tried with |",
    "|---|---|",
    ...rows([({ id }) => id, ({ tried }) => tried]),
    "",
  ].join("\n");
  await expect(page).toMatchFileSnapshot(join(root, "examples", "reference", "channels.md"));
});

test("every channel here says what it needs and how it was tried", async () => {
  const missing = (await channels()).filter(({ channel }) => channel.listing === undefined).map(({ folder }) => folder);
  expect(missing).toEqual([]);
});
