/** From a reply to messages of the platform. Pure. */
import type { Inbound, Json, Reply } from "service-gateway/sdk";
import { type Part, renderMarkdown, type Static, Type } from "service-gateway/sdk/channel";
import type { SentFile } from "./api.ts";
import { customId } from "./interaction.ts";
import { isSnowflake } from "./snowflake.ts";

/** UTF-16 units of one message. */
export const maxChars = 2_000;
export const markup = { dialect: "discord", limit: maxChars } as const;
/** Files of one message. */
const mostFiles = 10;
const suppressNotifications = 1 << 12;
const suppressEmbeds = 1 << 2;

/** The id of a button has 100 characters, of which a number may take three. */
export const buttonLimits = { perRow: 5, perMessage: 25, labelChars: 80, valueBytes: 97 } as const;

const line = (maxLength: number) => Type.String({ minLength: 1, maxLength });
const address = Type.String({ pattern: "^https?://\\S+$", expects: "an http or https address", maxLength: 2_048 });
const picture = Type.Object({ url: address });

export const platformFields = Type.Object({
  /** Cards below the text. */
  embeds: Type.Optional(
    Type.Array(
      Type.Object({
        title: Type.Optional(line(256)),
        description: Type.Optional(line(4_096)),
        url: Type.Optional(address),
        color: Type.Optional(Type.Integer({ minimum: 0, maximum: 0xff_ff_ff })),
        timestamp: Type.Optional(
          Type.String({ pattern: "^\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z$", expects: "a time such as 2026-11-28T12:00:00Z" }),
        ),
        footer: Type.Optional(Type.Object({ text: line(2_048) })),
        image: Type.Optional(picture),
        thumbnail: Type.Optional(picture),
        author: Type.Optional(Type.Object({ name: line(256), url: Type.Optional(address) })),
        fields: Type.Optional(
          Type.Array(Type.Object({ name: line(256), value: line(1_024), inline: Type.Optional(Type.Boolean()) }), {
            maxItems: 25,
          }),
        ),
      }),
      { minItems: 1, maxItems: 10 },
    ),
  ),
  /** Shows no previews of links. */
  suppressEmbeds: Type.Optional(Type.Boolean()),
});

/** What a part contains. */
export type Body = {
  readonly content: string;
  /** Fields of the message besides. */
  readonly message: { readonly [key: string]: Json };
  readonly files: readonly SentFile[];
  /** The first part of an answer to a slash command, by its handle: the command waits for it. */
  readonly command?: string;
};

/** No text can call people: neither everyone, nor a role, nor a person besides the one who is answered. */
export const allowedMentions = { parse: [], replied_user: true } as const;

function componentsOf(rows: Reply["buttons"]): Json {
  const times = new Map<string, number>();
  return rows.map((row) => ({
    type: 1,
    components: row.map(({ text, value }) => {
      const earlier = times.get(value) ?? 0;
      times.set(value, earlier + 1);
      return { type: 2, style: 2, label: text, custom_id: customId(value, earlier) };
    }),
  }));
}

export function render(
  reply: Reply,
  { chat }: { readonly chat: string },
  { trigger, inbound }: { readonly trigger?: string; readonly inbound?: Inbound } = {},
): readonly Part[] {
  const texts = renderMarkdown(reply.text, markup);
  const { embeds, suppressEmbeds: noPreviews } = (reply.platform?.discord ?? {}) as Static<typeof platformFields>;
  const sent = filesOf(reply);
  const flags = (reply.silent === true ? suppressNotifications : 0) | (noPreviews === true ? suppressEmbeds : 0);
  // The last message of the text has the first files, the buttons and the cards; further files follow it.
  const count = Math.max(1, texts.length) - 1 + Math.max(1, Math.ceil(sent.files.length / mostFiles));
  const holder = Math.max(0, texts.length - 1);
  const buttons = reply.buttons.flat().length > 0 ? reply.buttons.filter((row) => row.length > 0) : [];
  const components =
    buttons.length > 0
      ? componentsOf(buttons)
      : reply.replaces !== undefined && reply.buttons.length > 0
        ? []
        : undefined;
  if (texts.length === 0 && sent.files.length === 0 && embeds === undefined && buttons.length === 0) return [];
  const command = inbound?.interaction?.startsWith("command:") === true ? inbound.interaction : undefined;
  const target = reply.replyTo ?? (inbound?.chat.kind === "group" && inbound.chat.id === chat ? trigger : undefined);
  return Array.from({ length: count }, (_, index): Part => {
    const text = texts[index];
    const from = (index - holder) * mostFiles;
    const isHolder = index === holder;
    const isBare = text === undefined && sent.files.length === 0 && embeds === undefined;
    const body: Body = {
      // The platform refuses buttons without a text.
      content: text?.markup ?? (isBare ? "\u200b" : ""),
      message: {
        ...(flags !== 0 && { flags }),
        ...(isHolder && components !== undefined && { components }),
        ...(isHolder && embeds !== undefined && { embeds: embeds as Json }),
      },
      files: index < holder ? [] : sent.files.slice(from, from + mostFiles),
      ...(index === 0 && command !== undefined && { command }),
    };
    return {
      kind: body.files.length > 0 ? "files" : "text",
      chars: text?.size ?? 0,
      body: body as unknown as Json,
      ...(index === 0 && target !== undefined && isSnowflake(target) && { replyTo: target }),
      ...(index === 0 && target !== undefined && target === trigger && { replyImplied: true as const }),
      ...(isHolder && sent.omitted.length > 0 && { omitted: sent.omitted }),
    };
  });
}

function filesOf({ media }: Reply): { readonly files: readonly SentFile[]; readonly omitted: readonly string[] } {
  const files = media.flatMap(({ path, fileName, mimeType = "application/octet-stream" }, index) =>
    path === undefined ? [] : [{ path, mimeType, name: fileName ?? `file-${index + 1}` }],
  );
  const omitted = media.flatMap(({ path, ref = "" }) => (path === undefined ? [`the file ${ref.slice(0, 40)}`] : []));
  return { files, omitted };
}
