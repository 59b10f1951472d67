/**
 * A channel's connection in another thread. What it computes comes as a promise there, also where the contract asks for
 * a value at once.
 */
import type { Part } from "../contract/index.ts";
import type { ChannelConnection, Parsed } from "../sdk/contract.ts";

/** A connection as the core calls it: `parse` and `render` answer at once, except in a worker. */
export interface CalledConnection extends Omit<ChannelConnection, "parse" | "render"> {
  parse(...args: Parameters<ChannelConnection["parse"]>): Parsed | Promise<Parsed>;
  render(...args: Parameters<ChannelConnection["render"]>): readonly Part[] | Promise<readonly Part[]>;
}

/**
 * Marks a connection in a worker. `absent` resolves with the names of the optional functions that the channel does not
 * have.
 */
export const remote = Symbol("remote");

export interface RemoteConnection extends CalledConnection {
  readonly [remote]: { readonly absent: Promise<readonly string[]> };
}

export function isRemote(connection: CalledConnection): connection is RemoteConnection {
  return remote in connection;
}

/** Continues with a value at once if it is known, so that what needs no other thread waits for nothing. */
export function whenKnown<T, R>(value: T | Promise<T>, next: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
