/** What the bot does in a chat: posts, edits, files, reactions, previews. */
import { openAsBlob } from "node:fs";
import type { Address } from "service-gateway/sdk";
import {
  type ChannelAccount,
  type ChannelConnection,
  ChannelError,
  editingPreview,
  growingMarkdown,
  type MarkupMessage,
  mediaTooLarge,
  type Part,
  type Receipt,
} from "service-gateway/sdk/channel";
import type { Api } from "./api.ts";
import { codes } from "./codes.ts";
import type { Directory } from "./directory.ts";
import { nameOfEmoji } from "./emoji.ts";
import { id, isId, list, record, text } from "./fields.ts";
import type { Presses } from "./press.ts";
import { maxChars, type PostBody, type PostFile } from "./render.ts";
import type { ServerSettings } from "./server.ts";

export type Sending = Required<Pick<ChannelConnection, "send" | "remove" | "react" | "preview">>;

const uploadMs = 600_000;

export function createSending({
  api,
  directory,
  presses,
  settings,
  log,
}: {
  readonly api: Api;
  readonly directory: Directory;
  readonly presses: Presses | undefined;
  readonly settings: (signal?: AbortSignal) => Promise<ServerSettings>;
  readonly log: ChannelAccount["log"];
}): Sending {
  /** Properties of a post; those of an edited post stay without them. */
  function propsOf({ buttons }: PostBody, at: Parameters<Presses["attachments"]>[1]) {
    if (buttons === undefined) return {};
    return { props: { attachments: presses?.attachments(buttons, at) ?? [] } };
  }

  /** Nobody sees a file before its post, so an upload may be repeated. */
  async function upload({ path, name, type }: PostFile, channel: string, signal: AbortSignal): Promise<string> {
    const blob = await openAsBlob(path, { type }).catch((error: unknown) => {
      throw new ChannelError("media_missing", { detail: `The file ${name} cannot be read`, cause: error });
    });
    const { maxFileSize, allowsFiles } = await settings(signal);
    if (!allowsFiles) {
      const { meaning: detail, hint } = codes.files_disabled;
      throw new ChannelError("files_disabled", { detail, hint });
    }
    if (maxFileSize > 0 && blob.size > maxFileSize) throw mediaTooLarge(maxFileSize, blob.size);
    const body = new FormData();
    body.append("channel_id", channel);
    body.append("files", blob, name);
    const { file_infos } = record(await api.call("POST", "files", { body, signal, timeoutMs: uploadMs }));
    const [info] = list(file_infos).map(record);
    if (!isId(info?.id)) throw new ChannelError("bad_answer", { detail: "POST files: the answer has no file" });
    return info.id;
  }

  /** Files that are refused for good are left out if the part allows it. */
  async function uploadAll(part: Part, channel: string, signal: AbortSignal) {
    const { files, text: words } = part.body as PostBody;
    const file_ids: string[] = [];
    const omitted: string[] = [];
    for (const file of files) {
      try {
        file_ids.push(await upload(file, channel, signal));
      } catch (error) {
        if (!(error instanceof ChannelError)) throw error;
        const { reason, message: detail, retryable, fate, retryAfterMs, hint } = error;
        if (part.mayOmitFiles === true && words !== "" && !retryable && fate === "not-sent")
          omitted.push(`the file ${file.name}: ${detail}${hint === undefined ? "" : ` ${hint}`}`);
        else
          throw new ChannelError(reason, {
            ...{ detail, cause: error, retryable: retryable || fate === "unknown" },
            ...(retryAfterMs !== undefined && { retryAfterMs }),
            ...(hint !== undefined && { hint }),
          });
      }
    }
    return { file_ids, omitted };
  }

  async function create(post: object, { onlyFor }: Pick<Part, "onlyFor">, signal: AbortSignal): Promise<string> {
    const created =
      onlyFor === undefined
        ? await api.call("POST", "posts", { body: post, signal, creates: true })
        : await api.call("POST", "posts/ephemeral", { body: { user_id: onlyFor.sender, post }, signal, creates: true });
    const found = id(record(created).id);
    if (found === "") throw new ChannelError("bad_answer", { fate: "unknown", retryable: true });
    return found;
  }

  async function post(part: Part, address: Address, signal: AbortSignal): Promise<Receipt> {
    const body = part.body as PostBody;
    const channel = await directory.placeOf(address.chat, signal);
    const { id: own } = await directory.me(signal);
    const { key } = part;
    const root = address.thread ?? part.replyTo;
    const { file_ids, omitted } = await uploadAll(part, channel, signal);
    const receipt = (messageId: string): Receipt => ({ messageId, ...(omitted.length > 0 && { omitted }) });
    const fields = {
      channel_id: channel,
      message: body.text,
      ...(file_ids.length > 0 && { file_ids }),
      ...propsOf(body, { ...address, channel, key: key ?? "" }),
      ...(key !== undefined && { pending_post_id: `${own}:${key}` }),
    };
    if (root === undefined) return receipt(await create(fields, part, signal));
    try {
      return receipt(await create({ ...fields, root_id: root }, part, signal));
    } catch (error) {
      // The message that is answered was deleted, or is itself in a thread.
      const isGone = error instanceof ChannelError && error.reason === "thread_gone";
      if (!isGone || address.thread !== undefined) throw error;
      return receipt(await create(fields, part, signal));
    }
  }

  async function edit(messageId: string, body: PostBody, address: Address, signal: AbortSignal): Promise<void> {
    const channel = body.buttons === undefined ? "" : await directory.placeOf(address.chat, signal);
    const props = propsOf(body, { ...address, channel, key: messageId });
    await api.call("PUT", `posts/${checked(messageId)}/patch`, { body: { message: body.text, ...props }, signal });
  }

  async function remove(messageId: string, _address: Address, signal?: AbortSignal): Promise<void> {
    await api.call("DELETE", `posts/${checked(messageId)}`, { signal });
  }

  async function send(part: Part, address: Address, signal: AbortSignal): Promise<Receipt> {
    const { replaces, inPlace } = part;
    const body = part.body as PostBody;
    if (replaces === undefined) return await post(part, address, signal);
    // Files cannot be added to a post.
    const isNew = body.files.length > 0 && inPlace !== true;
    try {
      if (isNew) await remove(replaces, address, signal);
      else await edit(replaces, body, address, signal);
    } catch (error) {
      const isGone = error instanceof ChannelError && error.reason === "message_gone";
      if (!isGone || inPlace === true) throw error;
      return await post(part, address, signal);
    }
    if (isNew) return await post(part, address, signal);
    const omitted = body.files.length > 0 ? { omitted: ["files: they cannot be added to a message"] } : {};
    return { messageId: replaces, ...omitted };
  }

  return {
    send,
    remove,
    async react(messageId, emoji) {
      const { id: own } = await directory.me();
      const name = emoji === null ? undefined : nameOfEmoji(emoji);
      if (emoji !== null && name === undefined)
        throw new ChannelError("reaction_invalid", { detail: `The channel knows no name of ${emoji}` });
      const there = list(await api.call("GET", `posts/${checked(messageId)}/reactions`))
        .map(record)
        .filter(({ user_id }) => user_id === own)
        .map(({ emoji_name }) => text(emoji_name));
      for (const old of there.filter((one) => one !== name))
        await api.call("DELETE", `users/me/posts/${messageId}/reactions/${encodeURIComponent(old)}`);
      if (name !== undefined && !there.includes(name))
        await api.call("POST", "reactions", { body: { user_id: own, post_id: messageId, emoji_name: name } });
    },
    preview: (address, how) =>
      editingPreview<MarkupMessage>(
        {
          messagesOf: growingMarkdown({ dialect: "markdown", limit: maxChars }),
          textOf: ({ markup }) => markup,
          async post({ markup }, _index, signal) {
            const part = { kind: "text", chars: markup.length, body: { text: markup, files: [] } };
            return (await post(part, address, signal)).messageId;
          },
          edit: (messageId, { markup }, signal) => edit(messageId, { text: markup, files: [] }, address, signal),
          remove: (messageId, signal) => remove(messageId, address, signal),
        },
        { ...how, log },
      ),
  };
}

/** An id becomes a part of a path, so it has its form. */
function checked(messageId: string): string {
  if (isId(messageId)) return messageId;
  throw new ChannelError("message_gone", { detail: "The id of a message has 26 small letters and digits" });
}
