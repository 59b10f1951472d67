/** Where the homeserver is, and where the access token may go. */
import { createTestHost } from "service-gateway/testkit";
import { expect, onTestFinished, test } from "vitest";
import matrix from "../../../plugins/matrix/index.ts";
import { parse } from "../../../plugins/matrix/message.ts";
import { hostileFamilies } from "../../support/hostile-texts.ts";
import { startHomeserver } from "../../support/matrix/homeserver.ts";
import { token } from "./platforms.ts";
import { open, openPlace } from "./room.ts";

async function stateOf(homeserver: string) {
  const host = await createTestHost({
    plugins: [matrix],
    config: { channels: { matrix: { ...open, homeserver, accessToken: token } } },
    allowErrors: [/./],
  });
  onTestFinished(() => host.close());
  return async () => (await host.accounts()).find(({ channel }) => channel === "matrix");
}

test("a server name leads to its homeserver, and the token goes only there", async () => {
  const { server } = await openPlace();
  const front = await startHomeserver();
  onTestFinished(() => front.close());
  front.wellKnown = { "m.homeserver": { base_url: `${server.url}/` } };
  const state = await stateOf(front.url);
  await expect.poll(async () => (await state())?.state).toBe("connected");
  expect(front.calls).toEqual([]);
  expect(server.tokensInQueries()).toBe(0);
});

test.each([
  [
    "names an address without encryption",
    { "m.homeserver": { base_url: "http://matrix.example.org" } },
    "cannot be used",
  ],
  ["names no address", { "m.homeserver": { base_url: "no address" } }, "cannot be used"],
])("a file for clients that %s is refused in a sentence", async (_, wellKnown, words) => {
  const front = await startHomeserver();
  onTestFinished(() => front.close());
  front.wellKnown = wellKnown;
  const state = await stateOf(front.url);
  await expect
    .poll(state)
    .toMatchObject({ state: "waiting", code: "homeserver_unknown", detail: expect.stringContaining(words) });
  expect(front.calls).toEqual([]);
});

test("a page in place of the file for clients is ignored, and one in place of the API is named", async () => {
  const { server } = await openPlace();
  server.wellKnown = "<html>Welcome</html>";
  const state = await stateOf(server.url);
  await expect.poll(async () => (await state())?.state).toBe("connected");
  server.fault = () => ({ status: 404 });
  const other = await stateOf(server.url);
  await expect.poll(other).toMatchObject({ state: "waiting", code: "homeserver_unknown" });
});

test("the token is not sent without encryption, except to this machine", () => {
  const check = (homeserver: string) =>
    matrix.channel?.check?.({ homeserver, accessToken: token } as never, { path: "channels.matrix", before: [] });
  expect(check("http://matrix.example.org")).toEqual([
    {
      option: "homeserver",
      message: "would send the access token without encryption",
      hint: "Use an address that begins with https://.",
    },
  ]);
  for (const right of ["example.org", "https://matrix.example.org/", "http://127.0.0.1:8008", "http://localhost:8008"])
    expect(check(right)).toEqual([]);
});

test("a redirect is not followed, so the token stays at the homeserver", async () => {
  const { server, room, ada, sees, start } = await openPlace();
  const other = await startHomeserver();
  onTestFinished(() => other.close());
  const chat = room({ isDirect: true });
  const heard: string[] = [];
  await start(open, {
    answer({ inbound }) {
      heard.push(JSON.stringify(inbound.media));
      return "seen";
    },
  });
  server.fault = ({ path }) =>
    path.includes("media/download") ? { status: 307, headers: { location: `${other.url}/stolen` } } : undefined;
  ada.sendFile(chat, { uri: "mxc://hs.test/1", name: "cat.png", type: "image/png", size: 10 });
  await sees(chat, ["seen"]);
  expect(heard.join()).toContain("unavailable");
  expect(other.calls).toEqual([]);
});

test("texts that cost a reader more than their length are read as they are", () => {
  const room = { id: "!group:hs.test", direct: false };
  const bot = { id: "@bot:hs.test", names: ["Breadbot", "bot"] };
  for (const { make } of hostileFamilies) {
    const body = `> <@a:b> ${make(3_000)}`;
    const content = {
      msgtype: "m.text",
      body,
      formatted_body: body,
      "m.relates_to": { "m.in_reply_to": { event_id: "$0" } },
    };
    const event = { type: "m.room.message", event_id: "$1", sender: "@ada:hs.test", content };
    expect(parse({ bot, room, name: body, event } as never)).toBeDefined();
  }
});
