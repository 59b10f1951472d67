/** What a turn leaves in its session, and what the next one reads of it. */

import type { Inbound, Json, Reply } from "../../contract/index.ts";
import { isHeartbeatAck, withoutReasoning } from "../../reply/index.ts";
import type { EngineMessage } from "../../sdk/contract.ts";
import type { SessionMessage } from "../../state/index.ts";
import { renderEnvelope } from "./envelope.ts";

/** The message in its envelope, after what happened since the last one. */
function renderAsked(inbound: Inbound, context = ""): string {
  const asked = renderEnvelope(inbound);
  return context === "" ? asked : `${context}\n\n${asked}`;
}

/** The message as the model reads it. */
export function askedMessage(inbound: Inbound, context?: string): EngineMessage {
  // In the order in which the text names them.
  const media = [...(inbound.replyTo?.media ?? []), ...inbound.media];
  return { role: "user", text: renderAsked(inbound, context), ...(media.length === 0 ? {} : { media }) };
}

/** The two messages that a finished turn adds to its session; to be written with the outbox. */
export function turnMessages(options: {
  readonly inbound: Inbound;
  readonly reply: Reply;
  readonly at: number;
  readonly ackMaxChars?: number;
  /** What stood before the message. */
  readonly context?: string;
}): readonly SessionMessage[] {
  const { inbound, reply, at } = options;
  // Dozens of heartbeats a day that came to nothing would push the conversation out of the history. One that read events is part of it.
  if (inbound.request?.heartbeat?.events.length === 0 && isHeartbeatAck(reply.text, options.ackMaxChars)) return [];
  const unitId = inbound.id;
  const asked: SessionMessage = { role: "user", content: renderAsked(inbound, options.context), at: inbound.timestamp, unitId };
  const notes = reply.media.map((media) => `[sent ${media.fileName ?? media.path ?? media.url ?? "a file"}]`);
  const said = [withoutReasoning(reply), ...notes].filter((piece) => piece !== "").join("\n");
  return said === "" ? [asked] : [asked, { role: "assistant", content: said, at, unitId }];
}

/** The text of a stored message; of one in parts, that of all of them. */
export function messageText(content: Json): string {
  if (typeof content === "string") return content;
  if (Array.isArray(content))
    return content
      .map(messageText)
      .filter((text) => text !== "")
      .join("\n");
  const text = content !== null && typeof content === "object" ? (content as { readonly text?: Json }).text : undefined;
  return typeof text === "string" ? text : "";
}

/** A stored transcript as an engine takes it; a unit that is run again does not see what it left the first time. */
export function readTranscript(messages: readonly SessionMessage[], unitId: string): readonly EngineMessage[] {
  return messages
    .filter((message) => message.unitId === undefined || message.unitId !== unitId)
    .map((message) => ({ role: message.role, text: messageText(message.content) }))
    .filter((message) => message.text !== "");
}
