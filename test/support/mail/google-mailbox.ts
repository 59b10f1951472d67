/**
 * The Gmail API of the stand-in for Google: one mailbox with its history, which may be late, shuffled, cut into pages
 * or forgotten.
 */
import { allowOnly, type Call, type Reply, readJson, refuse } from "./google-http.ts";

export interface Letter {
  readonly subject: string;
  readonly body?: string;
  readonly from?: string;
  readonly labels?: readonly string[];
  readonly headers?: readonly { readonly name: string; readonly value: string }[];
  /** In place of a body: the parsed tree, as the API gives it. */
  readonly payload?: object;
  /** Bytes of parts that are only named in the tree, by their attachment id. */
  readonly parts?: Readonly<Record<string, Buffer>>;
  /** How many looks at the history go by before its record is listed. */
  readonly late?: number;
  /** When it came, epoch milliseconds. */
  readonly at?: number;
}

interface Stored {
  readonly id: string;
  readonly at: number;
  readonly letter: Letter;
  labels: string[];
}

interface Entry {
  readonly id: bigint;
  readonly message: Stored;
  readonly added?: readonly string[];
  late: number;
}

const names: readonly { readonly id: string; readonly name: string; readonly type: string }[] = [
  ...["INBOX", "SENT", "DRAFT", "SPAM", "TRASH", "STARRED", "UNREAD"].map((id) => ({ id, name: id, type: "system" })),
  { id: "Label_7", name: "Orders", type: "user" },
];

export function createMailbox(
  address: string,
  {
    onChange,
    mayWatch,
  }: { readonly onChange: (historyId: string, topic: string) => void; readonly mayWatch: (topic: string) => boolean },
) {
  let historyId = 10_000n;
  let forgottenUntil = 0n;
  /** Where changes are announced; absent: no order was given. */
  let announcedTo: string | undefined;
  const stored = new Map<string, Stored>();
  const entries: Entry[] = [];
  const faults = {
    /** Most records on a page. */
    pageSize: 500,
    isShuffled: false,
    /** How long an order of notices lasts. */
    watchMs: 7 * 86_400_000,
  };

  function change(
    message: Stored,
    { added, late = 0 }: { readonly added?: readonly string[]; readonly late?: number } = {},
  ): void {
    // Other changes lie between two records.
    historyId += 7n;
    entries.push({ id: historyId, message, late, ...(added === undefined ? {} : { added }) });
    historyId += 2n;
    if (announcedTo !== undefined) onChange(String(historyId), announcedTo);
  }

  const named = ({ id, labels }: Stored) => ({ id, threadId: `t${id}`, labelIds: [...labels] });

  function history({ query }: Call): Reply {
    allowOnly(query, ["startHistoryId", "historyTypes", "labelId", "maxResults", "pageToken"]);
    const start = query.get("startHistoryId") ?? "";
    const types = query.getAll("historyTypes");
    if (
      !/^\d+$/.test(start) ||
      types.some((type) => !["messageAdded", "labelAdded"].includes(type)) ||
      Number(query.get("maxResults")) > 500
    )
      refuse(400, "INVALID_ARGUMENT", { reason: "invalidArgument" });
    if (BigInt(start) < forgottenUntil) refuse(404, "NOT_FOUND", { reason: "notFound" });
    const label = query.get("labelId");
    const isListed = ({ id, message }: Entry) =>
      id > BigInt(start) && (label === null || message.labels.includes(label));
    const listed = entries.filter((entry) => isListed(entry) && entry.late === 0);
    const from = Number(query.get("pageToken") ?? 0);
    const page = listed.slice(from, from + faults.pageSize);
    if (faults.isShuffled) page.reverse().sort((a, b) => Number(a.id % 5n) - Number(b.id % 5n));
    const isLast = from + faults.pageSize >= listed.length;
    if (isLast) for (const entry of entries) entry.late = Math.max(0, entry.late - 1);
    const records = page.map(({ id, message, added }) => ({
      id: String(id),
      messages: [{ id: message.id, threadId: `t${message.id}` }],
      ...(added === undefined
        ? { messagesAdded: [{ message: named(message) }] }
        : { labelsAdded: [{ message: named(message), labelIds: added }] }),
    }));
    return {
      body: {
        ...(records.length === 0 ? {} : { history: records }),
        ...(isLast ? {} : { nextPageToken: String(from + faults.pageSize) }),
        historyId: String(historyId),
      },
    };
  }

  function list({ query }: Call): Reply {
    allowOnly(query, ["labelIds", "q", "maxResults", "pageToken"]);
    const after = Number(/^after:(\d+)$/.exec(query.get("q") ?? "")?.[1] ?? 0);
    const labels = query.getAll("labelIds");
    const hidden = (message: Stored) => message.labels.includes("SPAM") || message.labels.includes("TRASH");
    const found = [...stored.values()]
      .filter(
        (message) =>
          message.at / 1_000 > after && labels.every((label) => message.labels.includes(label)) && !hidden(message),
      )
      .reverse();
    const from = Number(query.get("pageToken") ?? 0);
    const isLast = from + faults.pageSize >= found.length;
    return {
      body: {
        messages: found.slice(from, from + faults.pageSize).map(({ id }) => ({ id, threadId: `t${id}` })),
        ...(isLast ? {} : { nextPageToken: String(from + faults.pageSize) }),
        resultSizeEstimate: found.length,
      },
    };
  }

  function message(id: string, query: URLSearchParams): Reply {
    allowOnly(query, ["format", "fields"]);
    const found = stored.get(id) ?? refuse(404, "NOT_FOUND", { reason: "notFound" });
    const { subject, body = "", from = "Grace Hopper <grace@example.org>", headers = [], payload } = found.letter;
    const all = [
      ...headers,
      { name: "From", value: from },
      { name: "To", value: address },
      { name: "Subject", value: subject },
      { name: "Message-ID", value: `<${id}@example.org>` },
    ];
    const text = {
      mimeType: "text/plain",
      filename: "",
      headers: [],
      body: { size: body.length, data: Buffer.from(body).toString("base64url") },
    };
    const { headers: more = [], ...tree } = (payload ?? text) as { readonly headers?: readonly object[] };
    const shown = query.get("format") === "metadata" ? {} : tree;
    return {
      body: {
        ...named(found),
        snippet: body.slice(0, 100).replaceAll("&", "&amp;").replaceAll("'", "&#39;"),
        internalDate: String(found.at),
        payload: { mimeType: "text/plain", ...shown, headers: [...all, ...more] },
      },
    };
  }

  function watch(body: string): Reply {
    const { topicName, labelIds, labelFilterBehavior } = readJson(body);
    if (typeof topicName !== "string" || !Array.isArray(labelIds) || labelFilterBehavior !== "include")
      refuse(400, "INVALID_ARGUMENT");
    if (!mayWatch(String(topicName))) refuse(403, "PERMISSION_DENIED", { reason: "forbidden" });
    announcedTo = String(topicName);
    return { body: { historyId: String(historyId), expiration: String(Date.now() + faults.watchMs) } };
  }

  return {
    faults,
    historyId: () => String(historyId),
    deliver(letter: Letter): string {
      const id = (0x18c000 + stored.size).toString(16);
      const one: Stored = {
        id,
        at: letter.at ?? Date.now(),
        letter,
        labels: [...(letter.labels ?? ["INBOX", "UNREAD"])],
      };
      stored.set(id, one);
      change(one, letter.late === undefined ? {} : { late: letter.late });
      return id;
    },
    addLabel(id: string, label: string, { without = [] }: { readonly without?: readonly string[] } = {}): void {
      const found = stored.get(id);
      if (found === undefined) return;
      found.labels = [...found.labels.filter((one) => !without.includes(one)), label];
      change(found, { added: [label] });
    },
    remove: (id: string) => stored.delete(id),
    /** Something changes that is no mail, such as a mark. */
    touch() {
      historyId += 3n;
      if (announcedTo !== undefined) onChange(String(historyId), announcedTo);
    },
    /** Every record is listed from now on. */
    reveal() {
      for (const entry of entries) entry.late = 0;
    },
    /** Older history is gone. */
    forget() {
      historyId += 1n;
      forgottenUntil = historyId;
    },
    handle(call: Call, path: string): Reply {
      const { method, query } = call;
      if (method === "POST" && path === "watch") return watch(call.body);
      if (method === "POST" && path === "stop") {
        announcedTo = undefined;
        return { status: 204 };
      }
      if (method !== "GET") return refuse(404, "NOT_FOUND");
      if (path === "profile")
        return { body: { emailAddress: address, messagesTotal: stored.size, historyId: String(historyId) } };
      if (path === "labels") return { body: { labels: names } };
      if (path === "history") return history(call);
      if (path === "messages") return list(call);
      const attachment = /^messages\/([^/]+)\/attachments\/([^/]+)$/.exec(path);
      const part =
        attachment === null ? undefined : stored.get(attachment[1] ?? "")?.letter.parts?.[attachment[2] ?? ""];
      if (part !== undefined) return { body: { size: part.length, data: part.toString("base64url") } };
      const one = /^messages\/([^/]+)$/.exec(path)?.[1];
      return one === undefined ? refuse(404, "NOT_FOUND") : message(one, query);
    },
  };
}
