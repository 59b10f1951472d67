/** Remembers what messages looked like, because an edit that changes nothing needs no turn. */
import { hash } from "node:crypto";
import type { Json } from "service-gateway/sdk";
import type { ChannelAccount } from "service-gateway/sdk/channel";
import type { AccountOptions } from "../options.ts";
import { botIdOf } from "../token.ts";
import { parseContent } from "./content.ts";
import { type Fields, list, record, text } from "./fields.ts";
import type { Version } from "./gathered.ts";
import { createMemory } from "./memory.ts";

/** Number of remembered messages, which may still be edited. */
const remembered = 2_500;
const shortText = 64;
const seenKey = "seen";
/** A character that no text begins with. */
const digestMark = "\u0000";
/** Stored for as long as the platform allows edits. */
const maxSeen = 1_000;
const seenSeconds = 48 * 3_600;

interface Seen {
  readonly update: number;
  readonly looks: string;
}

export interface Looks {
  /** Whether an edit shows nothing new. An edit of a message that is not remembered is treated as a change. */
  changesNothing(
    version: Version,
    at: { readonly chat: string; readonly messageId: string; readonly update: number },
  ): boolean;
  /** Stores the look of messages for the next start. */
  keep(): Promise<void>;
}

export async function openLooks({
  store,
  options,
}: Pick<ChannelAccount<AccountOptions>, "store" | "options">): Promise<Looks> {
  const seen = createMemory<Seen>(remembered);
  const bot = botIdOf(options.botToken ?? "");
  for (const [at, known] of readSeen(await store.get(seenKey), bot)) seen.set(at, known);

  return {
    changesNothing({ kind, message }, { chat, messageId, update }) {
      const at = `${chat} ${messageId}`;
      const looks = looksOf(message);
      const before = seen.get(at);
      // An update that arrives again, because its commit failed, is judged once and never replaces a later version.
      if (before !== undefined && update <= before.update) return false;
      seen.set(at, { update, looks });
      return kind === "edit" && before !== undefined && (before.looks === looks || before.looks === digestOf(looks));
    },
    async keep() {
      const known = seen.newest(maxSeen).map(([at, { update, looks }]) => [at, update, digestOf(looks)]);
      await store.set(seenKey, { bot, known }, { ttlSeconds: seenSeconds });
    },
  };
}

function looksOf(message: Fields): string {
  const written = text(message.text);
  // Most messages are a few words. Their text serves as their look, which costs next to nothing.
  if (written !== undefined && written.length <= shortText && message.entities === undefined) return written;
  const content = parseContent(message);
  const seen = "silent" in content ? null : [content.text, content.media.map((file) => file.uniqueId ?? file.ref)];
  return hash("sha1", JSON.stringify(seen), "base64");
}

/** No message text is stored outside of its event; earlier entries stay unchanged. */
const digestOf = (looks: string): string =>
  looks.startsWith(digestMark) ? looks : `${digestMark}${hash("sha1", looks, "base64")}`;

/** Reads what an earlier process stored for the same bot. Each bot has its own message ids. */
function readSeen(value: Json | null, bot: string): readonly (readonly [at: string, known: Seen])[] {
  const fields = record(value ?? undefined);
  if (fields === undefined || fields.bot !== bot) return [];
  return list(fields.known).flatMap((each) => {
    const [at, update, looks] = list(each);
    return typeof at === "string" && typeof update === "number" && typeof looks === "string"
      ? [[at, { update, looks }] as const]
      : [];
  });
}
