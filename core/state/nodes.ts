/**
 * Several gateways that share one store are its nodes. What the store offers them: duties, notes to each other, and
 * news of work.
 */
import type { Json } from "../contract/index.ts";

/** A message from one node to all others. */
export interface NodeNote {
  /** The subject, such as `stop`. */
  readonly topic: string;
  readonly body: Json;
}

/** What a node wants to hear about. */
export interface NodeWatcher {
  /**
   * Lanes that may have work which this node did not accept: events of another node, or a unit that a node without a
   * lease left.
   */
  work(lanes: readonly string[]): void;
  /** Another node has sent a note. A note that is sent while this node is not connected is missed. */
  note(note: NodeNote): void;
  /**
   * This node did not renew its lease in time. `duties`: other nodes may take its duties now. `lease`: its running
   * units may run elsewhere, and every write for them is refused.
   */
  lost(what: "duties" | "lease"): void;
}

/** A node, as an operator sees it. */
export interface NodeReport {
  readonly name: string;
  /** When it last joined, epoch milliseconds of the database. */
  readonly since: number;
  /** Milliseconds since it last renewed its lease. */
  readonly silentMs: number;
  /** Whether its lease is valid. */
  readonly alive: boolean;
  readonly duties: readonly string[];
  /** Number of units that it runs. */
  readonly running: number;
}

/** Offered by a store that several gateways can use at the same time. */
export interface Nodes {
  /** The name of this node. */
  readonly name: string;
  /**
   * Epoch milliseconds by the clock that all nodes share, such as that of the database. Every time that is stored or
   * compared with a stored one is by this clock, so that a node whose clock is wrong delays nothing for the others.
   * Read it on a store of a gateway only.
   */
  time(): number;
  /** Sets the watcher of this node, after `begin`. It may be called with lanes in which there is nothing to do. */
  watch(watcher: NodeWatcher): void;
  /** Sends a note to every other node. */
  send(note: NodeNote): Promise<void>;
  /**
   * Takes a duty that one node at a time fulfils, such as receiving for an account. Resolves with `false` if another
   * node has it. A node keeps its duties until it closes its store, or loses its lease.
   */
  takeDuty(name: string): Promise<boolean>;
  /**
   * Milliseconds for which this node surely holds its lease, by its own monotonic clock; 0 if it may have lost it.
   * Every write of a run is refused (`lease_lost`) once the lease has ended. A send cannot be refused, so it must not
   * begin with less left than it may take.
   */
  leaseLeft(): number;
  /**
   * Resolves with `true` once a unit that this node runs may run its turn in a session: at once, unless turns of other
   * nodes run there or asked earlier. `onWait` is called once if it must wait, `false` means that the signal aborted.
   * The unit leaves the session by the write that ends its turn: `say`, `settle`, `requeue` or `handBack`. It also
   * leaves it when its node loses its lease.
   */
  enterSession(
    unitId: string,
    options: { readonly sessionKey: string; readonly signal: AbortSignal; readonly onWait: () => void },
  ): Promise<boolean>;
  /**
   * Ends the place of a unit that this node runs in its session, because its turn waits for a person. Turns that asked
   * later may run. `enterSession` gives it a new place, behind them. A store without it keeps the place until the turn
   * ends.
   */
  leaveSession?(unitId: string): Promise<void>;
  /**
   * Binds a unit that this node runs to this node, because only it has the files to be sent: no other node sends the
   * unit until this one has been without a lease for ten minutes.
   */
  bindUnit(unitId: string): Promise<void>;
  reports(): Promise<readonly NodeReport[]>;
}

/**
 * The duty to receive and to send for an account of a channel. A unit that only has to be sent runs on the node that
 * has it.
 */
export const accountDuty = (channel: string, account: string): string => `account:${channel}:${account}`;
