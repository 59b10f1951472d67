/** The text before every answer of an account: part of what is sent, not of what the agent said. */

import type { Reply } from "../../contract/index.ts";
import type { FormattingContext, Visit } from "../../stations/index.ts";
import { fieldsOf, renderFields } from "../conversation/context-fields.ts";
import { type FactsOfAnswers, renderVariables } from "./answer-facts.ts";

/** Markdown that means something else when it does not begin its line. */
const block = /^\s{0,3}(?:```|~~~|#{1,6}\s|[-*+]\s|\d{1,9}[.)]\s|>|\|)/;

/** The reply as it is sent. One without text, and a message that is sent as it was given, stays as it is. */
export function withPrefix(
  reply: Reply,
  prefix: unknown,
  { inbound, route, visit }: FormattingContext & { readonly visit: Visit },
  facts: Pick<FactsOfAnswers, "of">,
): Reply {
  const { text } = reply;
  if (typeof prefix !== "string" || text.trim() === "" || inbound.request?.deliverOnly === true) return reply;
  // Variables first: a user's name is inserted by a field, and must not act as a template.
  const template = prefix.includes("{") ? renderVariables(prefix, facts.of(reply, route, visit)) : prefix;
  const before = renderFields(template, fieldsOf(inbound, route), { quoteForeign: false });
  if (before.trim() === "") return reply;
  const between = block.test(text) ? "\n\n" : /\s$/.test(before) ? "" : " ";
  return { ...reply, text: `${before}${between}${text}` };
}
