/** What the model thought, for conversations that asked to see it. */

import type { Reply, Route } from "../contract/index.ts";
import type { SessionRecord, Store } from "../state/index.ts";
import { silenceReason } from "./silence.ts";

const maxCharacters = 2_000;

/** `on`: before the answer. `stream`: in the preview only. */
export function reasoningMode(session: SessionRecord | null): "off" | "on" | "stream" {
  const mode = session?.settings.reasoning;
  return mode === "on" || mode === "stream" ? mode : "off";
}

/** A quotation in Markdown, with an empty line behind it; cut when it is long. */
export function renderReasoning(reasoning: string): string {
  const characters = [...reasoning.trim()];
  if (characters.length === 0) return "";
  const text = characters.length > maxCharacters ? `${characters.slice(0, maxCharacters - 1).join("")}…` : characters.join("");
  return `${["*Thinking*", ...text.split("\n")].map((line) => `> ${line}`.trimEnd()).join("\n")}\n\n`;
}

/** For the `formatting` station: thoughts before the answer, in sessions that said `/reasoning on`; `undefined` keeps the reply. */
export async function showReasoning(
  reply: Reply,
  route: Route,
  options: { readonly store: Pick<Store, "session">; readonly ackMaxChars: number },
): Promise<Reply | undefined> {
  // A reply that is not sent must stay recognisable as one.
  if (reply.reasoning === undefined || silenceReason(reply.text, options) !== null) return undefined;
  if (reasoningMode(await options.store.session(route.sessionKey)) !== "on") return undefined;
  return { ...reply, text: `${renderReasoning(reply.reasoning)}${reply.text}` };
}

/** The answer without the thoughts that were put before it: the model need not read them again. */
export function withoutReasoning(reply: Reply): string {
  const shown = renderReasoning(reply.reasoning ?? "");
  return shown !== "" && reply.text.startsWith(shown) ? reply.text.slice(shown.length) : reply.text;
}
