/** Where a configuration names a plugin that is not loaded any more. */
import { isRecord } from "../../../config/checking/validate.ts";
import { getPath, renderPath, type Segment } from "../../../config/path.ts";
import type { InstalledPlugin } from "../../../host/installed.ts";

export function namingPlaces(
  written: unknown,
  { id, channel, sections }: InstalledPlugin["declares"],
): readonly string[] {
  const own = [
    ...(channel === undefined ? [] : [["channels", channel]]),
    ["plugins", "entries", id],
    ...sections.map((section) => section.split(".")),
  ].filter((path) => getPath(written, path) !== undefined);
  const elsewhere = channel === undefined ? [] : textsOf(written).filter(({ key, text }) => isOf(channel, key, text));
  const isOwn = (path: readonly Segment[]) => own.some((one) => one.every((segment, at) => segment === path[at]));
  return [...own, ...elsewhere.map(({ path }) => path).filter((path) => !isOwn(path))].map((path) => renderPath(path));
}

/** A channel is named by a word, such as `target`, or at the beginning of an address, such as `acme-chat:c1`. */
const isOf = (channel: string, key: Segment | undefined, text: string): boolean =>
  text.startsWith(`${channel}:`) || (text === channel && (key === "channel" || key === "target"));

interface Found {
  readonly path: readonly Segment[];
  readonly key: Segment | undefined;
  readonly text: string;
}

function textsOf(value: unknown, path: readonly Segment[] = []): readonly Found[] {
  if (typeof value === "string") return [{ path, key: path.at(-1), text: value }];
  if (Array.isArray(value)) return value.flatMap((one, at) => textsOf(one, [...path, at]));
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => textsOf(inner, [...path, key]));
}
