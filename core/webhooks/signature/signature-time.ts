/** Reads the time of a signature and checks that it is close enough to now. */
import type { IncomingHttpHeaders } from "node:http";
import { readMember } from "./challenge.ts";
import type { SignatureScheme } from "./schemes.ts";

/** The time as signed; `undefined` if the scheme has none or has it in the body. Empty if it is missing. */
export function readTimestamp({ timestamp }: SignatureScheme, headers: IncomingHttpHeaders, items: readonly string[]): string | undefined {
  if (timestamp === undefined || "member" in timestamp) return undefined;
  if ("header" in timestamp) {
    const value = headers[timestamp.header];
    return typeof value === "string" ? value : "";
  }
  const found = items.filter((item) => item.startsWith(`${timestamp.field}=`));
  return found.length === 1 ? (found[0] ?? "").slice(timestamp.field.length + 1) : "";
}

/** Why the time is too far from now, or `undefined`. A difference of exactly the tolerance is accepted. */
export function judgeAge(
  text: string,
  { now, tolerance, unit }: { readonly now: number; readonly tolerance: number; readonly unit: "seconds" | "milliseconds" },
): string | undefined {
  if (!/^[1-9][0-9]{0,14}$/.test(text)) return "the time of the signature is missing, or is not a whole number";
  const age = unit === "seconds" ? Math.floor(now / 1_000) - Number(text) : (now - Number(text)) / 1_000;
  if (age > tolerance) return `the signature is ${Math.ceil(age)} s old, and ${tolerance} s are allowed`;
  if (age < -tolerance) return `the signature is ${Math.ceil(-age)} s in the future, and ${tolerance} s are allowed`;
  return age >= -tolerance && age <= tolerance ? undefined : "the gateway's clock is not available";
}

export function judgeMember(
  { timestamp }: SignatureScheme,
  { body, now, tolerance }: { readonly body: Buffer; readonly now: number; readonly tolerance: number },
): string | undefined {
  if (timestamp === undefined || !("member" in timestamp)) return undefined;
  const value = readMember(body, [timestamp.member]);
  return judgeAge(typeof value === "number" ? String(value) : "", { now, tolerance, unit: timestamp.unit });
}
