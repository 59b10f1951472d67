/** Descriptions of stickers. A model creates each once; all accounts share the file that stores them. */
import { randomBytes } from "node:crypto";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { InboundMedia, Json } from "service-gateway/sdk";
import type { MediaFound } from "service-gateway/sdk/channel";
import { type Fields, record, text } from "./intake/fields.ts";
import { findStickers } from "./sticker-search.ts";

/** Maximum number of stickers; the oldest are removed. */
const mostStickers = 5_000;
/** How long to wait, in milliseconds, before describing a sticker again that no model could describe. */
const notAgainMs = 60 * 60_000;

interface KnownSticker {
  /** Empty until a model has described the sticker. Until then it is found by its emoji and its set. */
  readonly description: string;
  readonly emoji?: string;
  readonly setName?: string;
  /** The file id with which each bot can send the sticker, by bot id. */
  readonly fileIds: Readonly<Record<string, string>>;
}

export interface Stickers {
  /** The description of a sticker: from the file, otherwise from `ask`, whose result is stored. */
  describe(sticker: InboundMedia, ask: () => Promise<string | undefined>): Promise<string | undefined>;
  /** The matching stickers in the file that this bot can send. */
  search(query: string, limit: number): readonly MediaFound[];
}

function parseSticker(value: Json | undefined): KnownSticker | undefined {
  const fields = record(value);
  if (fields === undefined) return undefined;
  const description = text(fields.description) ?? "";
  const emoji = text(fields.emoji);
  const setName = text(fields.setName);
  const ids = Object.entries(record(fields.fileIds) ?? {}).filter(
    (each): each is [string, string] => typeof each[1] === "string",
  );
  return { description, ...(emoji && { emoji }), ...(setName && { setName }), fileIds: Object.fromEntries(ids) };
}

export function createStickers(options: {
  readonly directory: string;
  readonly botId: string;
  readonly now: () => number;
}): Stickers {
  const file = join(options.directory, "sticker-cache.json");
  const failed = new Map<string, number>();

  /**
   * Reads the file. It may have been edited, or left incomplete by a killed process; an unreadable file is replaced.
   */
  function read(): Fields {
    try {
      return record(record(JSON.parse(readFileSync(file, "utf8")) as Json)?.stickers) ?? {};
    } catch {
      return {};
    }
  }

  /** Reads and writes the file without interruption, because the accounts of a process share it. */
  function keep(uniqueId: string, sticker: KnownSticker): void {
    const { [uniqueId]: _before, ...others } = read();
    const newest = Object.entries(others).slice(-(mostStickers - 1));
    const stickers = Object.fromEntries([...newest, [uniqueId, sticker]]);
    const temporary = `${file}.${randomBytes(6).toString("hex")}`;
    try {
      writeFileSync(temporary, `${JSON.stringify({ version: 1, stickers }, null, 2)}\n`, {
        mode: 0o600,
        flag: "wx",
        flush: true,
      });
      renameSync(temporary, file);
    } catch {
      // If the file cannot be written, the sticker is described again later. The message is not affected.
      rmSync(temporary, { force: true });
    }
  }

  function lookup(uniqueId: string): KnownSticker | undefined {
    const stickers = read();
    return Object.hasOwn(stickers, uniqueId) ? parseSticker(stickers[uniqueId]) : undefined;
  }

  return {
    search(query, limit) {
      const known = Object.values(read()).flatMap((value): readonly MediaFound[] => {
        const sticker = parseSticker(value);
        if (sticker === undefined || !Object.hasOwn(sticker.fileIds, options.botId)) return [];
        const { fileIds, ...facts } = sticker;
        return [{ ...facts, ref: fileIds[options.botId] ?? "" }];
      });
      return findStickers(known, query, limit);
    },
    async describe({ uniqueId, ref, sticker }, ask) {
      if (uniqueId === undefined) return undefined;
      const known = lookup(uniqueId);
      const now = options.now();
      const isKnown = known !== undefined && known.description !== "";
      if (!isKnown && now < (failed.get(uniqueId) ?? 0)) return undefined;
      const description = isKnown ? known.description : ((await ask()) ?? "");
      if (description === "") {
        if (failed.size >= mostStickers) failed.clear();
        failed.set(uniqueId, now + notAgainMs);
      }
      const { emoji, setName } = sticker ?? {};
      if (description === "" && emoji === undefined && setName === undefined) return undefined;
      const same = known?.fileIds[options.botId] === ref && known.emoji === emoji && known.setName === setName;
      const fileIds = { ...known?.fileIds, [options.botId]: ref };
      if (!same) keep(uniqueId, { description, ...(emoji && { emoji }), ...(setName && { setName }), fileIds });
      return description === "" ? undefined : description;
    },
  };
}
