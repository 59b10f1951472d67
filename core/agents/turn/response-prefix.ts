/**
 * Adds the account's `responsePrefix` to each reply. The prefix is sent to users but not stored as the agent's words.
 */

import type { Reply } from "../../contract/index.ts";
import type { FormattingContext, Visit } from "../../stations/index.ts";
import { fieldsOf, renderShown } from "../conversation/context-fields.ts";
import { type FactsOfAnswers, renderVariables } from "./answer-facts.ts";

/** Markdown that loses its meaning unless it begins a line. */
const block = /^\s{0,3}(?:```|~~~|#{1,6}\s|[-*+]\s|\d{1,9}[.)]\s|>|\|)/;

/** Adds the prefix to a reply. Replies without text and messages that are delivered verbatim stay unchanged. */
export function withPrefix(
  reply: Reply,
  prefix: unknown,
  { inbound, route, visit }: FormattingContext & { readonly visit: Visit },
  facts: Pick<FactsOfAnswers, "of">,
): Reply {
  const { text } = reply;
  if (typeof prefix !== "string" || text.trim() === "" || inbound.request?.deliverOnly === true) return reply;
  // Variables are replaced first: a field may insert a user's name, which must not act as a template.
  const template = prefix.includes("{") ? renderVariables(prefix, facts.of(reply, route, visit)) : prefix;
  const before = renderShown(template, fieldsOf(inbound, route));
  if (before.trim() === "") return reply;
  const between = block.test(text) ? "\n\n" : /\s$/.test(before) ? "" : " ";
  return { ...reply, text: `${before}${between}${text}` };
}
