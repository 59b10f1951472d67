/** Whether a program sent a mail, by RFC 3834 and the fields that lists and auto-responders are known by. */
import type { Header } from "./source.ts";

/** Why, in the words of the field; false: a person may have written it. */
export function automatedBy(headers: readonly Header[]): false | string {
  for (const { name, value } of headers) {
    const said = value.trim().toLowerCase();
    if (name === "auto-submitted" && said !== "no") return "Auto-Submitted";
    if (name === "list-id") return "List-Id";
    if (name === "list-unsubscribe") return "List-Unsubscribe";
    if (name === "precedence" && /^(?:bulk|list|junk)\b/.test(said)) return "Precedence";
    if (name === "x-auto-response-suppress") return "X-Auto-Response-Suppress";
    if (name === "return-path" && said === "<>") return "Return-Path";
    if (name === "content-type" && said.startsWith("multipart/report")) return "multipart/report";
  }
  return false;
}
