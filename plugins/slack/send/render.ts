/** A reply as messages of Slack. Pure. */
import type { Address, Json, Reply } from "service-gateway/sdk";
import { type Button, cutText, type Part, renderMarkdown, Type } from "service-gateway/sdk/channel";
import { list } from "../fields.ts";

/** What `chat.update` takes of a text, so that a preview can become any message. */
export const maxChars = 4_000;
/** The text of a section, which a message with buttons needs. */
const sectionChars = 3_000;

export const buttonLimits = { perRow: 5, perMessage: 25, labelChars: 75, valueBytes: 2_000 } as const;

/** https://docs.slack.dev/reference/methods/chat.postMessage */
export const platformFields = Type.Object({
  blocks: Type.Optional(
    Type.Array(Type.Object({ type: Type.String() }, { additionalProperties: true }), {
      maxItems: 50,
      description: "Blocks of Block Kit, shown below the text.",
    }),
  ),
  unfurl_links: Type.Optional(Type.Boolean({ description: "Whether Slack shows previews of links." })),
  unfurl_media: Type.Optional(Type.Boolean({ description: "Whether Slack shows pictures behind links." })),
  reply_broadcast: Type.Optional(
    Type.Boolean({ description: "Whether a reply in a thread is also shown in the channel." }),
  ),
});

/** One row of buttons. */
type Actions = { readonly type: "actions"; readonly elements: readonly Json[] };

/** A message before it is sent. */
export interface TextBody {
  readonly text: string;
  /** `[]`: the message loses its buttons. Absent: an edit keeps them. */
  readonly rows?: readonly Actions[];
  readonly fields?: { readonly [name: string]: Json };
}

export interface FilesBody {
  readonly files: readonly { readonly path: string; readonly name: string; readonly size: number }[];
}

export function renderReply(reply: Reply, _address: Address): readonly Part[] {
  const own = reply.platform?.slack as TextBody["fields"];
  const rows = reply.buttons.filter((row) => row.length > 0).map(actions);
  const removes = reply.buttons.length > 0 && rows.length === 0 && reply.replaces !== undefined;
  const hasBlocks = rows.length > 0 || list(own?.blocks).length > 0;
  const messages = renderMarkdown(reply.text, { dialect: "mrkdwn", limit: hasBlocks ? sectionChars : maxChars });
  const texts = messages.map(({ markup, size }, index): Part => {
    const isLast = index === messages.length - 1;
    const body: TextBody = {
      text: markup,
      ...(isLast && (rows.length > 0 || removes) && { rows }),
      ...(isLast && own !== undefined && { fields: own }),
    };
    return { kind: "text", chars: size, body: body as unknown as Json };
  });
  // Slack shows a message of blocks alone, too.
  const bare: TextBody = { text: "", rows, ...(own !== undefined && { fields: own }) };
  const needsOne = texts.length === 0 && hasBlocks;
  return [
    ...texts,
    ...(needsOne ? [{ kind: "text", chars: 0, body: bare as unknown as Json }] : []),
    ...filesPart(reply),
  ];
}

function filesPart({ media }: Reply): readonly Part[] {
  const files = media.flatMap(({ path, fileName, size }) =>
    path === undefined ? [] : [{ path, name: fileName ?? path.slice(path.lastIndexOf("/") + 1), size: size ?? 0 }],
  );
  const omitted = media.flatMap(({ path }) => (path === undefined ? ["a file that Slack does not have"] : []));
  if (files.length === 0 && omitted.length === 0) return [];
  const body: FilesBody = { files };
  const part = { kind: "files", chars: 0, body: body as unknown as Json };
  return files.length === 0 ? [] : [omitted.length === 0 ? part : { ...part, omitted }];
}

function actions(row: readonly Button[], index: number): Actions {
  return {
    type: "actions",
    elements: row.map(({ text, value }, at) => ({
      type: "button",
      action_id: `b${index}-${at}`,
      text: { type: "plain_text", text, emoji: true },
      value,
    })),
  };
}

/** The text in the fields of a call, with the blocks that its buttons need. */
export function textFields({ text, rows = [], fields = {} }: TextBody): Readonly<Record<string, Json>> {
  const { blocks: own, ...rest } = fields;
  const shown = list(own) as readonly Json[];
  // An edit that keeps the buttons of a message may be longer than a section.
  const sections = cutText(text, { limit: sectionChars, unit: "utf16" }).map((piece) => ({
    type: "section",
    expand: true,
    text: { type: "mrkdwn", text: piece, verbatim: true },
  }));
  const below = [...shown, ...(rows as readonly Json[])];
  const blocks: Readonly<Record<string, Json>> = below.length === 0 ? {} : { blocks: [...sections, ...below] };
  return { text, unfurl_links: false, unfurl_media: false, ...rest, ...blocks };
}
