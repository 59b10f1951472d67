/**
 * The only connection to the host: functions on strings. They are removed from `globalThis` before a module is loaded.
 */

interface Bridge {
  /** `undefined` once the call has reached a limit. */
  readonly ask: (operation: string, ...given: readonly string[]) => string | undefined;
  /** Ends a call. For `value`, the text is the result as JSON, or empty if there is none. */
  readonly settle: (id: string, kind: "value" | "threw" | "result", text: string, stack: string) => void;
  /** Creates the function that contains a CommonJS file, inside the engine. */
  readonly compile: (name: string) => (...values: readonly unknown[]) => void;
  /** The exports of an ES module that another module requires. */
  readonly importNow: (name: string) => Readonly<Record<string, unknown>>;
}

const holder = globalThis as { bridge?: Bridge };
const bridge = holder.bridge as Bridge;
const { ask: send } = bridge;
export const { settle, compile, importNow } = bridge;
delete holder.bridge;

// Saved before a module can replace them.
const { parse, stringify } = JSON;
const errors: Readonly<Record<string, new (message: string) => Error>> = { TypeError, RangeError };

/** Asks the host to compute something. Arguments and result are sent as JSON. Throws if the host returns an error. */
export function ask<T>(operation: string, ...given: readonly unknown[]): T {
  const texts: string[] = [];
  for (let at = 0; at < given.length; at++) texts[at] = stringify(given[at]) ?? "null";
  const answer = send(operation, ...texts);
  // The engine looks at the limits in loops, and ends this one. An error could be caught by the code that asked.
  while (answer === undefined);
  const { value, error } = parse(answer) as {
    readonly value?: T;
    readonly error?: { readonly name: string; readonly message: string };
  };
  if (error === undefined) return value as T;
  throw new (errors[error.name] ?? Error)(error.message);
}
