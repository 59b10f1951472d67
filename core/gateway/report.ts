/** What a gateway says of itself: whether it is ready, and what runs in it. */

import type { AccountReport } from "../channels/index.ts";
import type { LoadedConfig, Problem } from "../config/index.ts";
import type { PluginReport, Plugins } from "../host/index.ts";
import type { Store, StoreStats } from "../state/index.ts";
import type { TapInfo } from "../stations/index.ts";
import type { Runtime } from "./runtime.ts";

export interface Readiness {
  readonly ready: boolean;
  /** One sentence for each thing that is not up. A gateway that is ready with reasons is degraded. */
  readonly reasons: readonly string[];
}

export interface GatewayDescription {
  readonly product: string;
  readonly url: string;
  readonly pid: number;
  readonly startedAt: number;
  readonly configFile: string;
  /** Changes with the text of that file that is in force. */
  readonly configRevision: string;
  readonly stateDirectory: string;
  readonly hooks: { readonly enabled: boolean; readonly path: string };
  readonly plugins: readonly PluginReport[];
  readonly taps: readonly TapInfo[];
  readonly routes: readonly { readonly plugin: string; readonly method: string; readonly path: string; readonly access: string }[];
  readonly accounts: readonly AccountReport[];
  /** What is wrong with the configuration that is in force. */
  readonly problems: readonly Problem[];
  /** Settings that were changed since the start, and take effect after a restart. */
  readonly waiting: readonly string[];
  readonly engines: readonly string[];
  readonly running: number;
  readonly stats: StoreStats;
}

/**
 * Judges readiness by the rule of `/readyz`. `life.tried` is set once every account has connected or failed: what
 * accounts do afterwards, or accounts that a reload adds, degrade the gateway and never take it away.
 */
export function readinessOf(
  life: { readonly up: boolean; readonly closing: boolean; tried: boolean },
  {
    loaded,
    runtime,
    plugins,
    store,
  }: { readonly loaded: LoadedConfig; readonly runtime: Runtime; readonly plugins: Plugins; readonly store: Pick<Store, "trouble"> },
): Readiness {
  const trouble = store.trouble();
  life.tried ||= life.up && runtime.accounts.allTried();
  const blocking = [
    ...(life.closing ? ["The gateway closes."] : life.up ? [] : ["The gateway starts."]),
    ...(trouble === undefined ? [] : [`Nothing can be stored: ${trouble}. Free space on the disk of the state directory.`]),
    ...(loaded.disabled.has("hooks") ? ["hooks has an error in the configuration: the hook server is off."] : []),
    ...plugins.reports().flatMap((plugin) => (plugin.state === "failed" ? [plugin.reason ?? `The plugin ${plugin.id} failed.`] : [])),
  ];
  const accounts = runtime.accounts
    .reports()
    .flatMap(({ channel, account, status }) =>
      status.state === "connected"
        ? []
        : [`${channel}:${account} is ${status.state}${status.detail === undefined ? "" : `: ${status.detail}`}`],
    );
  return { ready: blocking.length === 0 && life.tried, reasons: [...blocking, ...accounts] };
}
