/**
 * Tools that add to the reply of their own turn: files and buttons. They send nothing. What they add waits in the visit
 * until the turn has ended, so a turn that is stopped or run again leaves nothing behind. Calls of one step run in
 * parallel: what they add is in the order in which the model called, whichever ends first.
 */
import type { OwnTool } from "../agents/index.ts";
import type { LiveAccount } from "../channels/index.ts";
import type { Inbound, Json, OutboundMedia, Reply, Route } from "../contract/index.ts";
import { type ReplyAdditions, replyAdditions, type Visit } from "../stations/index.ts";
import { checkButtons, type Gated } from "./gates.ts";
import { invalid, readButtons } from "./read.ts";
import { chatKindOf } from "./recipients.ts";
import { type ActionRefusal, isRefusal, refuse } from "./result.ts";
import { buttonRows } from "./schema.ts";

/** A file that cannot be sent: a code and a sentence for the agent, and what the reader is shown in its place. */
interface Refused {
  readonly code: string;
  readonly reason: string;
  readonly note: string;
}

export interface ReplyToolsOptions {
  readonly account: (channel: string, account: string) => LiveAccount | undefined;
  /** Fetches, checks and stores the files of a reply. */
  readonly complete: (
    reply: Reply,
    route: Route,
    signal: AbortSignal,
  ) => Promise<{ readonly reply: Reply; readonly refused: readonly Refused[] }>;
}

const kinds = ["voice", "round-video", "sticker"] as const;
/** The most that one reply takes. */
const mostFiles = 20;
const longestCaption = 10_000;

const attachTool: Omit<OwnTool, "run"> = {
  name: "attach",
  // It changes nothing but the reply, so a turn that is run again calls it again.
  readOnly: true,
  description:
    "Adds a file to your reply: a path in the workspace, or a public http(s) address. Once for each file, " +
    "before you answer.",
  parameters: {
    type: "object",
    properties: {
      path: { type: "string", description: "A file in the workspace." },
      url: { type: "string", description: "A public address, in place of path." },
      as: {
        type: "string",
        enum: [...kinds],
        description: "Shows it as that, where the platform can. Default: by its type.",
      },
      caption: { type: "string", description: "Words for the file. They follow the text of your reply." },
    },
    additionalProperties: false,
  },
};

const buttonsTool: Omit<OwnTool, "run"> = {
  name: "buttons",
  readOnly: true,
  description:
    "Puts buttons below your reply. A press arrives as the message `callback_data: <value>`. A second call " +
    "replaces the first.",
  parameters: {
    type: "object",
    properties: { rows: { ...(buttonRows as object), description: "Rows of buttons. []: none." } },
    required: ["rows"],
    additionalProperties: false,
  },
};

interface AttachCall {
  readonly route: Route;
  readonly visit: Visit;
  readonly signal: AbortSignal;
  /** The position of the call among those of the turn. */
  readonly order: number;
}

interface Attaching {
  readonly media: OutboundMedia;
  readonly caption?: string;
}

/** A value that models write for "not given". */
const isBlank = (value: Json | undefined): boolean => value === undefined || value === null || value === "";

function readAttach(args: Json): Attaching | ActionRefusal {
  if (typeof args !== "object" || args === null || Array.isArray(args))
    return invalid("attach takes an object of parameters.");
  const given = Object.entries(args as { readonly [name: string]: Json }).filter(([, value]) => !isBlank(value));
  const unknown = given.find(([name]) => !["path", "url", "as", "caption"].includes(name));
  if (unknown !== undefined)
    return invalid(
      `"${unknown[0].slice(0, 64)}" is not a parameter of attach. Its parameters: path, url, as, caption.`,
    );
  const notText = given.find(([, value]) => typeof value !== "string");
  if (notText !== undefined) return invalid(`${notText[0]} must be a text.`);
  const { path, url, as, caption } = Object.fromEntries(given) as { readonly [name: string]: string | undefined };
  if ((path === undefined) === (url === undefined)) return invalid("attach needs either path or url.");
  const kind = kinds.find((one) => one === as);
  if (as !== undefined && kind === undefined) return invalid(`as must be ${kinds.join(", ")}.`);
  if (caption !== undefined && caption.length > longestCaption)
    return invalid(`caption has ${caption.length} characters, at most ${longestCaption}.`);
  const where = (url ?? path ?? "").trim();
  // Models often give an address as a path.
  const media = /^[a-z][a-z0-9+.-]*:\/\//i.test(where) ? { url: where } : { path: where };
  return {
    media: { ...media, ...(kind === undefined ? {} : { as: kind }) },
    ...(caption === undefined ? {} : { caption: caption.trim() }),
  };
}

const nothing: ReplyAdditions = { files: [] };

type AttachedFile = ReplyAdditions["files"][number];

function withFile({ files, refused, ...rest }: ReplyAdditions, file: AttachedFile): ReplyAdditions {
  const isOutdated = refused !== undefined && refused.order < file.order;
  return {
    ...rest,
    files: [...files, file].sort((one, other) => one.order - other.order),
    ...(isOutdated ? {} : { refused }),
  };
}

function withRefused(before: ReplyAdditions, refused: NonNullable<ReplyAdditions["refused"]>): ReplyAdditions {
  const isOutdated = [before.refused, before.files.at(-1)].some(
    (other) => other !== undefined && other.order > refused.order,
  );
  return isOutdated ? before : { ...before, refused };
}

export function createReplyTools({
  account,
  complete,
}: ReplyToolsOptions): (inbound: Inbound, route: Route, visit: Visit) => readonly OwnTool[] {
  async function attach(args: Json, { route, visit, signal, order }: AttachCall) {
    const call = readAttach(args);
    if (isRefusal(call)) return call;
    const isFull = () => (visit.get(replyAdditions)?.files.length ?? 0) >= mostFiles;
    const tooMany = refuse("too_many_files", `The reply has ${mostFiles} files already, which is the most.`);
    if (isFull()) return tooMany;
    const { reply, refused } = await complete({ text: "", media: [call.media], buttons: [] }, route, signal);
    signal.throwIfAborted();
    const before = visit.get(replyAdditions) ?? nothing;
    const [file] = reply.media;
    const [why] = refused;
    if (file === undefined || why !== undefined) {
      if (why !== undefined) visit.set(replyAdditions, withRefused(before, { order, note: why.note }));
      return refuse(why?.code ?? "media_refused", why?.reason ?? "The file cannot be sent.");
    }
    // Other calls may have ended in the meantime.
    if (isFull()) return tooMany;
    visit.set(replyAdditions, withFile(before, { order, media: file, caption: call.caption }));
    const { fileName, mimeType, size } = file;
    return {
      ok: true,
      note: "It will be sent with your reply.",
      ...JSON.parse(JSON.stringify({ fileName, mimeType, size })),
    };
  }

  /** A button may be given by its text alone, which a press then sends. */
  function withValues(rows: Json): Json {
    if (!Array.isArray(rows)) return rows;
    const withValue = (cell: Json): Json => {
      if (typeof cell === "string") return { text: cell, callback_data: cell };
      if (typeof cell !== "object" || cell === null || Array.isArray(cell)) return cell;
      const { text, callback_data: value } = cell as { readonly [name: string]: Json };
      return { ...cell, callback_data: value ?? text ?? null };
    };
    return rows.map((row: Json) => (Array.isArray(row) ? row.map(withValue) : row));
  }

  function setButtons(args: Json, { visit, order }: { readonly visit: Visit; readonly order: number }): Json {
    const rows = typeof args === "object" && args !== null ? (args as { readonly rows?: Json }).rows : undefined;
    if (rows === undefined) return invalid("buttons needs rows.") as unknown as Json;
    const read = readButtons(withValues(rows), "rows");
    if ("refusal" in read) return read.refusal as unknown as Json;
    const before = visit.get(replyAdditions) ?? nothing;
    const isOutdated = before.buttons !== undefined && before.buttons.order > order;
    if (!isOutdated) visit.set(replyAdditions, { ...before, buttons: { order, rows: read.value } });
    return { ok: true, note: "They will be shown below your reply." };
  }

  return (inbound, route, visit) => {
    const { to } = route;
    const live = to === null ? undefined : account(to.channel, to.account);
    if (to === null || live === undefined) return [];
    const tools: OwnTool[] = [];
    if (live.capabilities.media === true)
      tools.push({
        ...attachTool,
        run: async (args, signal, { order }) =>
          (await attach(args, { route, visit, signal, order })) as unknown as Json,
      });
    const gated: Gated = { live, pathOf: (keys) => keys.join("."), by: "agent" };
    const kind = chatKindOf(to, { by: "agent", inbound, route, key: "" }, live);
    const some = { action: "send", buttons: [[{ text: "x", value: "x" }]] } as const;
    if (checkButtons(some, gated, kind) === undefined)
      tools.push({ ...buttonsTool, run: async (args, _signal, { order }) => setButtons(args, { visit, order }) });
    return tools;
  };
}
