/** Keeps the process of a gateway small: what a start or a busy time took is given back when it is quiet again. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Gateway } from "../../gateway/gateway.ts";

/** A start is long over by then, and so is what people see first. */
const lookEveryMs = 5_000;
/** Share of one processor up to which a gateway counts as quiet: a collection then delays no event. */
const quietShare = 0.05;
/** Less than that above the last time is not worth stopping for. */
const worthwhileBytes = 16_000_000;
/**
 * V8 lets garbage grow to four times what lives before it looks for it. A gateway has little that lives and much that passes: at a fifth
 * more it collects once in some thousand turns, for two per cent of the time under full load, and holds a hundred megabytes less.
 */
const growingPercent = 20;

/**
 * Loading some hundred modules grows V8's young generation and leaves holes in the old one, and so do a thousand turns at once; V8 alone
 * would keep both for a process that then does little. A collection as under low memory stops everything for some 50 ms, so it waits
 * until no turn runs and the processor rests; and it is for a process of our own, never for an embedder's.
 */
export async function keepMemorySmall(gateway: Pick<Gateway, "describe">, signal: AbortSignal): Promise<void> {
  try {
    (await import("node:v8")).setFlagsFromString(`--heap-growing-percent=${growingPercent}`);
    for (let least = 0; ; ) {
      const before = process.cpuUsage();
      await sleep(lookEveryMs, undefined, { signal, ref: false });
      const { user, system } = process.cpuUsage(before);
      const quiet = user + system < lookEveryMs * 1_000 * quietShare;
      // Right after its start it was busy in any case.
      if ((least > 0 && !quiet) || process.memoryUsage.rss() < least + worthwhileBytes) continue;
      if ((await gateway.describe()).running > 0) continue;
      await giveMemoryBack();
      least = process.memoryUsage.rss();
    }
  } catch {
    // The gateway stops, or this Node has no inspector: nothing depends on it.
  }
}

/** The only public way to ask for this kind of collection: `--expose-gc` would void the cache of compiled code. */
export async function giveMemoryBack(): Promise<void> {
  const { Session } = await import("node:inspector/promises");
  const session = new Session();
  session.connect();
  await session.post("HeapProfiler.collectGarbage");
  session.disconnect();
}
