/** `plugins check` fails on whatever a plugin declares without an effect. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryHome } from "./command.ts";
import { run } from "./command-runner.ts";

async function findings(
  members: string,
  setup = "setup() {}",
): Promise<readonly { readonly rule: string; readonly message: string }[]> {
  const home = temporaryHome();
  const folder = join(home, "guest");
  mkdirSync(folder);
  const text = `import { definePlugin, secretReference, Type } from "service-gateway/sdk";
const map = Type.Object({ days: Type.Integer({ default: 3, description: "Days." }) }, { default: {}, description: "A section." });
const empty = [{ messageTemplate: "x" }];
export default definePlugin({ id: "guest", version: "1.2.0", host: "^0.2.0", ${members}
  ${setup} } as never);\n`;
  writeFileSync(join(folder, "index.ts"), text);
  const { out, code } = await run(["plugins", "check", folder, "--json"], { home });
  const found = (
    JSON.parse(out) as {
      readonly findings: readonly { readonly rule: string; readonly message: string; readonly severity: string }[];
    }
  ).findings;
  expect(code).toBe(found.some(({ severity }) => severity === "error") ? 1 : 0);
  return found.map(({ rule, message }) => ({ rule, message }));
}

const one = (rule: string, message: string) => [{ rule, message: expect.stringContaining(message) }];

test("a section that the plugin reads passes", async () => {
  expect(await findings(`section: { key: "guests", schema: map },`, `setup(host) { host.section("guests"); }`)).toEqual(
    [],
  );
});

test.each([
  [
    "a section that is not read",
    `section: { key: "guests", schema: map },`,
    "section-unread",
    "does not read its section guests",
  ],
  [
    "settings of a preset that are not read",
    `presets: [{ id: "guest", path: "guest", mappings: empty, settings: map }],`,
    "section-unread",
    "does not read its settings in hooks.guest",
  ],
  [
    "a member that the contract does not have",
    "sections: [],",
    "member-unknown",
    "The declaration has a member sections",
  ],
  [
    "one in a preset",
    `presets: [{ id: "guest", path: "guest", mappings: empty, schema: map }],`,
    "member-unknown",
    "The preset guest has a member schema",
  ],
  [
    "one in a command",
    `cli: { name: "guest", summary: "G.", commands: [{ name: "a", summary: "A.", example: "a", hidden: ` +
      "true, run: () => ({ lines: [], data: null }) }] },",
    "member-unknown",
    "The command a has a member hidden",
  ],
  ["options that setup does not take", "options: map,", "member-dead", "setup does not take the options"],
  ["empty options", "options: Type.Object({}),", "member-dead", "options is empty"],
  ["an empty list", "requires: [],", "member-dead", "requires is empty"],
  [
    "a group without commands",
    `cli: { name: "guest", summary: "G.", groups: { box: "Boxes." }, commands: [{ name: "a", summary: "A.", ` +
      `example: "a", run: () => ({ lines: [], data: null }) }] },`,
    "member-dead",
    "No command begins with box",
  ],
  [
    "a key of the gateway",
    `section: { key: "gateway", schema: map },`,
    "declaration-invalid",
    "gateway, which is one of the gateway's own",
  ],
  [
    "a section without a schema",
    `section: { key: "guests" },`,
    "declaration-invalid",
    "its section guests has no TypeBox schema",
  ],
])("%s fails", async (_, members, rule, message) => {
  expect(await findings(members)).toEqual(one(rule, message));
});

test("a section has its members checked, its keys described, and its secrets declared", async () => {
  const schema =
    `Type.Object({ token: Type.String({ description: "T." }), plain: Type.Boolean(), key: ` +
    `Type.Optional(secretReference({ description: "K." })) })`;
  const found = await findings(
    `section: { key: "guests", schema: ${schema}, title: "x" },`,
    `setup(host) { host.section("guests"); }`,
  );
  expect(found).toEqual([
    ...one("option-description", "guests.plain has no description"),
    ...one("option-secret", "guests.token looks like a secret"),
    ...one("member-unknown", "section has a member title"),
  ]);
});

test("what a channel says of options that it does not have fails", async () => {
  const channel = `channel: { id: "guest", version: "1.0.0", host: "^0.2.0", options: Type.Object({ a: Type.Optional(Type.String({ description: "A." })) }),
    secrets: ["tokn"], capabilities: { maxChars: 9, colours: true }, open: () => ({}) },`;
  const found = await findings(channel);
  expect(found).toEqual(
    expect.arrayContaining([
      ...one("member-unknown", "capabilities has a member colours"),
      ...one("member-dead", "secrets names tokn, which is not an option"),
    ]),
  );
});
