import { afterEach, describe, expect, test } from "vitest";
import { createPendingBodies } from "../../../core/webhooks/pending-bodies.ts";
import { type HookServer, openSocket, startHooks } from "../http/fixture.ts";

let hooks: HookServer | undefined;
afterEach(async () => {
  await hooks?.close();
  hooks = undefined;
});

const mapping = { match: { path: "gh" }, messageTemplate: "x", signature: { scheme: "github", secret: "a signing secret" } };
const head = (path: string, length: number) =>
  `POST /hooks/${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;

describe("bodies of senders that are not known yet", () => {
  test("are bounded for each client, and for all of them", () => {
    const pending = createPendingBodies({ perClient: 2, total: 3 });
    const first = pending.begin("a");
    expect([pending.begin("a"), pending.begin("a")]).toEqual([expect.any(Function), undefined]);
    expect([pending.begin("b"), pending.begin("c")]).toEqual([expect.any(Function), undefined]);
    first?.();
    first?.();
    expect([pending.begin("c"), pending.begin("d")]).toEqual([expect.any(Function), undefined]);
  });

  test("at a signed path 64 of one client are read at a time; one more is 429, other endpoints are not held up, and those that leave make room", async () => {
    hooks = await startHooks({ hooks: { mappings: [mapping] } });
    const { port } = hooks;
    const slow = await Promise.all(Array.from({ length: 64 }, () => openSocket(port)));
    for (const one of slow) one.write(`${head("gh", 10)}{`);
    let answer = "";
    const oneMore = async () => {
      const more = await openSocket(port);
      more.write(`${head("gh", 2)}{}`);
      answer = await more.until(/\}$/);
      more.socket.destroy();
      return answer;
    };
    // Until the others have come in.
    await expect.poll(oneMore, { interval: 200 }).toMatch(/^HTTP\/1\.1 429 /);
    expect(answer).toMatch(/retry-after: 1\r\n/i);
    expect((await hooks.post("wake", { text: "x" })).status).toBe(200);
    for (const one of slow) one.socket.destroy();
    await expect.poll(async () => (await hooks?.post("gh", "{}"))?.status).toBe(401);
  });
});
