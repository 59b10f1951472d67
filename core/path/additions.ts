/** Adds to a reply what tools of its turn have attached: files, captions and buttons. */
import type { Inbound, Reply } from "../contract/index.ts";
import type { ReplyAdditions } from "../stations/index.ts";

/** The captions follow the text. A file that was refused is mentioned, unless the agent stays silent. */
export function withAdditions(
  reply: Reply,
  additions: ReplyAdditions | undefined,
  {
    inbound,
    silence,
  }: { readonly inbound: Inbound; readonly silence: (reply: Reply, inbound: Inbound) => string | null },
): Reply {
  if (additions === undefined) return reply;
  const { files, buttons, refused, to } = additions;
  const added = files.flatMap(({ caption }) => caption ?? []);
  const media = [...reply.media, ...files.map((file) => file.media)];
  const isQuiet = media.length === 0 && silence(reply, inbound) !== null;
  const note = refused === undefined || isQuiet ? [] : [refused.note];
  const text = [reply.text.trimEnd(), ...added, ...note].filter((piece) => piece !== "").join("\n\n");
  return {
    ...reply,
    text: added.length + note.length === 0 ? reply.text : text,
    media,
    buttons: buttons?.rows ?? reply.buttons,
    ...(to !== undefined && { to }),
  };
}
