import { join } from "node:path";
import { createTestHost } from "service-gateway/testkit";
import { expect, test } from "vitest";
import { createPairing } from "../../../core/access/pairing.ts";
import { openSqliteStore } from "../../../core/state/sqlite/index.ts";
import { removeDirectory, temporaryDirectory } from "../../support/directory.ts";

const now = () => Date.now();

/**
 * The state as a process leaves it that is killed behind the making of a code: the event waits again, its notice was
 * never kept.
 */
async function killedBehindTheCode(
  directory: string,
  { tellingUnit }: { readonly tellingUnit: string },
): Promise<string> {
  const store = await openSqliteStore({ directory: join(directory, "state"), now });
  await store.begin(now());
  const inbound = {
    kind: "message",
    chat: { id: "7", kind: "direct" },
    sender: { id: "7" },
    text: "let me in",
    media: [],
    mention: false,
    timestamp: 0,
    messageId: "1",
  };
  const place = {
    source: "loopback",
    kind: "update",
    account: "default",
    lane: "loopback:default:7",
    authority: "channel",
  } as const;
  await store.accept({ id: "the-event", at: now(), event: { ...place, body: inbound } });
  const address = { channel: "loopback", account: "default", chat: "7" };
  const offer = await createPairing({ store, now }).request({ address, senderId: "7", unit: tellingUnit });
  await store.close();
  return offer?.code ?? "";
}

test.each([
  ["the-event", "gets the same code after the restart", true],
  ["an-event-before", "does not get it again within ten minutes, if another event sent it", false],
])(
  "a stranger whose code was made by %s, and whose notice was lost when the process was killed, %s",
  async (tellingUnit, _rule, isTold) => {
    const directory = temporaryDirectory();
    const code = await killedBehindTheCode(directory, { tellingUnit });
    const host = await createTestHost({
      directory,
      config: { channels: { loopback: { dmPolicy: "pairing", allowFrom: [] } } },
    });
    expect(await host.settled("the-event")).toMatchObject({ outcome: "refused", reason: "pairing_required" });
    await host.close();
    removeDirectory(directory);
    const told = expect.stringContaining(isTold ? code : "I wait for the owner's approval");
    expect(host.outbox()).toMatchObject([{ chat: "7", text: told }]);
  },
);
