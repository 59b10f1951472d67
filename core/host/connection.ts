/** Checks what the `open` of a channel returns. */
import type { ChannelConnection } from "../sdk/contract.ts";
import { isThenable } from "../stations/index.ts";

/** Without any of these an account would come up, and fail at its first message. */
const needed = ["start", "parse", "render", "send", "close"] as const satisfies readonly (keyof ChannelConnection)[];

export function connectionProblem(opened: unknown): string | undefined {
  if (isThenable(opened)) {
    Promise.resolve(opened).catch(() => {});
    return "open must return the connection itself";
  }
  const connection = (opened ?? {}) as Partial<Record<string, unknown>>;
  const missing = needed.filter((name) => typeof connection[name] !== "function");
  return missing.length === 0
    ? undefined
    : `open must return ${needed.join(", ")}: ${missing.join(", ")} is not a function there`;
}
