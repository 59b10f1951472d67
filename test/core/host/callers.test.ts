/** A listener that a channel opens by itself, in a whole gateway. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createTestHost } from "service-gateway/testkit";
import { expect, test } from "vitest";
import { defineChannel, type PluginDefinition, Type } from "../../../core/sdk/contract.ts";

const secret = "secret-of-the-platform";

/** Answers 200 to whoever the host lets in. */
function listenerChannel(): { readonly plugin: PluginDefinition; readonly port: Promise<number> } {
  const bound = Promise.withResolvers<number>();
  const plugin = defineChannel({
    id: "listener",
    version: "1.0.0",
    host: "^0.2.0",
    options: Type.Object({}),
    capabilities: {
      maxChars: 1_000,
      markup: "plain",
      edits: false,
      threads: false,
      reactions: false,
      media: false,
      buttons: false,
      typing: false,
      menu: false,
    },
    open(account) {
      const server = createServer((request, response) => {
        const caller = account.judgeCaller(request, () => request.headers["x-secret"] === secret);
        const wait = caller.ok ? undefined : caller.retryAfterSeconds;
        response
          .writeHead(caller.ok ? 200 : caller.status, wait === undefined ? {} : { "retry-after": String(wait) })
          .end();
      });
      return {
        start: () =>
          new Promise((resolve) =>
            server.listen(0, "127.0.0.1", () => resolve(bound.resolve((server.address() as AddressInfo).port))),
          ),
        parse: () => null,
        render: () => [],
        send: async () => ({ messageId: "1" }),
        async close() {
          server.close();
        },
      };
    },
  });
  return { plugin, port: bound.promise };
}

test("a channel's listener limits callers like the gateway: by IPv6 /64, with Retry-After", async () => {
  const { plugin, port } = listenerChannel();
  await using _host = await createTestHost({
    plugins: [plugin],
    config: { gateway: { trustedProxies: ["127.0.0.1"] }, channels: { listener: {} } },
  });
  const url = `http://127.0.0.1:${await port}/`;
  const call = async (presented: string, from: string) => {
    const { status, headers } = await fetch(url, { headers: { "x-secret": presented, "x-forwarded-for": from } });
    return { status, wait: headers.get("retry-after") };
  };
  for (let host = 1; host <= 20; host += 1) expect((await call("wrong", `2001:db8::${host}`)).status).toBe(401);
  const limited = await call("wrong", "2001:db8::99");
  expect(limited.status).toBe(429);
  expect(Number(limited.wait)).toBeGreaterThan(0);
  expect((await call(secret, "2001:db8::98")).status).toBe(200);
  for (let host = 1; host <= 200; host += 1) await call("wrong", `2001:db8:1::${host}`);
  expect((await call(secret, "2001:db8:1::1")).status).toBe(429);
  expect((await call(secret, "2001:db8:2::1")).status).toBe(200);
});
