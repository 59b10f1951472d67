/** One-use codes that sign a browser in. They are in memory only: a restart makes them void. */
import { hash, randomBytes } from "node:crypto";
import type { Role } from "./roles.ts";

/** How long a code is valid, in milliseconds. */
export const linkLifetimeMs = 60_000;
const codeBytes = 16;
/** The oldest one gives way. */
const mostOpen = 20;

export interface Links {
  /** A code for a session with this role. */
  make(role: Role): string;
  /** The role of a code, which is used up by this; `undefined` if it is wrong, used or too old. */
  take(code: string): Role | undefined;
}

/** `elapsed`: a monotonic clock, in milliseconds. */
export function createLinks(elapsed: () => number): Links {
  const open = new Map<string, { readonly role: Role; readonly until: number }>();
  // A look-up by the digest takes a time that says nothing about the code.
  const keyOf = (code: string) => hash("sha256", code);
  return {
    make(role) {
      const code = randomBytes(codeBytes).toString("base64url");
      const [oldest] = open.keys();
      if (open.size >= mostOpen && oldest !== undefined) open.delete(oldest);
      open.set(keyOf(code), { role, until: elapsed() + linkLifetimeMs });
      return code;
    },
    take(code) {
      const key = keyOf(code);
      const found = open.get(key);
      open.delete(key);
      return found !== undefined && elapsed() < found.until ? found.role : undefined;
    },
  };
}
