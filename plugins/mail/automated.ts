/** Detects mail sent by a program, by RFC 3834 and the header fields of mailing lists and auto-responders. */
import type { Header } from "./source.ts";

/** The reason, as the field states it; false if a person may have written the mail. */
export function automatedBy(headers: readonly Header[]): false | string {
  for (const { name, value } of headers) {
    const content = value.trim().toLowerCase();
    if (name === "auto-submitted" && content !== "no") return "Auto-Submitted";
    if (name === "list-id") return "List-Id";
    if (name === "list-unsubscribe") return "List-Unsubscribe";
    if (name === "precedence" && /^(?:bulk|list|junk)\b/.test(content)) return "Precedence";
    if (name === "x-auto-response-suppress") return "X-Auto-Response-Suppress";
    if (name === "return-path" && content === "<>") return "Return-Path";
    if (name === "content-type" && content.startsWith("multipart/report")) return "multipart/report";
  }
  return false;
}
