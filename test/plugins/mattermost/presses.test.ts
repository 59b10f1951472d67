/** Presses of buttons: only the server that shows a button can report one, once, for the person who pressed. */
import { expect, test } from "vitest";
import { actionsOf, type Mattermost } from "../../support/mattermost/server.ts";
import { openHost } from "./host.ts";

/** The bot asks, and Ada sees two buttons. */
async function asked(options: Readonly<Record<string, unknown>> = {}) {
  const opened = await openHost(options, {
    async *answer({ inbound }) {
      yield { type: "text", delta: `heard: ${inbound.text}` };
      if (inbound.kind === "message")
        yield {
          type: "buttons",
          buttons: [
            [
              { text: "Yes", value: "yes" },
              { text: "No", value: "no" },
            ],
          ],
        };
      yield { type: "done" };
    },
  });
  const { server, host, until } = opened;
  const { ada, bot, room } = server;
  server.say(ada, room, "@breadbot bake?");
  await until(() => server.posts(room, bot).length === 1);
  const [post] = server.posts(room, bot);
  const [yes, no] = post === undefined ? [] : actionsOf(post);
  if (post === undefined || yes === undefined || no === undefined) throw new Error("There are no buttons");
  const path = new URL(yes.integration.url).pathname;
  const send = (body: object | string) =>
    host.fetch(path, { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body) });
  return { ...opened, post, yes, no, path, send };
}

const press = (server: Mattermost, ...[who, post, action]: Parameters<Mattermost["press"]>) =>
  server.press(who, post, action);

test("a press is a message of the person who pressed, and where a button leads is shown to nobody", async () => {
  const { server, post, yes, until } = await asked();
  await press(server, server.bela, post, yes);
  await until(() => server.posts(server.room, server.bot).length === 2);
  expect(server.posts(server.room, server.bot).at(-1)?.message).toBe("heard: callback_data: yes");
  expect(server.pressed).toEqual([{ status: 200, body: "{}" }]);
});

test("a request that the server did not make is refused, and nothing of it is stored", async () => {
  const { server, post, yes, no, send, playUntil, reasons } = await asked();
  const genuine = server.pressBody(server.ada, post, yes) as Readonly<Record<string, unknown>>;
  const { context } = yes.integration;
  const forged = [
    ...["", "{}", "[]", "null", "junk", '{"context":null}', '{"context":{"seal":7}}'],
    { ...genuine, context: { ...context, value: "no" } },
    { ...genuine, context: { ...context, seal: "A".repeat(43) } },
    { ...genuine, context: { ...context, seal: no.integration.context.seal } },
    { ...genuine, channel_id: server.chat.id },
    { ...genuine, context: { ...context, chat: server.ada.id } },
    { ...genuine, context: { ...context, thread: post.id } },
  ];
  for (const body of forged) expect((await send(body)).status).toBe(401);
  await playUntil(() => reasons().length > 0);
  expect(reasons()).toEqual(["answered"]);
});

test("a copied request is of no use for another person, later, or again", async () => {
  const { server, host, post, yes, send, until, playUntil, reasons } = await asked();
  const copied = server.pressBody(server.ada, post, yes) as Readonly<Record<string, unknown>>;
  const stolen = await send({ ...copied, user_id: server.bela.id });
  expect(stolen.status).toBe(401);
  const late = await send(server.pressBody(server.ada, post, yes, Date.now() - 2 * 3_600_000));
  expect([late.status, await late.json()]).toEqual([200, expect.objectContaining({ skip_slack_parsing: true })]);
  await playUntil(() => reasons().includes("press_unsigned") && reasons().includes("press_late"));
  for (let again = 0; again < 3; again += 1) expect((await send(copied)).status).toBe(200);
  await until(() => server.posts(server.room, server.bot).length === 2);
  await host.advance(5_000);
  expect(server.posts(server.room, server.bot)).toHaveLength(2);
  const unsigned = host.ended().find(({ reason }) => reason === "press_unsigned");
  expect(unsigned?.outcome).toBe("silent");
});

test("a person who may not press reads so alone, and the others see nothing", async () => {
  const { server, host, post, yes } = await asked();
  const { ada, bela, bot, room } = server;
  await host.configure({ channels: { mattermost: { groupPolicy: "allowlist", groupAllowFrom: [ada.id] } } });
  await press(server, bela, post, yes);
  expect(server.ephemeral.map(({ user }) => user)).toEqual([bela.id]);
  expect(server.posts(room, bot)).toHaveLength(1);
});
