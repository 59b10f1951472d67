/**
 * The calls of the Gmail API and of Pub/Sub that the gateway makes. It only reads; nothing in the mailbox is changed.
 */
import { call, type Tokens } from "./request.ts";

export interface Profile {
  readonly emailAddress: string;
  readonly historyId: string;
}

/** A mail as named in history and lists. Lists contain no labels, and history may not. */
export interface Named {
  readonly id: string;
  readonly threadId?: string;
  readonly labelIds?: readonly string[];
}

export interface HistoryRecord {
  /** Increases, with gaps; a 64-bit number as text. */
  readonly id: string;
  readonly messagesAdded?: readonly { readonly message: Named }[];
  readonly labelsAdded?: readonly { readonly labelIds?: readonly string[]; readonly message: Named }[];
}

export interface Part {
  readonly mimeType?: string;
  readonly filename?: string;
  readonly headers?: readonly { readonly name: string; readonly value: string }[];
  readonly body?: { readonly size?: number; readonly data?: string; readonly attachmentId?: string };
  readonly parts?: readonly Part[];
}

export interface Message extends Named {
  readonly snippet?: string;
  /** Epoch milliseconds as text. */
  readonly internalDate?: string;
  readonly payload?: Part;
}

export interface ReceivedNotice {
  readonly ackId: string;
  readonly message: { readonly data?: string };
}

export interface Api {
  profile(): Promise<Profile>;
  labels(): Promise<readonly { readonly id: string; readonly name: string }[]>;
  /** All pages. `historyId` is the newest record of the mailbox. Rejects with status 404 if `start` is too old. */
  history(
    start: string,
    label: string,
  ): Promise<{ readonly records: readonly HistoryRecord[]; readonly historyId: string }>;
  /** All pages, newest first; `after` is in epoch seconds. */
  messages(label: string, after: number): Promise<readonly Named[]>;
  /** Rejects with status 404 if the mail is gone. */
  message(id: string, format: "full" | "metadata"): Promise<Message>;
  /** The bytes of a part, as base64url. */
  attachment(message: string, id: string): Promise<string>;
  watch(topic: string, label: string): Promise<{ readonly historyId: string; readonly expiration: string }>;
  /** The server holds the call for a limited time. */
  pull(subscription: string): Promise<readonly ReceivedNotice[]>;
  acknowledge(subscription: string, ackIds: readonly string[]): Promise<void>;
}

const pageSize = "500";
const fields = "id,threadId,labelIds,snippet,internalDate,payload";

export function createApi({
  roots,
  mailTokens,
  noticeTokens,
  signal,
}: {
  readonly roots: { readonly gmail: string; readonly pubsub: string };
  readonly mailTokens: Tokens;
  readonly noticeTokens: Tokens;
  readonly signal: AbortSignal;
}): Api {
  const user = `${roots.gmail}/gmail/v1/users/me/`;
  const get = (path: string, query: readonly (readonly [string, string])[] = [], doing = "read the mailbox") =>
    call(mailTokens, `${user}${path}?${new URLSearchParams(query.map(([name, value]) => [name, value]))}`, {
      doing,
      signal,
    });
  const subscribed = (path: string, json: object, timeoutMs: number) =>
    call(noticeTokens, `${roots.pubsub}/v1/${path}`, {
      method: "POST",
      doing: "take notices",
      json,
      timeoutMs,
      signal,
    });

  async function pages<T>(
    path: string,
    query: readonly (readonly [string, string])[],
    take: (page: T) => void,
  ): Promise<void> {
    let next: string | undefined;
    do {
      const page = (await get(path, [...query, ...(next === undefined ? [] : [["pageToken", next] as const])])) as
        | (T & { readonly nextPageToken?: string })
        | undefined;
      if (page !== undefined) take(page);
      next = page?.nextPageToken;
    } while (next !== undefined && next !== "");
  }

  return {
    profile: async () => (await get("profile")) as Profile,
    labels: async () =>
      ((await get("labels")) as { readonly labels?: readonly { id: string; name: string }[] }).labels ?? [],
    async history(start, label) {
      const records: HistoryRecord[] = [];
      let historyId = start;
      const query = [
        ["startHistoryId", start],
        ["historyTypes", "messageAdded"],
        ["historyTypes", "labelAdded"],
        ["labelId", label],
        ["maxResults", pageSize],
      ] as const;
      await pages<{ readonly history?: readonly HistoryRecord[]; readonly historyId?: string }>(
        "history",
        query,
        (page) => {
          records.push(...(page.history ?? []));
          historyId = page.historyId ?? historyId;
        },
      );
      return { records, historyId };
    },
    async messages(label, after) {
      const all: Named[] = [];
      const query = [
        ["labelIds", label],
        ["q", `after:${after}`],
        ["maxResults", pageSize],
      ] as const;
      await pages<{ readonly messages?: readonly Named[] }>("messages", query, ({ messages = [] }) => {
        all.push(...messages);
      });
      return all;
    },
    message: async (id, format) =>
      (await get(`messages/${encodeURIComponent(id)}`, [
        ["format", format],
        ["fields", fields],
      ])) as Message,
    async attachment(message, id) {
      const { data = "" } = (await get(
        `messages/${encodeURIComponent(message)}/attachments/${encodeURIComponent(id)}`,
      )) as {
        readonly data?: string;
      };
      return data;
    },
    watch: async (topicName, label) =>
      (await call(mailTokens, `${user}watch`, {
        method: "POST",
        doing: "announce mail of this mailbox",
        json: { topicName, labelIds: [label], labelFilterBehavior: "include" },
        signal,
      })) as { readonly historyId: string; readonly expiration: string },
    async pull(subscription) {
      const answer = await subscribed(`${subscription}:pull`, { maxMessages: 100 }, 120_000);
      return (answer as { readonly receivedMessages?: readonly ReceivedNotice[] } | undefined)?.receivedMessages ?? [];
    },
    async acknowledge(subscription, ackIds) {
      await subscribed(`${subscription}:acknowledge`, { ackIds }, 30_000);
    },
  };
}
