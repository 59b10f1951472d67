/** Places of the configuration that name a channel by its platform, with what to write there instead. */
import { channelMeant, type NamedChannel } from "../access/index.ts";
import { type Problem, renderPath, type Segment } from "../config/index.ts";
import { programCommand } from "../contract/index.ts";

export interface MisnamedChannel {
  readonly path: readonly Segment[];
  readonly explanation: string;
  /** The last key of the path is the name, not its value. */
  readonly isKey?: true;
  /** What to write in place of the name. */
  readonly write: string;
}

/** Where the configuration names a channel; `*` is each entry. */
const words: readonly Pattern[] = [
  ["bindings", "*", "match", "channel"],
  ["hooks", "mappings", "*", "channel"],
  ["hooks", "*", "channel"],
  ["agents", "defaults", "heartbeat", "target"],
  ["agents", "list", "*", "heartbeat", "target"],
];
/** Where it names a channel and a chat, such as `telegram:42`. */
const places: readonly Pattern[] = [
  // Entries in the sections of plugins.
  ["*", "*", "to"],
  ["agents", "defaults", "tools", "approveAt"],
  ["agents", "list", "*", "tools", "approveAt"],
];

type Pattern = readonly string[];

interface Found {
  readonly path: readonly Segment[];
  readonly text: string;
}

/** The texts at the places that match the pattern. */
function textsAt(value: unknown, [key, ...rest]: Pattern, path: readonly Segment[] = []): readonly Found[] {
  if (key === undefined) return typeof value === "string" ? [{ path, text: value }] : [];
  if (typeof value !== "object" || value === null) return [];
  const keys: readonly Segment[] = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  return keys
    .filter((each) => key === "*" || each === key)
    .flatMap((each) => textsAt((value as Readonly<Record<Segment, unknown>>)[each], rest, [...path, each]));
}

export function misnamedChannels(config: unknown, channels: readonly NamedChannel[]): readonly MisnamedChannel[] {
  const keys = Object.keys((config as { readonly channels?: object } | null)?.channels ?? {}).flatMap(
    (key): readonly MisnamedChannel[] => {
      const meant = channelMeant(key, channels);
      return meant === undefined
        ? []
        : [{ path: ["channels", key], explanation: meant.explanation, isKey: true, write: meant.id }];
    },
  );
  const find = ({ path, text }: Found, rest = ""): readonly MisnamedChannel[] => {
    const meant = channelMeant(text, channels);
    return meant === undefined ? [] : [{ path, explanation: meant.explanation, write: `${meant.id}${rest}` }];
  };
  const named = words.flatMap((pattern) => textsAt(config, pattern).flatMap((found) => find(found)));
  const placed = places.flatMap((pattern) =>
    textsAt(config, pattern).flatMap(({ path, text }) => {
      const end = text.indexOf(":");
      return end === -1 ? [] : find({ path, text: text.slice(0, end) }, text.slice(end));
    }),
  );
  return [...keys, ...named, ...placed];
}

/** The problems, each in place of one that another check found in the same place. */
export function withMisnamed(
  config: unknown,
  channels: readonly NamedChannel[],
  others: readonly Problem[],
): readonly Problem[] {
  const found = misnamedChannels(config, channels).map(({ path, explanation, isKey, write }): Problem => {
    const at = renderPath(path);
    const section = isKey ? at : others.find((other) => other.path === at)?.section;
    const hint =
      `${isKey ? `Rename it to ${write}` : `Write ${JSON.stringify(write)}`}; ` +
      `\`${programCommand} doctor --fix\` does it.`;
    return { severity: "error", path: at, message: explanation, hint, section };
  });
  return [...others.filter((other) => !found.some(({ path }) => path === other.path)), ...found];
}
