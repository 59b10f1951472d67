/** Keeps a gateway's process small: memory used by the start or a busy time is released when the gateway is quiet. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Gateway } from "../../gateway/gateway.ts";

/** By then the start, and everything a user waits for, is long over. */
const lookEveryMs = 5_000;
/** Share of one processor below which a gateway counts as quiet: a collection then delays no event. */
const quietShare = 0.05;
/** Growth since the last collection below which another one is not worth the pause. */
const worthwhileBytes = 16_000_000;
/**
 * V8 lets garbage grow to four times the live memory before it collects. A gateway has little live memory and much
 * garbage. At a fifth more, it collects once in some thousand turns, costs two per cent of the time under full load,
 * and uses a hundred megabytes less.
 */
const growingPercent = 20;

/**
 * Loading some hundred modules, or a thousand turns at once, grows V8's young generation and fragments the old one. V8
 * alone would keep both for a process that then does little. A collection as under low memory stops everything for some
 * 50 ms, so it waits until no turn runs and the processor is idle. It runs only in a process of our own, never in an
 * embedder's.
 */
export async function keepMemorySmall(gateway: Pick<Gateway, "describe">, signal: AbortSignal): Promise<void> {
  try {
    (await import("node:v8")).setFlagsFromString(`--heap-growing-percent=${growingPercent}`);
    for (let least = 0; ; ) {
      const before = process.cpuUsage();
      await sleep(lookEveryMs, undefined, { signal, ref: false });
      const { user, system } = process.cpuUsage(before);
      const quiet = user + system < lookEveryMs * 1_000 * quietShare;
      // The first time runs in any case, because the start itself was busy.
      if ((least > 0 && !quiet) || process.memoryUsage.rss() < least + worthwhileBytes) continue;
      if ((await gateway.describe()).running > 0) continue;
      await giveMemoryBack();
      least = process.memoryUsage.rss();
    }
  } catch {
    // The gateway stops, or this Node has no inspector; nothing depends on the collection.
  }
}

/**
 * The only public way to request this kind of collection: `--expose-gc` would invalidate the cache of compiled code.
 */
export async function giveMemoryBack(): Promise<void> {
  const { Session } = await import("node:inspector/promises");
  const session = new Session();
  session.connect();
  await session.post("HeapProfiler.collectGarbage");
  session.disconnect();
}
