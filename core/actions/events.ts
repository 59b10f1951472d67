/**
 * What an action has to say is an event like any other: it is stored before it is sent, waits for its platform, is sent part by part, and
 * leaves a trace. It walks beside the turns, so that a tool never waits for the turn that called it.
 */
import { createHash } from "node:crypto";
import type { Button, Json, OutboundMedia, RawEvent, Reply, TurnEvent } from "../contract/index.ts";
import type { NoticeBody } from "../host/index.ts";
import { controlSuffix } from "../state/index.ts";
import { carried, type Hooks } from "../stations/index.ts";
import type { ActionCaller } from "./recipients.ts";
import type { ActionCall } from "./schema.ts";

const source = "operator";

/** What is said, and how: the body of the event. */
export interface Saying extends NoticeBody {
  /** Whose workspace its files may come from; absent: the default agent's. */
  readonly agentId?: string;
  readonly media?: readonly OutboundMedia[];
  readonly buttons?: readonly (readonly Button[])[];
  readonly replyTo?: string;
  readonly silent?: true;
  readonly replaces?: string;
}

export function actionEvent(saying: Saying, call: ActionCall, caller: ActionCaller): RawEvent {
  const { channel, account, chat } = saying.address;
  return {
    source,
    kind: "action",
    lane: `action:${channel}:${account}:${chat}${controlSuffix}`,
    // What a hook caused has no more rights when a tool says it.
    authority: caller.by === "agent" && caller.inbound.authority === "hook" ? "hook" : "operator",
    ...(caller.by === "agent" ? { dedupeKey: `action:${caller.inbound.id}:${caller.ordinal}:${digest(call)}` } : {}),
    body: JSON.parse(JSON.stringify(saying)) as Json,
  };
}

/** A turn that a crash made run again calls its tools again: the same call at the same place is the same message. */
function digest(call: ActionCall): string {
  return createHash("sha256").update(JSON.stringify(call)).digest("hex").slice(0, 32);
}

const saying = carried<Saying>("saying");

/** The body of an event, which an earlier version may have stored: with `callback_data` for the value of a button, and `video-note` for a round video. */
function sayingIn(body: Json): Saying {
  const said = body as unknown as Saying;
  const { media, buttons } = said;
  const fresh = ({ text, ...button }: Button & { readonly callback_data?: string }) => ({
    text,
    value: button.value ?? button.callback_data ?? "",
  });
  const renamed = (one: OutboundMedia) => ((one.as as string) === "video-note" ? { ...one, as: "round-video" as const } : one);
  return { ...said, ...(media && { media: media.map(renamed) }), ...(buttons && { buttons: buttons.map((row) => row.map(fresh)) }) };
}

/** The stations of what an operator or an agent said by itself: actions, and notices such as that of a pairing. */
export function tapSaid(hooks: Hooks, agentId: () => string): void {
  hooks.tap("core", "ingress", (event, _gathered, visit) => {
    if (event.source !== source || (event.kind !== "notice" && event.kind !== "action")) return undefined;
    const said = sayingIn(event.body);
    visit.set(saying, said);
    return {
      id: event.id,
      channel: source,
      account: said.address.account,
      kind: "system",
      chat: { id: said.address.chat, kind: "system" },
      sender: { id: source },
      text: said.text,
      media: [],
      mention: true,
      timestamp: event.acceptedAt,
      authority: event.authority,
      // It is sent as it was given: its author has chosen the words.
      ...(event.kind === "action" ? { request: { deliverOnly: true } } : {}),
    };
  });
  hooks.tap("core", "routing", ({ id }, visit) => {
    const said = visit.get(saying);
    return said && { agentId: said.agentId ?? agentId(), sessionKey: `notice:${id}`, isolated: true, to: said.address };
  });
  hooks.tap(
    "core",
    "turn",
    (_inbound, _route, _signal, visit) => {
      const said = visit.get(saying);
      return said && say(said);
    },
    { order: "early" },
  );
  hooks.tap("core", "formatting", (reply, _context, visit) => complete(reply, visit.get(saying)), { order: "early" });
}

/** The reply with what no engine says: what it answers, replaces, how loud it is. `undefined`: nothing of an action. */
function complete(reply: Reply, said: Saying | undefined): Reply | undefined {
  const { replyTo, silent, replaces } = said ?? {};
  if (replyTo === undefined && silent === undefined && replaces === undefined) return undefined;
  return {
    ...reply,
    ...(replyTo === undefined ? {} : { replyTo }),
    ...(silent === undefined ? {} : { silent }),
    ...(replaces === undefined ? {} : { replaces }),
  };
}

async function* say({ text, media = [], buttons }: Saying): AsyncGenerator<TurnEvent> {
  yield { type: "text", delta: text };
  for (const one of media) yield { type: "media", media: one };
  if (buttons !== undefined) yield { type: "buttons", buttons };
  yield { type: "done" };
}
