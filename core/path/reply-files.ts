/**
 * Files of a reply that another node may have to send. Small ones are stored with the reply; a larger one binds the
 * reply to this node. A gateway that has its store to itself stores none.
 */
import { randomBytes } from "node:crypto";
import { access, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { extname, join } from "node:path";
import type { Address, Json, Reply } from "../contract/index.ts";
import type { OutboxRow, Store } from "../state/index.ts";

const namespace = "reply-files";
/** Larger files are not stored, in bytes. */
const mostStored = 1_048_576;
/** Longer than an event may wait. */
const keepMs = 8 * 24 * 60 * 60_000;

/** A file as its node knows it. */
interface StoredFile {
  readonly path: string;
  readonly node: string;
  /** In base64; absent if the file is too large. */
  readonly data?: string;
}

export interface ReplyFiles {
  /** Call it before the reply is in the outbox. */
  keep(unitId: string, reply: Pick<Reply, "media">): Promise<StoredFiles>;
  /** The rows that an earlier process left, with paths of this node. */
  restore(unitId: string, rows: readonly OutboxRow[]): Promise<RestoredRows>;
  /** Removes what `keep` has stored, once the reply has been sent. What cannot be removed expires. */
  forget(files: StoredFiles | undefined): Promise<void>;
}

/** What the store has of the files of a reply. */
export interface StoredFiles {
  readonly keys: readonly string[];
  /** Only this node has all of them, so it sends the reply itself. */
  readonly bound: boolean;
}

export interface RestoredRows extends StoredFiles {
  readonly rows: readonly OutboxRow[];
  /** Rows that cannot be sent, with the node that has their files. */
  readonly lost: readonly { readonly row: OutboxRow; readonly node: string }[];
}

const none: StoredFiles = { keys: [], bound: false };

export function createReplyFiles({
  store,
  stateDirectory,
  now,
}: {
  readonly store: Pick<Store, "nodes" | "set" | "list" | "delete">;
  readonly stateDirectory: string;
  readonly now: () => number;
}): ReplyFiles {
  const { nodes } = store;
  if (nodes === undefined)
    return { keep: async () => none, restore: async (_, rows) => ({ rows, lost: [], ...none }), async forget() {} };

  async function keepFile(key: string, path: string): Promise<StoredFile> {
    // A file that is gone is reported by the channel that is to send it.
    const size = await stat(path).then(
      (found) => found.size,
      () => 0,
    );
    const data =
      size < mostStored ? { data: (await readFile(path).catch(() => Buffer.alloc(0))).toString("base64") } : {};
    const storedFile: StoredFile = { path, node: nodes?.name ?? "", ...data };
    await store.set(namespace, key, storedFile as unknown as Json, { expiresAt: now() + keepMs, durable: true });
    return storedFile;
  }

  async function isHere({ node, path }: StoredFile): Promise<boolean> {
    if (node !== nodes?.name) return false;
    return await access(path).then(
      () => true,
      () => false,
    );
  }

  /** Where a stored file is on this node: where it was, or in a copy. */
  async function place(file: StoredFile & { readonly data: string }, { channel, account }: Address): Promise<string> {
    if (await isHere(file)) return file.path;
    // The directory of message files, which are removed after seven days.
    const directory = join(stateDirectory, channel, account, "media");
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const copy = join(directory, `${randomBytes(16).toString("hex")}${extname(file.path)}`);
    await writeFile(copy, Buffer.from(file.data, "base64"), { mode: 0o600, flag: "wx" });
    return copy;
  }

  async function restoreRow(
    row: OutboxRow,
    files: readonly StoredFile[],
  ): Promise<{ readonly row: OutboxRow } | { readonly node: string }> {
    let { body } = row.part;
    for (const file of files.filter(({ path }) => contains(body, path))) {
      if (file.data !== undefined)
        body = replaced(body, file.path, await place({ ...file, data: file.data }, row.address));
      else if (file.node !== nodes?.name) return { node: file.node };
    }
    return { row: body === row.part.body ? row : { ...row, part: { ...row.part, body } } };
  }

  return {
    async keep(unitId, { media }) {
      const paths = [...new Set(media.flatMap(({ path }) => path ?? []))];
      const keys = paths.map((_, index) => `${unitId}:${index}`);
      const storedFiles = await Promise.all(paths.map((path, index) => keepFile(keys[index] ?? "", path)));
      const bound = storedFiles.some(({ data }) => data === undefined);
      if (bound) await nodes.bindUnit(unitId);
      return { keys, bound };
    },
    async restore(unitId, rows) {
      const found = await store.list(namespace, { prefix: `${unitId}:` });
      const files = found.map(({ value }) => value as unknown as StoredFile);
      const restored = await Promise.all(rows.map(async (row) => ({ row, result: await restoreRow(row, files) })));
      return {
        rows: restored.flatMap(({ result }) => ("row" in result ? result.row : [])),
        lost: restored.flatMap(({ row, result }) => ("row" in result ? [] : { row, node: result.node })),
        keys: found.map(({ key }) => key),
        bound: files.some(({ data, node }) => data === undefined && node === nodes.name),
      };
    },
    async forget({ keys } = none) {
      await Promise.all(keys.map((key) => store.delete(namespace, key))).catch(() => {});
    },
  };
}

/** Whether a value of the channel's own body is this text. */
function contains(value: Json, text: string): boolean {
  if (typeof value !== "object" || value === null) return value === text;
  return Object.values(value).some((each) => contains(each as Json, text));
}

function replaced(value: Json, from: string, to: string): Json {
  if (typeof value !== "object" || value === null) return value === from ? to : value;
  if (Array.isArray(value)) return value.map((each) => replaced(each, from, to));
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, replaced(each as Json, from, to)]));
}
