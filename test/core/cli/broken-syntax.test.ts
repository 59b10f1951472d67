/**
 * `config validate` on files whose syntax is broken: the fault is reported, and what can be read of the rest is
 * checked.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryHome } from "./command.ts";
import { run } from "./command-runner.ts";

interface Validated {
  readonly ok: boolean;
  readonly problems: readonly {
    readonly severity: string;
    readonly path: string;
    readonly message: string;
    readonly line?: number;
  }[];
}

async function validate(text: string): Promise<readonly string[]> {
  const home = temporaryHome();
  const file = join(home, "config.jsonc");
  writeFileSync(file, text);
  const { code, out } = await run(["config", "validate", "--json", "--config", file], { home });
  const { ok, problems } = JSON.parse(out) as Validated;
  expect({ code, ok }).toEqual({ code: 1, ok: false });
  return problems.map(({ severity, path, message, line }) => `${line} ${severity} ${path}: ${message}`);
}

const comma = "error : a comma is missing before this";

test("a missing comma does not hide other problems in values, cross-field rules or plugins", async () => {
  const broken = `{
  "gateway": { "port": "often" "prot": 1 },
  "hooks": { "enabled": true },
  "agents": { "list": [{ "id": "main" }] },
  "channels": { "botchat": { "botToken": "1:abc" "streamMode": "sometimes" }, "smoke": {} }
}`;
  const home = temporaryHome();
  const whole = join(home, "whole.jsonc");
  writeFileSync(whole, broken.replaceAll(/(" ?)(?= "(?:prot|streamMode)")/g, "$1,"));
  const { out } = await run(["config", "validate", "--json", "--config", whole], { home });
  const mended = (JSON.parse(out) as Validated).problems.map(
    ({ severity, path, message, line }) => `${line} ${severity} ${path}: ${message}`,
  );
  expect(mended.length).toBeGreaterThanOrEqual(5);
  const found = await validate(broken);
  expect(found.filter((line) => line.includes(comma))).toEqual([`2 ${comma}`, `5 ${comma}`]);
  expect(found.filter((line) => !line.includes(comma))).toEqual(mended);
});

test.each([
  [
    "a value that is missing",
    `{\n "hooks": { "enabled": true, "token": },\n "gateway": { "port": "often" }\n}`,
    ["2 error : a value is missing here", "3 error gateway.port: "],
  ],
  [
    "a value without quotes",
    `{\n "agents": { "list": [{ "id": helper }] },\n "bindings": [{ "agentId": "helper", "match": { ` +
      `"channel": "botchat" } }],\n "gateway": { "port": "often" }\n}`,
    ["2 error : this is not a value", "4 error gateway.port: "],
  ],
  [
    "a key without quotes",
    `{\n "hooks": { enabled: true, "maxBodyBytes": "big" },\n "gateway": { "port": "often" }\n}`,
    ["2 error : ", "2 error hooks.maxBodyBytes: ", "3 error gateway.port: "],
  ],
  [
    "a text that is not closed",
    `{\n "gateway": { "host": "127.0.0.1,\n "port": "often" }\n}`,
    ["2 error : a text is not closed", "3 error gateway.port: "],
  ],
  [
    "a wrong escape",
    `{\n "hooks": { "enabled": true, "token": "a\\qb" },\n "gateway": { "port": "often" }\n}`,
    ["2 error : after a backslash", "3 error gateway.port: "],
  ],
  [
    "a brace that is missing",
    `{\n "log": { "level": "loud" },\n "gateway": { "port": "often",\n "hooks": { "enabled": true },\n ` +
      `"agents": { "defaults": { "engine": 7 } }\n}`,
    ["2 error log.level: ", "6 error : a closing brace } is missing"],
  ],
  [
    "a bracket of the wrong kind",
    `{\n "log": { "level": "loud" },\n "bindings": [{ "agentId": "main" },\n "gateway": { "port": "often" }\n}`,
    ["2 error log.level: ", "4 error : ", "5 error : a closing bracket ] is missing"],
  ],
  [
    "a brace too many",
    `{\n "log": { "level": "loud" },\n "gateway": {} },\n "hooks": { "enabled": true }\n}`,
    ["2 error log.level: ", "3 error : the file should end here"],
  ],
])(
  "%s is reported together with problems in the intact parts but without follow-up errors",
  async (_, text, wanted) => {
    const found = await validate(text);
    expect(found).toEqual(wanted.map((start) => expect.stringContaining(start)));
  },
);

test("a file that cannot be parsed at all yields exactly one problem", async () => {
  expect(await validate("[]")).toEqual(["1 error : the file must contain one object in braces"]);
  expect(await validate(`{ "a": ${"[".repeat(100)}`)).toEqual([expect.stringContaining("nested more than 64 levels")]);
});
