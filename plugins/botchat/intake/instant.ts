/** A time of the platform in words. */
import type { Json } from "service-gateway/sdk";
import { number } from "./fields.ts";

/** The end of the year 9999. */
const latest = 253_402_300_799;

/** Such as `Fri 2026-11-20 14:09 UTC`, the form of the times in the envelope. `undefined` if it is not a time. */
export function instant(seconds: Json | undefined): string | undefined {
  const at = number(seconds);
  if (at === undefined || at < 0 || at > latest) return undefined;
  const date = new Date(at * 1_000);
  const iso = date.toISOString();
  return `${date.toUTCString().slice(0, 3)} ${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`;
}
