/** Faults on purpose: what a network and a busy platform do to a bot. */
import type { RawParams } from "./params.ts";

export const faultKinds = ["drop", "delay", "status", "reset-before", "reset-after", "garbage", "flood", "refuse"] as const;
export type FaultKind = (typeof faultKinds)[number];

/** What happens to one call. */
export interface Mishap {
  /**
   * `drop`: never answered, nothing happens. `delay`: answered after `ms`. `status`: a 5xx answer, nothing happens.
   * `reset-before`: the connection breaks, nothing happens. `reset-after`: it happens, then the connection breaks.
   * `garbage`: an HTML page instead of JSON, nothing happens. `flood`: 429 with `retryAfter` seconds.
   * `refuse`: `status` (default 400) with `description`, nothing happens.
   */
  readonly kind: FaultKind;
  /** Every kind may be delayed by this time. */
  readonly ms?: number;
  readonly status?: number;
  readonly retryAfter?: number;
  readonly description?: string;
}

export interface Fault extends Mishap {
  /** A method's name, `file` for the fetching of a file, or `*` for each. */
  readonly method: string;
  /** How many calls it hits. */
  readonly times: number;
}

/** What happens to a call that no fault waits for. */
export type Chance = (method: string, params: RawParams) => Mishap | undefined;

export interface Faults {
  add(fault: Fault): void;
  /** Leaves the rest to chance; `undefined`: to none. */
  leaveTo(chance: Chance | undefined): void;
  /** Faults that are left, with the calls they still hit. */
  list(): readonly Fault[];
  clear(): void;
  /** The fault for this call, used up by one. */
  take(method: string, params?: RawParams): Mishap | undefined;
}

const maxFaults = 100;

export function createFaults(): Faults {
  let active: { fault: Fault; left: number }[] = [];
  let chance: Chance | undefined;
  return {
    add(fault) {
      if (active.length >= maxFaults) throw new Error(`at most ${maxFaults} faults can wait; clear some first`);
      active.push({ fault, left: fault.times });
    },
    list: () => active.map(({ fault, left }) => ({ ...fault, times: left })),
    clear() {
      active = [];
    },
    leaveTo(next) {
      chance = next;
    },
    take(method, params = {}) {
      const hit = active.find(({ fault }) => fault.method === "*" || fault.method.toLowerCase() === method.toLowerCase());
      if (hit === undefined) return chance?.(method, params);
      hit.left -= 1;
      if (hit.left <= 0) active = active.filter((entry) => entry !== hit);
      return hit.fault;
    },
  };
}

/** Checks a fault that came over HTTP. */
export function parseFault(value: Readonly<Record<string, unknown>>): Fault {
  const { method = "*", times = 1, kind, ms, status, retryAfter, description } = value;
  if (typeof method !== "string" || !/^(?:\*|[A-Za-z]{1,64})$/.test(method)) throw new Error("method: a method's name or *");
  if (!faultKinds.includes(kind as FaultKind)) throw new Error(`kind: one of ${faultKinds.join(", ")}`);
  const number = (name: string, given: unknown, least: number, most: number): Record<string, number> => {
    if (given === undefined) return {};
    if (typeof given !== "number" || !Number.isInteger(given) || given < least || given > most) {
      throw new Error(`${name}: a whole number from ${least} to ${most}`);
    }
    return { [name]: given };
  };
  number("times", times, 1, 1_000_000);
  return {
    method,
    times: times as number,
    kind: kind as FaultKind,
    ...number("ms", ms, 0, 600_000),
    ...number("status", status, 400, 599),
    ...number("retryAfter", retryAfter, 1, 86_400),
    ...(typeof description === "string" ? { description: description.slice(0, 500) } : {}),
  };
}
