/**
 * The pure functions of a connection in a worker. A call that ends the thread is not made again: it would end each next
 * thread too.
 */
import { createHash } from "node:crypto";
import type { RemoteConnection } from "../../host/index.ts";
import { ThreadEnded } from "../plugin-thread.ts";
import type { Supervisor } from "../supervisor.ts";

/** How many such calls are remembered. One that is forgotten may end one more thread. */
const maxRemembered = 1_000;

type PureCalls = Pick<RemoteConnection, "parse" | "render">;

function keyOf(call: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(call)).digest("base64");
}

/** `number`: of the connection. */
export function pureCalls(supervisor: () => Supervisor, number: number): PureCalls {
  /** By the calls that have ended a thread, the oldest first. */
  const errors = new Map<string, ThreadEnded>();

  function note(call: readonly unknown[], error: ThreadEnded): void {
    errors.set(keyOf(call), error);
    const [oldest = ""] = errors.keys();
    if (errors.size > maxRemembered) errors.delete(oldest);
  }

  async function make<T>(...call: readonly [keyof PureCalls, ...unknown[]]): Promise<T> {
    // Nearly every plugin has none, and then no call is hashed.
    const known = errors.size === 0 ? undefined : errors.get(keyOf(call));
    if (known !== undefined) throw known;
    try {
      return await supervisor().askWhenUp<T>("account.call", [number, ...call], { repeat: true });
    } catch (error) {
      if (error instanceof ThreadEnded && error.byCall) note(call, error);
      throw error;
    }
  }

  return {
    // An event is parsed when it arrives and in its turn; without others, both are the same call.
    parse: (raw, more = []) => (more.length === 0 ? make("parse", raw) : make("parse", raw, more)),
    render: (...args) => make("render", ...args),
  };
}
