/** Reads the time of a signature and checks that it is close enough to now. */
import { readMember } from "./challenge.ts";
import type { SignatureScheme, TimeFormat } from "./schemes.ts";

/** Why a time is not accepted. `format`: the one that the time seems to have instead. */
export interface TimeFault {
  readonly reason: string;
  readonly format?: TimeFormat;
}

interface TimeCheck {
  readonly now: number;
  readonly tolerance: number;
  /** Never guessed from the time: in a text without separators, its length decides where the next part begins. */
  readonly format: TimeFormat;
}

const words: Readonly<Record<TimeFormat, string>> = {
  seconds: "seconds",
  milliseconds: "milliseconds",
  rfc3339: "RFC 3339",
};
const rfc3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/;
const yearSeconds = 366 * 86_400;

/** The age in seconds; `NaN` if the text does not have this format. */
function ageOf(text: string, { now, format }: Omit<TimeCheck, "tolerance">): number {
  if (format === "rfc3339") return rfc3339.test(text) ? (now - Date.parse(text)) / 1_000 : Number.NaN;
  if (!/^[1-9][0-9]{0,14}$/.test(text)) return Number.NaN;
  return format === "seconds" ? Math.floor(now / 1_000) - Number(text) : (now - Number(text)) / 1_000;
}

/** Why the time is too far from now, or `undefined`. A difference of exactly the tolerance is accepted. */
export function judgeAge(text: string, { now, tolerance, format }: TimeCheck): TimeFault | undefined {
  const age = ageOf(text, { now, format });
  if (age >= -tolerance && age <= tolerance) return undefined;
  const other = (Object.keys(words) as TimeFormat[]).find(
    (one) => one !== format && Math.abs(ageOf(text, { now, format: one })) <= yearSeconds,
  );
  if (other !== undefined)
    return { reason: `its time is in ${words[other]}, and ${words[format]} are expected`, format: other };
  const wanted = format === "rfc3339" ? "a time as in RFC 3339, such as 2026-12-31T18:00:00Z" : "a whole number";
  if (!Number.isFinite(now)) return { reason: "the gateway's clock is not available" };
  if (Number.isNaN(age)) return { reason: `the time of the signature is missing, or is not ${wanted}` };
  if (age > tolerance) return { reason: `the signature is ${Math.ceil(age)} s old, and ${tolerance} s are allowed` };
  return { reason: `the signature is ${Math.ceil(-age)} s in the future, and ${tolerance} s are allowed` };
}

/** The same for a time that is a member of the signed body. */
export function judgeMember(
  { timestamp, timeFormat = "seconds" }: SignatureScheme,
  { body, now, tolerance }: { readonly body: Buffer; readonly now: number; readonly tolerance: number },
): TimeFault | undefined {
  if (timestamp === undefined || !("member" in timestamp)) return undefined;
  const value = readMember(body, [timestamp.member]);
  return judgeAge(typeof value === "number" ? String(value) : "", { now, tolerance, format: timeFormat });
}

/** Renders a time for `hooks send --sign`. */
export function renderTime(now: number, format: TimeFormat): string {
  if (format === "rfc3339") return new Date(now).toISOString();
  return String(format === "milliseconds" ? Math.floor(now) : Math.floor(now / 1_000));
}
