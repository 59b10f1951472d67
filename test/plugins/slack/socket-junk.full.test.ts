/** What a socket may send that is no envelope of Slack: it is logged, and the account goes on. */
import { expect, onTestFinished, test, vi } from "vitest";
import { openLink } from "../../../plugins/slack/receive/link.ts";
import { feedJunk } from "../../support/junk.ts";
import { startSlack } from "../../support/slack/server.ts";
import { openSlack } from "./bench.ts";

test("junk on the socket is named in the log, and the next message is answered", async () => {
  const { server, seen } = await openSlack();
  let count = 0;
  await feedJunk({
    send(value) {
      for (const socket of server.delivery.sockets)
        socket.send(typeof value === "string" ? value : String(JSON.stringify(value)));
    },
    async works() {
      count += 1;
      server.people.say(`message ${count}`);
      await expect.poll(() => seen()).toContain(`heard: message ${count}`);
    },
  });
  expect(server.delivery.sockets.size).toBe(1);
});

test("envelopes that lack what they need are confirmed, and nobody is answered", async () => {
  const { server, ends } = await openSlack();
  const payloads = [
    {},
    { event: null },
    { event: { type: "message" } },
    { event: { type: "message", channel: 7 } },
    { type: "event_callback", event: { type: "reaction_added", item: [] } },
  ];
  for (const payload of payloads) server.delivery.event(payload as never);
  for (const payload of [{}, { type: "block_actions" }, { type: "view_submission" }])
    server.delivery.interactive(payload);
  server.delivery.command({});
  await expect.poll(() => server.delivery.confirmed.length).toBe(payloads.length + 4);
  // A press without a button and a command without a name are stored, so that the operator sees them.
  await expect.poll(() => ends).toEqual(["failed no_ingress", "failed no_ingress"]);
});

test("a socket without a ping is left", async () => {
  const server = await startSlack({ pingMs: 86_400_000 });
  onTestFinished(() => server.close());
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const ticket = await fetch(`${server.apiUrl}/apps.connections.open`, {
    method: "POST",
    headers: { authorization: "Bearer xapp-1-A0APP0001-the-app", "content-type": "application/x-www-form-urlencoded" },
  });
  const { url } = (await ticket.json()) as { readonly url: string };
  let isClosed = false;
  const closed = () => {
    isClosed = true;
  };
  const log = { debug() {}, info() {}, warn() {}, error() {} } as never;
  const link = openLink(url, { log, take() {}, closed });
  await link.hello;
  vi.advanceTimersByTime(59_000);
  expect(isClosed).toBe(false);
  vi.advanceTimersByTime(2_000);
  expect(isClosed).toBe(true);
});
