/** The emulated platform as a plugin: the gateway's botchat account talks to it as to the real one. */
import { definePlugin, Type } from "service-gateway/sdk";

/** Every gateway reads the declaration; few open the platform. In a function of its own: the compiler overlooks the path inside an exported call. */
const loadPlatform = () => import("./platform/index.ts");

export default definePlugin({
  id: "playground",
  version: "1.0.0",
  host: "^1.0.0",
  optIn: true,
  options: Type.Object({
    port: Type.Integer({ minimum: 0, maximum: 65_535, default: 0, description: "Loopback port; 0 takes any free one." }),
    token: Type.String({ pattern: "^[0-9]{1,12}:[A-Za-z0-9_-]{3,100}$", description: "Bot token that the emulated platform knows." }),
    username: Type.String({ pattern: "^[A-Za-z][A-Za-z0-9_]{2,31}$", default: "playground_bot" }),
    name: Type.String({ minLength: 1, maxLength: 64, default: "Playground bot" }),
  }),
  async setup(host, options) {
    // Listens before the accounts open, so that the first connection of a channel finds it.
    const { createPlatform } = await loadPlatform();
    const platform = await createPlatform({
      port: options.port,
      bots: [{ token: options.token, username: options.username, name: options.name }],
      now: () => host.now(),
    });
    host.onClose(() => platform.close());
    host.log.info({ url: platform.url }, "the playground is open");
  },
});
