/** The only way out of the engine: a function that takes texts and returns a text. It is gone from `globalThis` before a module is loaded. */

interface Bridge {
  readonly ask: (operation: string, ...given: readonly string[]) => string;
  /** Ends a call. `value`: JSON of the result, or nothing for none. */
  readonly settle: (id: string, kind: "value" | "threw" | "result", text: string, stack: string) => void;
  /** The function that a CommonJS file is, made inside the engine. */
  readonly compile: (name: string) => (...values: readonly unknown[]) => void;
  /** The exports of an ES module that another module requires. */
  readonly importNow: (name: string) => Readonly<Record<string, unknown>>;
}

const holder = globalThis as { bridge?: Bridge };
const bridge = holder.bridge as Bridge;
const { ask: send } = bridge;
export const { settle, compile, importNow } = bridge;
delete holder.bridge;

// As they are before a module can replace them.
const { parse, stringify } = JSON;
const errors: Readonly<Record<string, new (message: string) => Error>> = { TypeError, RangeError };

/** Has the host compute something. Arguments and result are JSON. Throws what the host answers as an error. */
export function ask<T>(operation: string, ...given: readonly unknown[]): T {
  const texts: string[] = [];
  for (let at = 0; at < given.length; at++) texts[at] = stringify(given[at]) ?? "null";
  const { value, error } = parse(send(operation, ...texts)) as {
    readonly value?: T;
    readonly error?: { readonly name: string; readonly message: string };
  };
  if (error === undefined) return value as T;
  throw new (errors[error.name] ?? Error)(error.message);
}
