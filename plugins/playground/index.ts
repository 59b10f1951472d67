/** The emulated platform as a plugin. The gateway's botchat account talks to it as to the real platform. */
import { readFile } from "node:fs/promises";
import { definePlugin, Type } from "service-gateway/sdk";
import { fetchWhole } from "service-gateway/sdk/reading";
import type { Approve } from "./platform/server/approval.ts";

/**
 * Loaded on demand, because every gateway reads the declaration but few open the platform. A separate function, because
 * the compiler overlooks the path inside an exported call.
 */
const loadPlatform = () => import("./platform/index.ts");

/**
 * Sends approvals to the gateway as its operator. The configuration names the token's file, which is read when needed.
 */
const approveBy =
  (file: string, gateway: () => string): Approve =>
  async (pairing) => {
    const token = (await readFile(file, "utf8")).trim();
    const { ok, status, text } = await fetchWhole(new URL("/gateway/pairing/approve", gateway()), {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(pairing),
      maxBytes: 1_048_576,
      timeoutMs: 30_000,
    });
    const { error } = JSON.parse(text) as { readonly error?: string };
    if (!ok) throw new Error(error ?? `the gateway answered ${status}`);
  };

export default definePlugin({
  id: "playground",
  version: "1.0.0",
  host: "^0.1.0",
  optIn: true,
  options: Type.Object({
    port: Type.Integer({
      minimum: 0,
      maximum: 65_535,
      default: 0,
      description: "Loopback port; 0 takes any free one.",
    }),
    token: Type.String({
      pattern: "^[0-9]{1,12}:[A-Za-z0-9_-]{3,100}$",
      description: "Bot token that the emulated platform knows.",
    }),
    username: Type.String({ pattern: "^[A-Za-z][A-Za-z0-9_]{2,31}$", default: "playground_bot" }),
    name: Type.String({ minLength: 1, maxLength: 64, default: "Playground bot" }),
    gatewayTokenFile: Type.Optional(
      Type.String({
        minLength: 1,
        description: "File with the gateway's token; with it the page can approve the pairing codes that it shows.",
      }),
    ),
  }),
  async setup(host, options) {
    // The platform listens before the accounts open, so that a channel's first connection succeeds.
    const { createPlatform, firstUpdateIdAt } = await loadPlatform();
    const platform = await createPlatform({
      port: options.port,
      bots: [
        {
          token: options.token,
          username: options.username,
          name: options.name,
          firstUpdateId: firstUpdateIdAt(() => host.now()),
        },
      ],
      now: () => host.now(),
      ...(options.gatewayTokenFile === undefined
        ? {}
        : { approve: approveBy(options.gatewayTokenFile, () => host.address()) }),
    });
    host.onClose(() => platform.close());
    host.log.info({ url: platform.url }, "the playground is open");
  },
});
