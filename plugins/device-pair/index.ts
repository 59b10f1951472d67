/** Devices that may use the gateway: `/pair` creates a code, the owner approves, and each device gets its own token. */
import { definePlugin } from "service-gateway/sdk";
import { devicesCli } from "./cli.ts";
import { codes } from "./codes.ts";
import { announcement, pairCommand } from "./command.ts";
import { createDevices } from "./devices.ts";
import { pairOptions } from "./options.ts";
import { devicesPanel } from "./panel.ts";
import { deviceRoutes } from "./routes.ts";

export default definePlugin({
  id: "device-pair",
  version: "1.0.0",
  host: "^0.2.0",
  options: pairOptions,
  codes,
  cli: devicesCli,
  setup(host, { address, codeTtlSeconds, requestTtlSeconds }) {
    const devices = createDevices({ store: host.store, now: () => host.now(), codeTtlSeconds, requestTtlSeconds });
    host.devices((token) => devices.holds(token));
    host.command(
      pairCommand({
        devices,
        codeTtlSeconds,
        log: host.log,
        address: () => (address ?? host.address()).replace(/\/$/, ""),
      }),
    );
    host.panel(devicesPanel(devices));
    const routes = deviceRoutes({
      devices,
      elapsed: () => performance.now(),
      async onAsked(to, asking) {
        host.log.info({ device: asking.id, from: asking.from }, "a device asks to be paired");
        try {
          if (to !== null) await host.notify(to, announcement(asking), { key: asking.id });
        } catch (error) {
          // The request is still waiting, and `/pair status` shows it.
          host.log.warn(
            { device: asking.id, error: error instanceof Error ? error.message : String(error) },
            "the owner could not be notified of a pairing request",
          );
        }
      },
    });
    for (const route of routes) host.route(route);
  },
});
