/** What a platform shows to the bot of its own messages. */
import { expect, onTestFinished, test } from "vitest";
import { type ChannelAccount, defineChannel, type Parsed, Type } from "../../../core/sdk/channel.ts";
import { repeat, startGateway } from "../../support/gateway.ts";

let account: ChannelAccount<object> | undefined;

const parrot = defineChannel({
  id: "parrot",
  version: "1.0.0",
  host: "*",
  options: Type.Object({}),
  capabilities: { maxChars: 4_000 },
  open(opened) {
    account = opened;
    return {
      start: async () => opened.status({ state: "connected" }),
      parse: (raw): Parsed => ({ silent: String(raw) }),
      render: ({ text }) => [{ kind: "text", chars: text.length, body: text }],
      send: async () => ({ messageId: "1" }),
      close: async () => {},
    };
  },
});

test("a message of the bot's own makes no stored event; one that needs no reply for another reason does", async () => {
  const channels = { parrot: { dmPolicy: "open", allowFrom: ["*"] } };
  const { gateway } = await startGateway({ config: { channels }, plugins: [parrot, repeat] });
  onTestFinished(() => gateway.close());
  const silent = async () => (await gateway.describe()).stats.settled.silent;
  for (const id of ["1", "2", "2"])
    expect(await account?.receive("own_message", { id })).toEqual({ eventId: expect.any(String), duplicate: false });
  await account?.receive("service_message", { id: "3" });
  await expect.poll(silent).toBe(1);
});
