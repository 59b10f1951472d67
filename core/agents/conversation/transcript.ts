/** What a turn stores in its session, and what the next turn reads from it. */

import type { Inbound, Json, Reply } from "../../contract/index.ts";
import { isHeartbeatAck, withoutReasoning } from "../../reply/index.ts";
import type { EngineMessage } from "../../sdk/contract.ts";
import type { SessionMessage } from "../../state/index.ts";
import type { ToolUse } from "../../stations/index.ts";
import { wrapToolText } from "../../untrusted/index.ts";
import { plainName, renderEnvelope } from "./envelope.ts";

/** Renders the message in its envelope, preceded by what happened since the last turn. */
function renderAsked(inbound: Inbound, context = ""): string {
  const asked = renderEnvelope(inbound);
  return context === "" ? asked : `${context}\n\n${asked}`;
}

/** The current message as the model receives it. */
export function askedMessage(inbound: Inbound, context?: string): EngineMessage {
  // The order matches the order in which the text mentions the files.
  const media = [...(inbound.replyTo?.media ?? []), ...inbound.media];
  return { role: "user", text: renderAsked(inbound, context), ...(media.length === 0 ? {} : { media }) };
}

/** Of more calls, the first ones are kept: a loop of calls must not fill the next turn's context. */
const mostCalls = 20;

/** The two messages that a finished turn adds to its session. Write them together with the outbox. */
export function turnMessages(options: {
  readonly inbound: Inbound;
  readonly reply: Reply;
  readonly at: number;
  readonly ackMaxChars?: number;
  /** The context that preceded the message. */
  readonly context?: string;
  /** The tools that the agent called. */
  readonly tools?: readonly ToolUse[];
}): readonly SessionMessage[] {
  const { inbound, reply, at } = options;
  // Dozens of heartbeats a day without result would push the conversation out of the history. A heartbeat that read
  // events is stored.
  if (inbound.request?.heartbeat?.events.length === 0 && isHeartbeatAck(reply.text, options.ackMaxChars)) return [];
  const unitId = inbound.id;
  const calls = (options.tools ?? []).filter(({ summary }) => summary !== undefined).slice(0, mostCalls);
  const words = [renderAsked(inbound, options.context), returnedWords(calls)]
    .filter((piece) => piece !== "")
    .join("\n\n");
  const asked: SessionMessage = { role: "user", content: words, at: inbound.timestamp, unitId };
  const used = calls.map(({ name, summary }) => `[used ${name} ${summary}]`);
  const notes = reply.media.map(
    (media) => `[sent ${plainName(media.fileName ?? media.path ?? media.url ?? "a file", 240)}]`,
  );
  const assistantText = [...used, withoutReasoning(reply), ...notes].filter((piece) => piece !== "").join("\n");
  return assistantText === "" ? [asked] : [asked, { role: "assistant", content: assistantText, at, unitId }];
}

/**
 * What tools returned is not the agent's own account, so it precedes the answer, on the user's side and in a wrapper.
 */
function returnedWords(calls: readonly ToolUse[]): string {
  const lines = calls.flatMap(({ name, returned }) => (returned === undefined ? [] : [`${name}: ${returned}`]));
  return lines.length === 0
    ? ""
    : wrapToolText({ text: lines.join("\n"), source: "tools used for the answer, beginnings of results" });
}

/** The text of a stored message; the text parts are joined if the message has parts. */
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

/** Converts a stored transcript for an engine. Messages that an earlier run of the same unit stored are left out. */
export function readTranscript(messages: readonly SessionMessage[], unitId: string): readonly EngineMessage[] {
  return messages
    .filter((message) => message.unitId === undefined || message.unitId !== unitId)
    .map((message) => ({ role: message.role, text: messageText(message.content) }))
    .filter((message) => message.text !== "");
}
