/**
 * Programs that a killed gateway has left behind. A program is noted when it starts, and ended at the next start of a
 * gateway on this machine if it still runs. Its process is recognized by the time of its start, because another one may
 * have its number by then.
 */
import { readlinkSync } from "node:fs";
import { hostname } from "node:os";
import type { Json, PluginLog, PluginStore } from "service-gateway/sdk";
import { endAll, familyOf, readText, startOf } from "./processes.ts";

export interface StartedPrograms {
  /** Notes a program. Returns what forgets it again when it has ended with all that it started. */
  started(pid: number): () => void;
  /** Ends the programs of gateways that no longer run. */
  endLeft(): Promise<void>;
}

const prefix = "program:";

interface Noted {
  readonly machine: string;
  readonly pid: number;
  /** Of the program and of its gateway, in ticks since the machine has started. */
  readonly startedAt: string;
  readonly gateway: number;
  readonly gatewayStartedAt: string;
}

const isNoted = (value: unknown): value is Noted =>
  typeof value === "object" &&
  value !== null &&
  typeof (value as Noted).pid === "number" &&
  typeof (value as Noted).gateway === "number";

/**
 * This start of this machine; process numbers of containers are their own. `undefined` where the system does not say.
 */
function machineName(): string | undefined {
  const boot = readText("/proc/sys/kernel/random/boot_id").trim();
  try {
    return boot === "" ? undefined : `${hostname()} ${boot} ${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return undefined;
  }
}

export function createStartedPrograms(
  store: Pick<PluginStore, "set" | "delete" | "list">,
  log: Pick<PluginLog, "warn">,
): StartedPrograms {
  const machine = machineName();
  const ignored = (work: Promise<unknown>) => void work.catch(() => {});

  return {
    started(pid) {
      const startedAt = startOf(pid);
      if (machine === undefined || startedAt === "") return () => {};
      const key = `${prefix}${pid}:${startedAt}`;
      const noted: Noted = { machine, pid, startedAt, gateway: process.pid, gatewayStartedAt: startOf(process.pid) };
      const writing = store.set(key, noted as unknown as Json, { ttlSeconds: 30 * 86_400 });
      ignored(writing);
      return () => ignored(writing.finally(() => store.delete(key)));
    },
    async endLeft() {
      if (machine === undefined) return;
      for (const { key, value } of await store.list({ prefix })) {
        if (!isNoted(value) || value.machine !== machine) continue;
        // Another gateway on the same store, or this one.
        if (startOf(value.gateway) === value.gatewayStartedAt) continue;
        if (startOf(value.pid) === value.startedAt) {
          log.warn({ pid: value.pid }, "a program of an MCP server that a killed gateway had left is ended");
          endAll(familyOf(value.pid));
        }
        await store.delete(key);
      }
    },
  };
}
