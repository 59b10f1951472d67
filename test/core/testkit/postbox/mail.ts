/** What is posted: where it goes, and how a text is divided. */
import type { Address, Json, Reply } from "service-gateway/sdk";
import type { Part } from "service-gateway/sdk/channel";
import { type Mail, maxUnits } from "./platform.ts";

/** The body of a part. */
export interface Body {
  readonly text: string;
  readonly buttons?: Reply["buttons"];
  readonly color?: string;
  readonly file?: { readonly path: string; readonly name?: string };
}

export function mailTo(
  { chat, thread }: Pick<Address, "chat" | "thread">,
  body: Pick<Mail, "text" | "buttons" | "color" | "file" | "key" | "onlyFor">,
): Mail {
  return { ...body, chat: Number(chat), ...(thread === undefined ? {} : { thread: Number(thread) }) };
}

/** Pieces of at most 200 UTF-16 units; whole characters, so that none is cut in two. */
function pieces(text: string): readonly string[] {
  const found: string[] = [];
  let piece = "";
  for (const character of text) {
    if (piece.length + character.length > maxUnits) {
      found.push(piece);
      piece = "";
    }
    piece += character;
  }
  return piece === "" ? found : [...found, piece];
}

/** The file is on the first message of a reply, the buttons are below the last. */
export function render({ text, buttons, media: [file], platform }: Reply): readonly Part[] {
  const { color } = (platform?.postbox ?? {}) as { readonly color?: string };
  const texts = pieces(text);
  const all = texts.length === 0 && file !== undefined ? [""] : texts;
  return all.map((piece, index) => {
    const body: Body = {
      text: piece,
      ...(color !== undefined && { color }),
      ...(index === all.length - 1 && buttons.length > 0 && { buttons }),
      ...(index === 0 &&
        file?.path !== undefined && {
          file: { path: file.path, ...(file.fileName === undefined ? {} : { name: file.fileName }) },
        }),
    };
    return { kind: "text", chars: piece.length, body: body as unknown as Json };
  });
}
