/** Numbers that are larger than a JavaScript number can hold exactly. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { run } from "../core/cli/command-runner.ts";
import { temporaryDirectory } from "../support/directory.ts";
import { closeHookGateways, startHookGateway } from "./hook-room.ts";

afterAll(closeHookGateways);

const id = "1311768467294899695123";
const room = await startHookGateway({
  transforms: { "urgent.ts": "export default ({ payload }) => ({ name: 'Rounded ' + payload.order.id });\n" },
  hooks: {
    mappings: [
      {
        match: { path: "big", where: { "order.id": { matches: "^1311768467294899695123$" } } },
        sessionKey: "hook:order:{{ order.id }}",
        name: "Order {{ order.id }}",
        messageTemplate: "id {{ order.id }}, list {{ list }}, all {{ payload }}",
        deliver: false,
      },
      {
        match: { path: "big-or-small" },
        messageTemplate: "id {{ order.id }}, list {{ list }}, all {{ payload }}",
        deliver: false,
      },
      {
        match: { path: "each" },
        forEach: "orders",
        sessionKey: "hook:{{ orders[0].id }}",
        messageTemplate: "{{ payload }}",
        deliver: false,
      },
      {
        match: { path: "transformed" },
        transform: { module: "urgent.ts" },
        messageTemplate: "id {{ order.id }}",
        deliver: false,
      },
      {
        match: { path: "equal", where: { id: Number("9007199254740993") } },
        messageTemplate: "equal {{ id }}",
        deliver: false,
      },
    ],
  },
});
const command = (...args: readonly string[]) =>
  run([...args, "--config", room.host.configFile, "--state", room.stateDirectory], { home: temporaryDirectory() });
const body = `{"order":{"id":${id},"price":19.90},"list":[-9007199254740993,9007199254740991,1e3],"text":"${id}"}`;
const compact = body.replace("19.90", "19.9").replace("1e3", "1000");

test("large numbers keep their digits in templates, session keys, names, patterns and the whole payload", async () => {
  expect((await room.post("big", body)).status).toBe(202);
  const turn = await room.turn(({ sessionKey }) => sessionKey === `hook:order:${id}`);
  expect(turn.inbound.text).toContain(`id ${id}, list [-9007199254740993,9007199254740991,1000], all ${compact}`);
  expect(turn.inbound.sender.name).toBe(`Order ${id}`);
});

test.each([
  ["beyond the largest number", "1e400"],
  ["below zero", "-2.5E+999"],
  ["too small", "1e-400"],
  ["with many digits behind the point", "12345678901234567890.5"],
  ["with many digits around the point", "123456789012.123456789"],
  ["with a large exponent", "1e99999999999999999999"],
])("a number %s is written as received, by itself and in the whole payload", async (_, number) => {
  const sent = `{"order":{"id":${number}},"list":[${number},1.5]}`;
  const { status, json } = await room.post("big-or-small", sent);
  expect(status).toBe(202);
  await room.host.settled(String(json?.eventId));
  const turn = await room.turn(({ inbound }) => inbound.text.includes(`id ${number},`));
  expect(turn.inbound.text).toContain(`id ${number}, list [${number},1.5], all ${sent}`);
});

test("large numbers keep their digits in list elements and in a replayed delivery", async () => {
  const { json } = await room.post("each", `{"orders":[{"id":${id}},{"id":${id}0}]}`);
  expect((await room.turn(({ sessionKey }) => sessionKey === `hook:${id}`)).inbound.text).toContain(
    `{"orders":[{"id":${id}}]}`,
  );
  expect((await room.turn(({ sessionKey }) => sessionKey === `hook:${id}0`)).inbound.text).toContain(
    `{"orders":[{"id":${id}0}]}`,
  );
  const [, second = ""] = (json?.eventIds ?? []) as readonly string[];
  await room.host.settled(second);
  expect(await command("hooks", "replay", second, "--remap")).toMatchObject({ code: 0 });
  await expect.poll(() => room.turns.filter(({ sessionKey }) => sessionKey === `hook:${id}0`)).toHaveLength(2);
});

test("a transform gets large numbers rounded, and templates that it leaves alone still have all digits", async () => {
  const { json } = await room.post("transformed", body);
  await room.host.settled(String(json?.eventId));
  const turn = await room.turn(({ inbound }) => inbound.sender.name?.startsWith("Rounded") === true);
  expect(turn.inbound.sender.name).toBe(`Rounded ${String(Number(id))}`);
  expect(turn.inbound.text).toContain(`id ${id}`);
});

test("where conditions still match large numbers", async () => {
  expect((await room.post("equal", '{"id":9007199254740993}')).status).toBe(202);
  expect((await room.post("equal", '{"id":9007199254750000}')).status).toBe(404);
});

test("a dry run and a displayed delivery show large numbers with all digits", async () => {
  const file = join(temporaryDirectory(), "big.json");
  writeFileSync(file, body);
  const dry = await command("hooks", "test", "big", file);
  expect(dry).toMatchObject({ code: 0 });
  expect(dry.out).toContain(`hook:order:${id}`);
  const { json } = await room.post("big", body);
  await room.host.settled(String(json?.eventId));
  expect((await command("hooks", "show", String(json?.eventId))).out).toContain(`"id": ${id}`);
});
