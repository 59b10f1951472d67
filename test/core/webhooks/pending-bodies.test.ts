import { afterEach, describe, expect, test } from "vitest";
import { createPendingBodies } from "../../../core/webhooks/endpoint/pending-bodies.ts";
import { senderOf } from "../../support/senders.ts";
import { type HookServer, openSocket, startHooks } from "../http/fixture.ts";

let hooks: HookServer | undefined;
afterEach(async () => {
  await hooks?.close();
  hooks = undefined;
});

const github = senderOf("github");
const mapping = { match: { path: "gh" }, messageTemplate: "x", signature: { scheme: "github", secret: github.secret } };
const head = (path: string, length: number) =>
  `POST /hooks/${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;

describe("pending bodies of unverified senders", () => {
  test("are limited per client and in total; the oldest body of the client with the most makes room", () => {
    const pending = createPendingBodies({ perClient: 2, total: 4 });
    const dropped: string[] = [];
    const begin = (client: string, name: string) => pending.begin(client, () => dropped.push(name));
    begin("a", "a1");
    const end = begin("a", "a2");
    begin("a", "a3");
    expect(dropped).toEqual(["a1"]);
    begin("b", "b1");
    begin("c", "c1");
    begin("d", "d1");
    expect(dropped).toEqual(["a1", "a2"]);
    end();
    end();
    begin("e", "e1");
    expect(dropped).toEqual(["a1", "a2", "a3"]);
  });

  test("from 64 slow requests do not block a valid signed one; the oldest gets 429 and is disconnected", async () => {
    hooks = await startHooks({ hooks: { mappings: [mapping] } });
    const { port } = hooks;
    const slow = [];
    // Waited for one by one, because the order in which they come in decides which one is dropped.
    for (let count = 0; count < 64; count += 1) {
      const one = await openSocket(port);
      one.write(`${head("gh", 10)}{`);
      slow.push(one);
    }
    const texts = slow.map(() => "");
    const reset = slow.map(() => false);
    slow.forEach(({ ended }, index) => {
      void ended().then((ending) => {
        texts[index] = ending.text;
        reset[index] = ending.reset;
      });
    });
    const cut = () => texts.filter((text) => text !== "").length;
    let accepted = 0;
    // Until all of the slow ones have come in.
    await expect
      .poll(
        async () => {
          const sent = github.send({ at: Date.now(), body: `{"number":${accepted}}` });
          const { status } = await fetch(`http://127.0.0.1:${port}/hooks/gh`, {
            method: "POST",
            headers: sent.headers,
            body: new Uint8Array(sent.body),
          });
          expect(status).toBe(202);
          accepted += 1;
          return cut();
        },
        { interval: 50 },
      )
      .toBeGreaterThan(0);
    expect(hooks.events).toHaveLength(accepted);
    expect(texts[0]).toMatch(/^HTTP\/1\.1 429 /);
    expect(texts[0]).toMatch(/retry-after: 1\r\n/i);
    // In the order in which they came.
    expect(texts.slice(cut()).join("")).toBe("");
    expect((await hooks.post("wake", { text: "x" })).status).toBe(200);
    for (const one of slow) one.socket.destroy();
  });

  test("are discarded with their bytes, and the rest of a dropped one has no effect", async () => {
    hooks = await startHooks({ hooks: { mappings: [mapping] } });
    const { port } = hooks;
    const sent = github.send({ at: Date.now(), body: '{"late":true}' });
    const slow = await openSocket(port);
    slow.write(
      `POST /hooks/gh HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-Hub-Signature-256: ` +
        `${sent.headers["x-hub-signature-256"]}\r\nContent-Length: ${sent.body.length}\r\n\r\n{`,
    );
    const others = await Promise.all(Array.from({ length: 70 }, () => openSocket(port)));
    for (const one of others) one.write(`${head("gh", 10)}{`);
    expect(await slow.until(/\}$/)).toMatch(/^HTTP\/1\.1 429 /);
    slow.write(sent.body.subarray(1));
    await slow.ended();
    expect(hooks.events).toHaveLength(0);
    for (const one of others) one.socket.destroy();
  });
});
