/** A channel in a worker behind the contract of every channel, as the core opens it. */
import type { CalledChannel, PluginSource } from "../../../core/host/index.ts";
import { createIsolation } from "../../../core/isolation/index.ts";
import type { ChannelConnection, ChannelDefinition, PluginDefinition, PluginHost } from "../../../core/sdk/contract.ts";
import { temporaryDirectory } from "../../support/directory.ts";

const silent = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };

export interface InWorker {
  /**
   * The plugin, whose connections are in the worker. The contract of channels calls `parse` and `render` at once, so
   * both are computed in this thread.
   */
  readonly plugin: PluginDefinition;
  /** The channel as the core calls it: what its functions return may be awaited. */
  channel(): CalledChannel;
  start(): Promise<void>;
  close(): Promise<void>;
}

function needed<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("the plugin is not up");
  return value;
}

export function inWorker(inline: PluginDefinition, source: Pick<PluginSource, "file" | "bundled">): InWorker {
  let there: ChannelDefinition | undefined;
  let close = async () => {};
  const here = needed(inline.channel);
  return {
    plugin: {
      ...inline,
      channel: {
        ...here,
        ...(here.check && { check: (...args) => needed(there).check?.(...args) ?? [] }),
        ...(here.signsInAs && { signsInAs: (...args) => needed(there).signsInAs?.(...args) }),
        open(account) {
          const { parse, render } = here.open(account as never);
          return { ...needed(there).open(account as never), parse, render } as ChannelConnection;
        },
      },
    },
    channel: () => needed(there) as CalledChannel,
    async start() {
      const isolate = createIsolation({
        log: silent,
        now: Date.now,
        cacheDirectory: temporaryDirectory(),
        trustedProxies: () => [],
      });
      const isolated = needed(await isolate({ name: inline.id, ...source }, () => true));
      const host: Partial<PluginHost> = {
        log: silent,
        channel: (definition) => {
          there = definition;
        },
        onReady() {},
        onClose() {},
      };
      await isolated.definition.setup(host as PluginHost, {});
      close = () => isolated.close();
    },
    close: () => close(),
  };
}
