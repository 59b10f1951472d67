/** People in rooms of a homeserver, and a whole gateway. */
import { expect, test } from "vitest";
import { open, openPlace } from "./room.ts";

test("an invitation to a direct chat is followed, and what was written before is answered", async () => {
  const { server, invite, ada, bot, sees, start } = await openPlace();
  const room = invite({ isDirect: true });
  ada.say(room, "Hello?");
  await start();
  await sees(room, ["heard: Hello?"]);
  ada.say(room, "**Bread** <b>&");
  await sees(room, ["heard: Hello?", "heard: Bread <b>&"]);
  const content = room.events.findLast(({ sender, type }) => sender === bot && type === "m.room.message")?.content;
  expect(content).toMatchObject({
    msgtype: "m.text",
    formatted_body: "heard: <strong>Bread</strong> &lt;b&gt;&amp;",
    "m.mentions": {},
  });
  await expect
    .poll(() => server.receipts.map(({ event }) => event))
    .toContain(room.events.findLast(({ sender }) => sender === ada.id)?.event_id);
  expect(server.tokensInQueries()).toBe(0);
});

test("a stranger's invitation leads to a code, and one that the rules do not admit waits", async () => {
  const { server, invite, ada, bot, texts, start } = await openPlace();
  const [direct, group] = [invite({ isDirect: true }), invite({ name: "Bakery" })];
  const host = await start({});
  ada.say(direct, "Hello?");
  await expect.poll(() => texts(direct).join()).toContain("Pairing code:");
  expect(server.world.membershipOf(group, bot)).toBe("invite");
  await host.configure({
    channels: { matrix: { groups: { [group.id]: { requireMention: false, groupPolicy: "open" } } } },
  });
  // The next answer of the homeserver comes with the next message.
  ada.say(direct, "Anything new?");
  await expect.poll(() => server.world.membershipOf(group, bot)).toBe("join");
  ada.say(group, "Bread?");
  await expect.poll(() => texts(group)).toEqual(["heard: Bread?"]);
});

test("in a group the bot answers a mention only, refers to it, and notifies its writer", async () => {
  const { server, room, ada, bot, sees, start } = await openPlace();
  const group = room({ name: "Bakery" });
  await start();
  ada.say(group, "nobody in particular");
  const asked = ada.say(group, "Breadbot: what is bread?", { "m.mentions": { user_ids: [bot] } });
  await sees(group, ["heard: what is bread?"]);
  expect(group.events.findLast(({ type }) => type === "m.room.message")?.content).toMatchObject({
    "m.relates_to": { "m.in_reply_to": { event_id: asked.event_id } },
    "m.mentions": { user_ids: [ada.id] },
  });
  expect(server.calls.filter(({ path }) => path.includes("/send/m.room.message/"))).toHaveLength(1);
});

test("a named room of two is a group, one that is listed is not, and an answer follows its writer", async () => {
  const { server, room, ada, bot, sees, start } = await openPlace();
  const named = room({ name: "Bakery" });
  const listed = room({ name: "Ada and Breadbot" });
  const user = server.world.users.get(bot);
  if (user !== undefined) server.world.setAccountData(user, "m.direct", { [ada.id]: [listed.id] });
  await start({ ...open, groupPolicy: "disabled" });
  ada.say(named, "Breadbot: hello");
  ada.say(listed, "hello");
  await sees(listed, ["heard: hello"]);
  await sees(named, []);
  const other = room({ isDirect: true });
  ada.say(other, "over here");
  await sees(other, ["heard: over here"]);
});

test("an encrypted room gets one sentence, is never written to in clear, and keeps nobody else waiting", async () => {
  const { server, room, ada, bot, texts, start } = await openPlace();
  const secret = room({ isDirect: true, encrypted: true });
  const host = await start();
  const cipher = { algorithm: "m.megolm.v1.aes-sha2", ciphertext: "AwgAEnA" };
  for (let count = 0; count < 2; count += 1)
    server.world.append(secret, { type: "m.room.encrypted", sender: ada.id, content: cipher });
  await expect.poll(() => texts(secret)).toEqual([expect.stringContaining("cannot read encrypted messages")]);
  server.world.append(secret, { type: "m.room.encrypted", sender: ada.id, content: cipher });
  ada.say(secret, "and now in clear");
  await expect.poll(() => server.receipts.length).toBeGreaterThan(0);
  await host.advance(10_000);
  expect(texts(secret)).toHaveLength(1);
  expect(secret.events.some(({ sender, content }) => sender === bot && JSON.stringify(content).includes("heard"))).toBe(
    false,
  );
});

test("a reaction of a person is read with the next message, and a deleted message is not answered", async () => {
  const { server, room, ada, sees, start } = await openPlace();
  const chat = room({ isDirect: true });
  const heard: string[] = [];
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await start(open, {
    async answer({ inbound }) {
      heard.push(inbound.text);
      if (inbound.text.includes("slow")) await released;
      return `heard: ${inbound.text}`;
    },
  });
  ada.say(chat, "one");
  await sees(chat, ["heard: one"]);
  const answer = chat.events.findLast(({ type }) => type === "m.room.message");
  ada.react(chat, answer?.event_id ?? "", "👍");
  ada.say(chat, "slow");
  await expect.poll(() => heard.length).toBe(2);
  const secret = ada.say(chat, "the secret is 1234");
  server.world.redact(chat, ada.id, secret.event_id);
  ada.say(chat, "three");
  await expect.poll(() => server.receipts.length).toBeGreaterThan(2);
  release();
  await sees(chat, ["heard: one", "heard: slow", "heard: three"]);
  expect(heard.join()).not.toContain("1234");
});
