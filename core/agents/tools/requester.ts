/**
 * Who caused the call of a tool: whose grant it may use, whose open questions are counted, and how an owner reads it.
 */
import type { Inbound } from "../../contract/index.ts";
import type { Visit } from "../../stations/index.ts";
import { plainId, plainName } from "../conversation/envelope.ts";
import { isSound } from "../conversation/sounds.ts";
import { tookQueuedEvents } from "../conversation/turn-context.ts";

/** A person as the platform vouches for them. The same person on another account or channel is another one. */
export interface Person {
  readonly channel: string;
  readonly account: string;
  readonly senderId: string;
}

/** Who caused a call, in the words of an owner's question. */
export interface NamedRequester {
  /** The gateway's own words, from ids and the configuration. */
  readonly requester: string;
  /** A name that was chosen outside of the gateway, such as a sender's. */
  readonly requesterName?: string;
}

/**
 * The person whose own words, and nothing else, began the turn; `undefined` if there is none. Only that person's grants
 * apply to the turn.
 *
 * - A message or its edit is the person's own. A forwarded message has the words of another person, and so may an audio
 *   file, unlike a voice message: anyone may speak in it. The value of a button is the model's, and others may have
 *   caused it.
 * - `request` is set for webhooks, heartbeats and events of plugins, which no person has just written.
 * - A turn that also reads queued system events, such as a wake, has two causes. It has the rights of the lesser one.
 * - Neither a bot nor a sender on behalf of a chat is a person.
 *
 * Replies, quotes, earlier messages of a group and reactions are context, like the rest of the conversation. They begin
 * no turn.
 */
export function personOf(inbound: Inbound, visit?: Visit): Person | undefined {
  const { channel, account, authority, request, kind, forward, sender } = inbound;
  if (authority !== "channel" || request !== undefined || forward !== undefined) return undefined;
  if (inbound.spoken === true && inbound.media.some((media) => isSound(media) && media.kind !== "voice"))
    return undefined;
  if (kind !== "message" && kind !== "edit") return undefined;
  if (sender.id === "" || sender.anonymous === true || sender.isBot === true) return undefined;
  if (visit !== undefined && tookQueuedEvents(visit)) return undefined;
  return { channel, account, senderId: sender.id };
}

/** Whose open questions are counted together: a sender in all chats of an account, a webhook, an event of a plugin. */
export function countedAs({ channel, account, sender, request }: Inbound): Person {
  return { channel, account, senderId: request?.hook === undefined ? sender.id : `webhook ${request.hook}` };
}

export const keyOfPerson = ({ channel, account, senderId }: Person): readonly string[] => [channel, account, senderId];

/** A name, and the username behind it. */
function chosenName({ name = "", username = "" }: Inbound["sender"]): string {
  const user = plainId(username).replace(/^@/, "");
  return [plainName(name), user === "" ? "" : `@${user}`].filter((one) => one !== "").join(" ");
}

/** A person who answers, as the trace and other owners read it; for another event, what caused it. */
export function nameOf({ sender, authority, request }: Inbound): string {
  if (authority !== "channel") return plainName(request?.name ?? "") || "a turn that no person began";
  const shown = chosenName(sender);
  const id = plainId(sender.id);
  return shown === "" ? id : `${shown} (${id})`;
}

export function requesterOf(inbound: Inbound): NamedRequester {
  const { authority, request, sender } = inbound;
  const named = (requester: string, name: string): NamedRequester => ({
    requester,
    ...(name !== "" && { requesterName: name }),
  });
  if (request?.hook !== undefined)
    return named(`the webhook "${plainName(request.hook)}"`, plainName(request.name ?? "", 200));
  if (request?.heartbeat !== undefined) return { requester: "a heartbeat" };
  if (authority !== "channel") return named("a turn that no person began", plainName(request?.name ?? "", 200));
  const id = plainId(sender.id);
  if (request !== undefined) return named(`a turn that ${id} planned earlier`, plainName(request.name ?? "", 200));
  return named(sender.isBot === true ? `the bot ${id}` : `the sender ${id}`, chosenName(sender));
}

/** Words, numbers, spaces and what names have inside: nothing that reads like a sentence. */
const simpleName = /^[\p{L}\p{M}\p{N}]+(?:[ '’-][\p{L}\p{M}\p{N}]+){0,3}$/u;
const longestSimpleName = 32;

/** The name of a person for a button; their id if the name is anything but a plain name. */
export function shortName({ sender }: Pick<Inbound, "sender">): string {
  const name = plainName(sender.name ?? "");
  return name.length <= longestSimpleName && simpleName.test(name) ? name : plainId(sender.id);
}
