/** Shows the model's reasoning in conversations that asked for it. */

import type { Reply, Route } from "../contract/index.ts";
import type { SessionRecord, Store } from "../state/index.ts";
import { silenceReason } from "./silence.ts";

const maxCharacters = 2_000;

/** Where reasoning is shown. `on`: before the reply. `stream`: in the preview only. */
export function reasoningMode(session: SessionRecord | null): "off" | "on" | "stream" {
  const mode = session?.settings.reasoning;
  return mode === "on" || mode === "stream" ? mode : "off";
}

/** Renders reasoning as a Markdown quote, followed by a blank line; long texts are cut. */
export function renderReasoning(reasoning: string): string {
  const characters = [...reasoning.trim()];
  if (characters.length === 0) return "";
  const text =
    characters.length > maxCharacters ? `${characters.slice(0, maxCharacters - 1).join("")}…` : characters.join("");
  return `${["*Thinking*", ...text.split("\n")].map((line) => `> ${line}`.trimEnd()).join("\n")}\n\n`;
}

/**
 * For the `formatting` station: puts the reasoning before the reply in sessions with `/reasoning on`. `undefined`
 * leaves the reply unchanged.
 */
export async function showReasoning(
  reply: Reply,
  route: Route,
  options: { readonly store: Pick<Store, "session">; readonly ackMaxChars: number },
): Promise<Reply | undefined> {
  // A reply that means silence must remain recognizable.
  if (reply.reasoning === undefined || silenceReason(reply.text, options) !== null) return undefined;
  if (reasoningMode(await options.store.session(route.sessionKey)) !== "on") return undefined;
  return { ...reply, text: `${renderReasoning(reply.reasoning)}${reply.text}` };
}

/** The reply's text without the reasoning put before it, because the model need not read that again. */
export function withoutReasoning(reply: Reply): string {
  const shown = renderReasoning(reply.reasoning ?? "");
  return shown !== "" && reply.text.startsWith(shown) ? reply.text.slice(shown.length) : reply.text;
}
