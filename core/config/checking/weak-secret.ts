/** Judges secrets that protect something reachable from outside, wherever they come from. */
import { HostError } from "../../contract/index.ts";
import type { Secrets } from "../secrets.ts";

/** Below this many characters, a secret can be guessed over the network. It is not used. */
const leastLength = 8;
/** With this many random characters from any alphabet, a brute-force attack is impractical. */
const goodLength = 16;
/** With fewer different ones, such as in `aaaaaaaaaaaaaaaa`, even a long secret is among the first guesses. */
const leastDifferent = 4;

const hint = "Use a long random one, such as from `openssl rand -base64 32`.";

export interface SecretFault {
  readonly severity: "error" | "warning";
  readonly message: string;
  readonly hint: string;
}

/** `undefined` for a secret that is long enough. */
export function judgeSecret(secret: string): SecretFault | undefined {
  const { length } = secret.trim();
  const few = [
    ...(length < leastLength ? [`${leastLength} characters`] : []),
    ...(new Set(secret.trim()).size < leastDifferent ? [`${leastDifferent} different characters`] : []),
  ];
  if (few[0] !== undefined) return { severity: "error", message: `has fewer than ${few[0]}, so it is not used`, hint };
  return length < goodLength
    ? { severity: "warning", message: `has fewer than ${goodLength} characters, so it can be guessed`, hint }
    : undefined;
}

/** Whether a message of a problem is one of `judgeSecret`. */
export const isSecretFault = (message: string): boolean =>
  /^has fewer than \d+ (?:different )?characters, so it /.test(message);

/** The text of a secret that guards a door. Throws `secret_weak` if it can be guessed, and what `resolve` throws. */
export function resolveGuard(secrets: Secrets, value: unknown, path: string): string {
  const secret = secrets.resolve(value, path);
  const fault = judgeSecret(secret);
  if (fault?.severity === "error") throw new HostError("secret_weak", { path, reason: fault.message, fix: fault.hint });
  return secret;
}
