/**
 * Closes the connection to a server that accepts a command and never answers, so that the next look opens a new one.
 */
import type { ImapFlow } from "imapflow";
import { SourceError } from "../source.ts";

interface Asked {
  readonly client: Pick<ImapFlow, "close" | "stats">;
  readonly host: string;
}

/** During a long search a server reports progress from time to time. */
const stallMs = 20_000;
const lookMs = 1_000;

/** Rejects, and closes the connection, if nothing arrived for `stallMs`. */
export function withoutStall<T>({ client, host }: Asked, running: Promise<T>): Promise<T> {
  let received = client.stats().received;
  let quietSince = performance.now();
  const isLate = (): boolean => {
    const now = client.stats().received;
    if (now !== received) quietSince = performance.now();
    received = now;
    return performance.now() - quietSince >= stallMs;
  };
  return race(running, { client, host }, { everyMs: lookMs, isLate });
}

/** Rejects, and closes the connection, if the command is not done in time. */
export function answeredIn<T>(ms: number, asked: Asked, running: Promise<T>): Promise<T> {
  return race(running, asked, { everyMs: ms, isLate: () => true });
}

async function race<T>(
  running: Promise<T>,
  { client, host }: Asked,
  { everyMs, isLate }: { readonly everyMs: number; readonly isLate: () => boolean },
): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setInterval(() => {
    if (!isLate()) return;
    reject(new SourceError("outage", `${host} does not answer.`, "It is retried automatically."));
    client.close();
  }, everyMs);
  try {
    return await Promise.race([running, promise]);
  } finally {
    clearInterval(timer);
  }
}
