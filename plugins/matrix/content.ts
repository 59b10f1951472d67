/** Replies as events of Matrix: https://spec.matrix.org/latest/client-server-api/#instant-messaging */
import type { Address, Inbound, Reply } from "service-gateway/sdk";
import {
  type Json,
  type MarkupMessage,
  type MarkupOptions,
  type OutboundMedia,
  type Part,
  renderMarkdown,
} from "service-gateway/sdk/channel";

/**
 * Bytes of both forms of a text. An edit has each twice, and an event may have 65,536 bytes with what the homeserver
 * adds.
 */
export const maxBytes = 24_000;
export const markup: MarkupOptions = { dialect: "matrix", limit: maxBytes };

/** A text, or a file, which `send` uploads. */
export type Body = {
  readonly text?: string;
  readonly html?: string;
  readonly file?: { readonly [key: string]: Json };
  /** The person whom the message notifies. */
  readonly mentions?: string;
  /** Shown without a sound. */
  readonly quiet?: true;
};

export const textBody = ({ markup: html, plain }: MarkupMessage): Body => ({
  text: plain,
  ...(html !== plain && { html }),
});

function fileOf({ path, ref, mimeType, fileName, size, width, height, as }: OutboundMedia): Body {
  const kind = mimeType?.split("/", 1)[0] ?? "";
  const type = ["image", "video", "audio"].includes(kind) ? `m.${kind}` : "m.file";
  const info = { mimetype: mimeType, size, w: width, h: height };
  const file = { path, url: ref, type, name: fileName ?? "file", info, voice: as === "voice" && kind === "audio" };
  return { file: JSON.parse(JSON.stringify(file)) };
}

/** In a room with others, the first message refers to the one that it answers, and notifies its writer. */
export function render(
  reply: Reply,
  { chat, thread }: Address,
  { trigger, inbound }: { readonly trigger?: string; readonly inbound?: Inbound } = {},
): readonly Part[] {
  const answered = chat.startsWith("!") && thread === undefined ? trigger : undefined;
  const replyTo = reply.replyTo ?? answered;
  const mentions = chat.startsWith("!") && inbound?.kind === "message" ? inbound.sender.id : undefined;
  const bodies = [
    ...renderMarkdown(reply.text, markup).map((message) => ({
      kind: "text",
      chars: message.size,
      body: textBody(message),
    })),
    ...reply.media.map((media) => ({ kind: "file", chars: 0, body: fileOf(media) })),
  ];
  return bodies.map(({ kind, chars, body }, index) => ({
    ...{ kind, chars },
    body: {
      ...body,
      ...(index === 0 && mentions !== undefined && { mentions }),
      ...(reply.silent === true && { quiet: true as const }),
    },
    ...(index === 0 &&
      replyTo !== undefined && { replyTo, ...(replyTo === trigger && { replyImplied: true as const }) }),
    ...(index === 0 && reply.replaces !== undefined && { replaces: reply.replaces }),
  }));
}

/** The content of an event. */
export type Content = { readonly [key: string]: Json };

export interface Place {
  readonly thread?: string | undefined;
  readonly replyTo?: string | undefined;
  /** The message that an edit changes. */
  readonly replaces?: string | undefined;
  readonly isNotice: boolean;
}

function relationOf({ thread, replyTo, replaces }: Place): Content | undefined {
  if (replaces !== undefined) return { rel_type: "m.replace", event_id: replaces };
  const reply: Content = replyTo === undefined ? {} : { "m.in_reply_to": { event_id: replyTo } };
  if (thread === undefined) return replyTo === undefined ? undefined : reply;
  // Clients without threads show a reply to the message at the root.
  const fallback: Content =
    replyTo === undefined ? { is_falling_back: true, "m.in_reply_to": { event_id: thread } } : {};
  return { rel_type: "m.thread", event_id: thread, ...reply, ...fallback };
}

/** The content of an event. `url` is where an uploaded file is. */
export function contentOf({ text, html, file, mentions, quiet }: Body, place: Place, url?: string): Content {
  const words = {
    msgtype: place.isNotice || quiet === true ? "m.notice" : "m.text",
    body: text ?? "",
    ...(html !== undefined && { format: "org.matrix.custom.html", formatted_body: html }),
  };
  const noted: Content = mentions === undefined ? {} : { user_ids: [mentions] };
  const content: Content = {
    ...(file === undefined
      ? { ...words }
      : {
          ...{ msgtype: file.type ?? "m.file", body: file.name ?? "file", filename: file.name ?? "file" },
          ...{ url: url ?? "", info: file.info ?? {} },
          ...(file.voice === true && { "org.matrix.msc3245.voice": {} }),
        }),
    // Without this member, clients look for names in the text.
    "m.mentions": noted,
  };
  const relation = relationOf(place);
  if (place.replaces === undefined) return { ...content, ...(relation && { "m.relates_to": relation }) };
  // What clients without edits show. The mentions are those that a preview did not have.
  const shown = { ...content, body: `* ${words.body}`, ...(html !== undefined && { formatted_body: `* ${html}` }) };
  return { ...shown, "m.new_content": content, "m.relates_to": relation ?? null };
}
