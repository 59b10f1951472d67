/** Fields of JSON from outside, whose form is not known. */
import type { Json } from "service-gateway/sdk";
import { ChannelError } from "service-gateway/sdk/channel";

export type Fields = Readonly<Record<string, unknown>>;

export const record = (value: unknown): Fields | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;

export const text = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The objects of a list. */
export const records = (value: unknown): readonly Fields[] =>
  list(value).flatMap((one) => record(one) ?? []) as Fields[];

/** The named fields that are there. */
export const pick = (from: Fields, names: readonly string[]): Record<string, Json> =>
  Object.fromEntries(names.flatMap((name) => (from[name] === undefined ? [] : [[name, from[name] as Json]])));

/** A message's id is the time at which Slack received it, in seconds with six decimals. */
export const isTimestamp = (value: unknown): value is string =>
  typeof value === "string" && /^\d{9,11}\.\d{6}$/.test(value);

export const idPattern = "[UWB][A-Z0-9]{2,}";
export const channelPattern = "[CG][A-Z0-9]{2,}";

/** The id of the message that a call has made. */
export function messageIdOf(answer: Fields, call: string): string {
  const ts = answer.ts ?? answer.message_ts;
  if (isTimestamp(ts)) return ts;
  throw new ChannelError("bad_answer", { fate: "unknown", detail: `${call}: the answer names no message` });
}
