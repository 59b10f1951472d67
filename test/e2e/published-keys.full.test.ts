/** Senders that sign tokens with keys which they publish: a key set over HTTP, that changes, is away, or is flooded. */
import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { anotherClient, closeHookGateways, type HookGateway, jsonType, startHookGateway } from "./hook-room.ts";

afterAll(closeHookGateways);

interface Published {
  readonly kid: string;
  readonly key: { readonly publicKey: KeyObject; readonly privateKey: KeyObject };
}

const newKey = (kid: string): Published => ({ kid, key: generateKeyPairSync("ec", { namedCurve: "P-256" }) });

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

function tokenOf({ kid, key }: Published, body: string): string {
  const digest = createHash("sha256").update(body).digest("base64");
  const signed = `${encode({ alg: "ES256", kid })}.${encode({ request_body_sha256: digest })}`;
  const signature = sign("sha256", Buffer.from(signed), { key: key.privateKey, dsaEncoding: "ieee-p1363" });
  return `${signed}.${signature.toString("base64url")}`;
}

/** The server of the sender, and a gateway that reads its keys. */
async function open(...first: readonly Published[]) {
  const state = { keys: first, status: 200, requests: 0 };
  const server = createServer((_request, response) => {
    state.requests += 1;
    const others = [{ kty: "oct", k: "c2VjcmV0", kid: "shared" }, { kty: "EC" }, "odd", null];
    const keys = state.keys.map(({ kid, key }) => ({ ...key.publicKey.export({ format: "jwk" }), kid, use: "sig" }));
    response.writeHead(state.status, { "content-type": "application/json" });
    response.end(JSON.stringify({ keys: [...others, ...keys] }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const room: HookGateway = await startHookGateway({
    hooks: {
      mappings: [
        {
          match: { path: "auth" },
          messageTemplate: "{{ type }}",
          deliver: false,
          wakeMode: "next-heartbeat",
          signature: {
            ...{ scheme: "jwt", algorithm: "ES256", header: "X-Signature-JWT" },
            jwksUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`,
          },
        },
      ],
    },
  });
  let number = 0;
  return {
    state,
    room,
    async send(by: Published, { sent }: { readonly sent?: string } = {}) {
      number += 1;
      const body = `{"type":"user.create","number":${number}}`;
      const headers = [anotherClient(), jsonType, ["x-signature-jwt", tokenOf(by, body)]] as const;
      return await fetch(`${room.host.url}/hooks/auth`, {
        method: "POST",
        headers: headers.map(([name, value]): [string, string] => [name, value]),
        body: sent ?? body,
      });
    },
  };
}

test("deliveries are verified with the published keys, which are read once", async () => {
  const [known, stranger] = [newKey("a"), newKey("a")];
  const { send, state } = await open(known);
  const answers = await Promise.all([send(known), send(known), send(known)]);
  expect(answers.map(({ status }) => status)).toEqual([202, 202, 202]);
  expect((await send(known, { sent: '{"type":"other"}' })).status).toBe(401);
  expect((await send(stranger)).status).toBe(401);
  expect(state.requests).toBe(1);
});

test("tokens with unknown keys cause at most one request a minute, and a new key is accepted after it", async () => {
  const [known, added] = [newKey("a"), newKey("b")];
  const { send, state, room } = await open(known);
  expect((await send(known)).status).toBe(202);
  state.keys = [added];
  for (let number = 0; number < 5; number += 1) expect((await send(newKey(`guess-${number}`))).status).toBe(401);
  expect(state.requests).toBe(1);
  expect((await send(added)).status).toBe(401);
  await room.host.advance(61_000);
  expect((await send(added)).status).toBe(202);
  expect((await send(known)).status).toBe(401);
  expect(state.requests).toBe(2);
});

test("a delivery gets 503 while the keys cannot be read, and known keys outlast an outage for a day", async () => {
  const known = newKey("a");
  const { send, state, room } = await open(known);
  state.status = 500;
  const answer = await send(known);
  expect([answer.status, await answer.json()]).toMatchObject([503, { code: "unavailable" }]);
  expect((await send(known)).status).toBe(503);
  expect(state.requests).toBe(1);
  state.status = 200;
  await room.host.advance(61_000);
  expect((await send(known)).status).toBe(202);
  state.status = 500;
  await room.host.advance(2 * 3_600_000);
  expect((await send(known)).status).toBe(202);
  await room.host.advance(24 * 3_600_000);
  expect((await send(known)).status).toBe(503);
});
