/** What a gateway may send that is no payload: none of it ends the account, and the next message arrives. */
import { aroundEach, test } from "vitest";
import { feedJunk, junkTexts } from "../../support/junk.ts";
import { expect, inOwnTest } from "../../support/own-test.ts";
import { openRoom } from "./room.ts";

aroundEach(inOwnTest);

test("junk of the gateway, and events whose fields are of other types, are ignored", async () => {
  const { server, heard, until, state } = await openRoom();
  const { world, sessions } = server;
  let count = 0;
  const works = async () => {
    count += 1;
    const words = `message ${count}`;
    server.say(world.ada, world.general, words);
    await until(() => heard.includes(words), words);
    expect(sessions.counts).toMatchObject({ identified: 1, resumed: 0 });
  };
  await feedJunk({ send: (value) => sessions.send(value), works });
  for (const text of junkTexts) sessions.sendText(text);
  await works();
  const types = ["MESSAGE_CREATE", "MESSAGE_UPDATE", "MESSAGE_DELETE", "MESSAGE_DELETE_BULK", "INTERACTION_CREATE"];
  const places = ["GUILD_CREATE", "GUILD_DELETE", "THREAD_LIST_SYNC", "CHANNEL_CREATE", "MESSAGE_REACTION_ADD"];
  for (const type of [...types, ...places])
    for (const d of [
      {},
      { id: 5, author: "x", channel_id: null, guild_id: [], ids: [null, {}] },
      { id: "1", channels: [7, null, { id: {} }] },
    ])
      sessions.dispatch(type, d, { intent: 0 });
  await works();
  expect(await state()).toMatchObject({ state: "connected" });
}, 60_000);
