/** The mail plugin in a process that ends itself by SIGKILL right before or right after a write for a mail. */
import type { PluginDefinition, PluginHost } from "../../../core/sdk/contract.ts";

/**
 * `accept`: the mail becomes an event. The others begin the keys that the plugin writes, in the order of their writes.
 */
export interface MailCrash {
  readonly write: "accept" | "draft:" | "mail:" | "message:" | "mailbox:" | "drafted:";
  readonly when: "before" | "after";
  /** The how many-th of its kind. */
  readonly nth: number;
}

export function crashingAt(crash: MailCrash, plugin: PluginDefinition): PluginDefinition {
  return { ...plugin, setup: (host, options) => plugin.setup(crashingHost(crash, host), options) };
}

/** Both calls are one write of the gateway's store each, and resolve when it is made. */
function crashingHost({ write, when, nth }: MailCrash, host: PluginHost): PluginHost {
  let seen = 0;
  async function at<Result>(concerned: boolean, run: () => Promise<Result>): Promise<Result> {
    if (concerned) seen += 1;
    const here = concerned && seen === nth;
    if (here && when === "before") process.kill(process.pid, "SIGKILL");
    const result = await run();
    if (here) process.kill(process.pid, "SIGKILL");
    return result;
  }
  return {
    ...host,
    store: {
      ...host.store,
      set: (key, value, options) =>
        at(write !== "accept" && key.startsWith(write), () => host.store.set(key, value, options)),
    },
    hook: (path, payload, options) => at(write === "accept", () => host.hook(path, payload, options)),
  };
}
