/**
 * Stores the message of an action as an event, like any other: it is stored before it is sent, waits for its platform,
 * is sent in parts and leaves a trace. Actions run in lanes of their own, so that a tool never waits for the turn that
 * called it.
 */
import type { Address, Button, Json, OutboundMedia, RawEvent, Reply, TurnEvent } from "../contract/index.ts";
import { controlSuffix } from "../state/index.ts";
import { carried, type Hooks } from "../stations/index.ts";
import type { ActionCaller } from "./recipients.ts";

const source = "operator";

/** The body of such an event: what to send, and how. */
export interface Saying {
  readonly address: Address;
  readonly text: string;
  /** The agent whose workspace may provide the files; absent: the default agent. */
  readonly agentId?: string;
  readonly media?: readonly OutboundMedia[];
  readonly buttons?: readonly (readonly Button[])[];
  readonly replyTo?: string;
  readonly silent?: true;
  /** Checked when the action was accepted, and again when it is sent. */
  readonly platform?: Reply["platform"];
  readonly replaces?: string;
  /** Whose words the text contains, if it is for another person: `privacy` finds the event by it. */
  readonly about?: { readonly channel: string; readonly senderId: string };
}

export function actionEvent(saying: Saying, caller: ActionCaller): RawEvent {
  const { channel, account, chat } = saying.address;
  return {
    source,
    kind: "action",
    lane: `action:${channel}:${account}:${chat}${controlSuffix}`,
    // A turn caused by a webhook gains no authority by sending through a tool.
    authority: caller.by === "agent" && caller.inbound.authority === "hook" ? "hook" : "operator",
    // A call repeated after a crash has the same key, whatever its words.
    ...(caller.by === "agent" ? { dedupeKey: `action:${caller.key}` } : {}),
    body: JSON.parse(JSON.stringify(saying)) as Json,
  };
}

/**
 * A text of the gateway itself, with buttons or in the place of an earlier message. Of two with one key, one is sent.
 */
export function sayingEvent(saying: Saying, key: string): RawEvent {
  const { channel, account, chat } = saying.address;
  return {
    source,
    kind: "action",
    lane: `action:${channel}:${account}:${chat}${controlSuffix}`,
    authority: "operator",
    dedupeKey: key,
    body: JSON.parse(JSON.stringify(saying)) as Json,
  };
}

const saying = carried<Saying>("saying");

/**
 * Reads the body of an event. Earlier versions stored a button's value as `callback_data`, and a round video as
 * `video-note`.
 */
function sayingIn(body: Json): Saying {
  const notice = body as unknown as Saying;
  const { media, buttons } = notice;
  const fresh = ({ text, ...button }: Button & { readonly callback_data?: string }) => ({
    text,
    value: button.value ?? button.callback_data ?? "",
  });
  const renamed = (one: OutboundMedia) =>
    (one.as as string) === "video-note" ? { ...one, as: "round-video" as const } : one;
  return {
    ...notice,
    ...(media && { media: media.map(renamed) }),
    ...(buttons && { buttons: buttons.map((row) => row.map(fresh)) }),
  };
}

/**
 * Registers the stations for what an operator or agent sends directly: actions, and notices such as that of a pairing.
 */
export function tapNotices(hooks: Hooks, agentId: () => string): void {
  hooks.tap("core", "ingress", (event, _gathered, visit) => {
    if (event.source !== source || (event.kind !== "notice" && event.kind !== "action")) return undefined;
    const found = sayingIn(event.body);
    visit.set(saying, found);
    return {
      id: event.id,
      channel: source,
      account: found.address.account,
      kind: "system",
      chat: { id: found.address.chat, kind: "system" },
      sender: { id: source },
      text: found.text,
      media: [],
      mention: true,
      timestamp: event.acceptedAt,
      authority: event.authority,
      // Sent verbatim, because its author chose the words.
      ...(event.kind === "action" ? { request: { deliverOnly: true } } : {}),
    };
  });
  hooks.tap("core", "routing", ({ id }, visit) => {
    const found = visit.get(saying);
    return (
      found && { agentId: found.agentId ?? agentId(), sessionKey: `notice:${id}`, isolated: true, to: found.address }
    );
  });
  hooks.tap(
    "core",
    "turn",
    (_inbound, _route, _signal, visit) => {
      const found = visit.get(saying);
      return found && say(found);
    },
    { order: "early" },
  );
  hooks.tap("core", "formatting", (reply, _context, visit) => complete(reply, visit.get(saying)), { order: "early" });
}

/**
 * Adds what engines do not produce: the message replied to, the message replaced, silence, and fields of a platform.
 * `undefined` if none of these is set.
 */
function complete(reply: Reply, found: Saying | undefined): Reply | undefined {
  const { replyTo, silent, replaces, platform } = found ?? {};
  if ([replyTo, silent, replaces, platform].every((one) => one === undefined)) return undefined;
  return {
    ...reply,
    ...(replyTo === undefined ? {} : { replyTo }),
    ...(silent === undefined ? {} : { silent }),
    ...(replaces === undefined ? {} : { replaces }),
    ...(platform === undefined ? {} : { platform }),
  };
}

async function* say({ text, media = [], buttons }: Saying): AsyncGenerator<TurnEvent> {
  yield { type: "text", delta: text };
  for (const one of media) yield { type: "media", media: one };
  if (buttons !== undefined) yield { type: "buttons", buttons };
  yield { type: "done" };
}
