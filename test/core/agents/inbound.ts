/** Values that the tests of this folder share. */
import type { Inbound, Route } from "../../../core/contract/types.ts";

export function message(text: string, more: Partial<Inbound> = {}): Inbound {
  return {
    id: "event-1",
    channel: "irc",
    account: "default",
    kind: "message",
    chat: { id: "42", kind: "direct" },
    sender: { id: "42", name: "Ada", username: "ada" },
    text,
    media: [],
    mention: false,
    timestamp: Date.UTC(2026, 10, 20, 14, 9),
    messageId: "7",
    authority: "channel",
    ...more,
  };
}

export function route(more: Partial<Route> = {}): Route {
  return {
    agentId: "main",
    sessionKey: "agent:main:main",
    isolated: false,
    to: { channel: "irc", account: "default", chat: "42" },
    ...more,
  };
}
