/** The emulated platform as a plugin. The gateway's botchat account talks to it as to the real platform. */
import { readFile } from "node:fs/promises";
import { definePlugin, type Json, type PluginHost, Type } from "service-gateway/sdk";
import { fetchWhole } from "service-gateway/sdk/reading";
import type { Platform } from "./platform/index.ts";
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

/**
 * A person who wrote to the bot may be written to after a restart, too, as on the real platform: an answer to a webhook
 * would otherwise be refused until that person writes again.
 */
async function rememberWriters(
  { world, on }: Platform,
  { store, log }: Pick<PluginHost, "store" | "log">,
): Promise<void> {
  const [bot] = world.bots;
  if (bot === undefined) return;
  const key = `wrote to ${bot.user.id}`;
  const idsIn = (value: Json | null): readonly number[] => (Array.isArray(value) ? value.map(Number) : []);
  const known = new Set(idsIn(await store.get(key)));
  for (const id of known) if (world.people.has(id)) world.direct(bot, id).started = true;
  on((event) => {
    if (event.type !== "message" || event.message.chat.type !== "private") return;
    const { id } = event.message.chat;
    if (event.message.from?.id !== id || known.has(id)) return;
    known.add(id);
    store
      .set(key, [...known])
      .catch((error: unknown) => log.warn({ error: String(error) }, "a person is not remembered"));
  });
}

export default definePlugin({
  id: "playground",
  version: "1.0.0",
  host: "^0.2.0",
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
    await rememberWriters(platform, host);
    host.log.info({ url: platform.url }, "the playground is open");
  },
});
