/** Senders put secrets into addresses, headers and bodies. None of them is stored, shown, or read by the agent. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { run } from "../core/cli/command-runner.ts";
import { closeHookGateways, type HookGateway, hookToken, startHookGateway } from "./hook-room.ts";

afterAll(closeHookGateways);

const apiKey = 'SeCrEt-key/with "quotes"-1';
const digits = "904417735502";
const short = "dev";

const mapping = (id: string, more: object) => ({ id, match: { path: id }, action: "agent", ...more });

const room = await startHookGateway({
  config: {
    models: {
      providers: {
        one: { api: "openai", apiKey, headers: { "x-short": short } },
        two: { api: "openai", apiKey: digits },
      },
    },
  },
  hooks: {
    mappings: [
      mapping("said", {
        messageTemplate: "deploy to dev: {{payload.note}} key={{headers.x-api-key}} {{query.access_token}}",
      }),
      mapping("matched", { match: { path: "matched", headers: { "x-api-key": apiKey } }, messageTemplate: "matched" }),
      mapping("thrown", { messageTemplate: "x", transform: { module: "throws.mjs" } }),
      mapping("listed", { forEach: "items", messageTemplate: "item {{payload.items[0].n}}" }),
    ],
  },
  transforms: { "throws.mjs": "export default ({ payload }) => { throw new Error('cannot use ' + payload.key); };" },
});

/** Everything that lies in the state directory, but for the file that is made to hold a token. */
function stored(): string {
  const state = room.stateDirectory;
  return readdirSync(state, { recursive: true, encoding: "utf8" })
    .filter((name) => name !== "gateway-token" && statSync(join(state, name)).isFile())
    .map((name) => readFileSync(join(state, name), "latin1"))
    .join("\n");
}

/** As .NET writes signs in JSON. */
const escapedSigns = (text: string) =>
  text.replace(/["/-]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`);

const forms = [hookToken, apiKey, digits].flatMap((secret) => [
  secret,
  encodeURIComponent(secret),
  JSON.stringify(secret).slice(1, -1),
  JSON.stringify(secret).slice(1, -1).replaceAll("/", "\\/"),
  escapedSigns(secret),
]);
const leaked = (text: string) => forms.filter((form) => text.includes(form));
const command = async (...args: string[]) => {
  const { out, err } = await run([...args, "--config", room.host.configFile], { home: room.directory });
  return out + err;
};
const eventIdOf = (answer: Awaited<ReturnType<HookGateway["post"]>>) =>
  (JSON.parse(answer.body.toString()) as { readonly eventId: string }).eventId;

/** As PHP writes it. */
const escapedSlashes = (value: object) => JSON.stringify(value).replaceAll("/", "\\/");

test("a secret in the query, a header, a field, a number or a name is not stored, and no event is lost", async () => {
  const key = ["x-api-key", apiKey] as const;
  const query = `access_token=${encodeURIComponent(apiKey)}&other=${hookToken}`;
  const said = await room.post(
    `said?${query}`,
    { note: `use ${apiKey} on dev`, n: Number(digits), big: 1, [hookToken]: [digits] },
    [key],
  );
  expect(said.status).toBe(202);
  const turn = await room.turn(({ inbound }) => inbound.text.includes("deploy to"));
  expect(turn.inbound.text).toContain("deploy to dev: use [secret] on dev key=[secret] [secret]");
  await room.host.settled(eventIdOf(said));

  expect((await room.post("said", escapedSlashes({ note: "again", field: apiKey }), [key])).status).toBe(202);
  const signs = await room.post("said", `{"note":"signs","field":"${escapedSigns(apiKey)}"}`, [key]);
  expect(signs.status).toBe(202);
  // A mapping still sees what came: a rule that names the value matches.
  expect((await room.post("matched", { a: 1 }, [key])).status).toBe(202);
  expect((await room.post("thrown", { key: apiKey })).status).toBe(500);
  expect(
    (
      await room.post("listed", {
        items: [
          { n: 1, k: apiKey },
          { n: 2, k: Number(digits) },
        ],
      })
    ).status,
  ).toBe(202);
  expect((await room.post("wake", { text: `the key is ${apiKey}`, mode: "now" })).status).toBe(200);
  expect((await room.post("agent", { message: `the key is ${hookToken}`, name: "Key", deliver: false })).status).toBe(
    202,
  );
  await room.turn(({ inbound }) => inbound.text.includes("the key is [secret]"));
  expect((await room.post(`nowhere/${hookToken}`, {})).status).toBe(404);

  // What is kept is JSON still, so it goes through its mapping again.
  const shown = await command("hooks", "show", eventIdOf(said));
  expect(shown).toContain("[secret]");
  expect(shown).toContain("access_token");
  const again = JSON.parse(await command("hooks", "replay", eventIdOf(said), "--remap", "--json")) as object;
  expect(again).toMatchObject({ eventIds: [expect.any(String)] });

  expect(
    leaked(
      (await command("why", eventIdOf(said))) + (await command("hooks", "list")) + (await command("logs")) + shown,
    ),
  ).toEqual([]);
  expect(leaked(await command("hooks", "show", eventIdOf(signs)))).toEqual([]);
  for (const turn of room.turns) expect(leaked(JSON.stringify(turn.inbound))).toEqual([]);
  await room.host.close();
  expect(leaked(stored())).toEqual([]);
});
