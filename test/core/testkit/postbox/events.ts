/** Events of the platform: asked for, acknowledged, and read. */
import type { Json } from "service-gateway/sdk";
import {
  ChannelError,
  type ChannelInbound,
  createLookup,
  type Parsed,
  receiveInOrder,
} from "service-gateway/sdk/channel";
import type { Account, Call } from "./calls.ts";
import { botId, groupId, type PostboxEvent } from "./platform.ts";

const isNumber = (value: unknown): value is number => typeof value === "number";
const isText = (value: unknown): value is string => typeof value === "string";

function fileOf(file: PostboxEvent["file"]): NonNullable<ChannelInbound["media"]> {
  if (typeof file !== "object" || file === null || !isNumber(file.ref)) return [];
  const { ref, name, type } = file;
  return [
    {
      kind: "document",
      ref: String(ref),
      ...(isText(name) && { fileName: name }),
      ...(isText(type) && { mimeType: type }),
    },
  ];
}

export function parse(raw: Json): Parsed {
  if (typeof raw !== "object" || raw === null) return undefined;
  const { kind, from, chat, thread, text, date, message, mention, file, interaction } =
    raw as unknown as Partial<PostboxEvent>;
  if (!isNumber(chat) || !isText(text) || !isNumber(date) || !isNumber(from?.id)) return undefined;
  if (from.id === botId) return { silent: "own_message" };
  if (kind === "delivered" || kind === "failed" || kind === "read") return null;
  const isGroup = chat === groupId;
  return {
    kind: kind === "delete" || kind === "edit" || kind === "press" ? kind : "message",
    chat: { id: String(chat), kind: isGroup ? "group" : "direct", ...(isNumber(thread) && { thread: String(thread) }) },
    sender: {
      id: String(from.id),
      ...(isText(from.name) && { name: from.name }),
      ...(from.bot === true && { isBot: true }),
    },
    text: kind === "press" ? `callback_data: ${text}` : text,
    media: fileOf(file),
    mention: !isGroup || mention === true || kind === "press",
    ...(mention === true && { mentionedByName: true }),
    timestamp: date * 1_000,
    ...(isText(interaction) && { interaction }),
    ...(isNumber(message) && { messageId: String(message) }),
  };
}

/** Between two questions: the first wait, and the longest. */
const [firstWaitMs, longestWaitMs] = [50, 400];

async function report(account: Account, { kind, message }: PostboxEvent): Promise<void> {
  if (kind === "failed") await account.sent(String(message), { failed: "blocked_by_user" });
  else if (kind === "delivered" || kind === "read") await account.sent(String(message), kind);
}

/** Asks for events until it is stopped, less and less often while there are none. */
export function createPolling(account: Account, call: Call) {
  let after = 0;
  let waitMs = firstWaitMs;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  const stopped = new AbortController();
  const people = createLookup<string>(account, {
    waitMs: 200,
    async ask(id, signal) {
      const { body } = await call("GET", `people/${id}`, undefined, AbortSignal.any([signal, stopped.signal]));
      return isText(body.name) ? body.name : undefined;
    },
  });
  const receive = receiveInOrder(account);

  /** A press is answered at once, so that the button does not seem stuck. */
  async function acknowledge(event: PostboxEvent): Promise<void> {
    const verdict = await account.check(event as unknown as Json);
    await call("POST", "acknowledge", { notice: verdict.allowed ? "" : verdict.notice }, stopped.signal);
  }

  async function look(): Promise<void> {
    const { body } = await call("GET", `events?after=${after}`, undefined, stopped.signal);
    account.status({ state: "connected", lastContactAt: account.now() });
    const events = body as unknown as readonly PostboxEvent[];
    waitMs = events.length > 0 ? firstWaitMs : Math.min(waitMs * 2, longestWaitMs);
    for (const event of events) {
      const { id, chat, thread = "", kind } = event;
      if (stopped.signal.aborted) return;
      if (kind === "press")
        void acknowledge(event).catch((error: Error) =>
          account.log.debug({ name: error.name }, "a press was not answered"),
        );
      await report(account, event);
      await receive(event as unknown as Readonly<Record<string, Json>>, {
        id: String(id),
        lane: `postbox:${account.id}:${chat}:${thread}`,
        complete: async () => {
          const name = await people.find(String(event.from.id));
          return name === undefined ? {} : { from: { ...event.from, name } };
        },
      });
      after = Math.max(after, id);
    }
  }

  /** Asks a person, and takes the session once they have agreed. */
  async function signIn(): Promise<boolean> {
    const { body } = await call("GET", "link", undefined, stopped.signal);
    if (typeof body.session === "string") await account.secrets.set("session", body.session);
    else account.status({ state: "waiting", action: { text: "Scan the code in the app.", qr: String(body.link) } });
    return true;
  }

  async function poll(): Promise<void> {
    try {
      await look();
    } catch (error) {
      waitMs = firstWaitMs;
      account.log.debug({ name: (error as Error).name }, "the postbox was not read");
      const isSignedOut = error instanceof ChannelError && error.reason === "sign_in_needed";
      if (!isSignedOut || !(await signIn().catch(() => false)))
        account.status({ state: "waiting", detail: "The postbox does not answer; it is asked again." });
    }
    if (!stopped.signal.aborted) timer = setTimeout(run, waitMs);
  }

  function run(): void {
    running = poll();
  }

  return {
    async start() {
      run();
      await running;
    },
    async stop() {
      stopped.abort();
      clearTimeout(timer);
      await running;
    },
  };
}
