/** Turns a reply into posts. Pure. */
import type { Address, Reply } from "service-gateway/sdk";
import { type Button, type OutboundMedia, type Part, renderMarkdown } from "service-gateway/sdk/channel";

/** The server counts characters; the dialect counts UTF-16 units, which are never fewer. */
export const maxChars = 16_383;
const filesPerPost = 10;

/** The body of a part. Type aliases, so that it is JSON. */
export type PostBody = {
  readonly text: string;
  readonly files: readonly PostFile[];
  /** Absent: those of an edited message stay. */
  readonly buttons?: readonly (readonly Button[])[];
};
export type PostFile = { readonly path: string; readonly name: string; readonly type: string };

export function renderReply(reply: Reply, { thread }: Pick<Address, "thread">): readonly Part[] {
  const texts = renderMarkdown(reply.text, { dialect: "markdown", limit: maxChars });
  const known = reply.media.filter(({ path }) => path === undefined);
  const files = reply.media.flatMap(fileOf);
  // `[]` keeps the buttons of an edited message, and `[[]]` removes them.
  const buttons = reply.buttons.length === 0 ? undefined : reply.buttons.filter((row) => row.length > 0);
  const last = texts.at(-1);
  const posts: PostBody[] = texts.slice(0, -1).map(({ markup }) => ({ text: markup, files: [] }));
  const ending = {
    text: last?.markup ?? "",
    files: files.slice(0, filesPerPost),
    ...(buttons !== undefined && { buttons }),
  };
  if (last !== undefined || ending.files.length > 0 || (buttons?.length ?? 0) > 0) posts.push(ending);
  for (let at = filesPerPost; at < files.length; at += filesPerPost)
    posts.push({ text: "", files: files.slice(at, at + filesPerPost) });
  const omitted = known.map(() => "a file that is not on this machine");
  // A reply to a message is a message in its thread; within a thread, everything is.
  const replyTo = thread === undefined && reply.replyTo !== undefined ? { replyTo: reply.replyTo } : {};
  return posts.map((body, index) => ({
    kind: body.files.length > 0 ? "files" : "text",
    chars: body.text.length,
    body,
    ...replyTo,
    ...(index === 0 && omitted.length > 0 && { omitted }),
  }));
}

function fileOf({ path, fileName, mimeType }: OutboundMedia): readonly PostFile[] {
  if (path === undefined) return [];
  const name = fileName ?? path.split("/").at(-1) ?? "file";
  return [{ path, name, type: mimeType ?? "application/octet-stream" }];
}
