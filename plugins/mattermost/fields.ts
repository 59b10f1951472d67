/** Reads the server's JSON without relying on its shape. */
import { ChannelError } from "service-gateway/sdk/channel";

export type Fields = Readonly<Record<string, unknown>>;

export const record = (value: unknown): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};

export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const text = (value: unknown): string => (typeof value === "string" ? value : "");

export const number = (value: unknown): number => (typeof value === "number" && Number.isFinite(value) ? value : 0);

/** Ids of users, channels, posts and files look alike. */
export const isId = (value: unknown): value is string => typeof value === "string" && /^[a-z0-9]{26}$/.test(value);

export const id = (value: unknown): string => (isId(value) ? value : "");

/** The id of a message as a part of a path. */
export function checkedId(messageId: string): string {
  if (isId(messageId)) return messageId;
  throw new ChannelError("message_gone", { detail: "The id of a message has 26 small letters and digits" });
}

/** `undefined` for a text that is not JSON. */
export function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
