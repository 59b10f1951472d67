/** What the bot does in a chat: posts, edits, files, reactions, previews. */
import type { Address } from "service-gateway/sdk";
import {
  type ChannelAccount,
  type ChannelConnection,
  ChannelError,
  editingPreview,
  growingMarkdown,
  type MarkupMessage,
  type Part,
  type Receipt,
} from "service-gateway/sdk/channel";
import type { Api } from "../api.ts";
import type { Directory } from "../directory.ts";
import { checkedId, id, record } from "../fields.ts";
import type { ButtonPlace, Buttons } from "./buttons.ts";
import type { PlaceOf } from "./places.ts";
import { createReactions } from "./reactions.ts";
import { maxChars, type PostBody } from "./render.ts";
import type { UploadAll } from "./uploads.ts";

export type Sending = Required<Pick<ChannelConnection, "send" | "remove" | "react" | "preview">>;

export function createSending({
  api,
  directory,
  placeOf,
  buttons,
  uploadAll,
  log,
}: {
  readonly api: Api;
  readonly directory: Directory;
  readonly placeOf: PlaceOf;
  /** Absent: the account has none. */
  readonly buttons: Pick<Buttons, "attachments"> | undefined;
  readonly uploadAll: UploadAll;
  readonly log: ChannelAccount["log"];
}): Sending {
  /** Properties of a post; those of an edited post stay without them. */
  function propsOf({ buttons: rows }: PostBody, at: ButtonPlace) {
    if (rows === undefined) return {};
    return { props: { attachments: buttons?.attachments(rows, at) ?? [] } };
  }

  async function post(part: Part, address: Address, signal: AbortSignal): Promise<Receipt> {
    const body = part.body as PostBody;
    const channel = await placeOf(address.chat, signal);
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
    if (root === undefined) return receipt(await create(api, fields, part, signal));
    try {
      return receipt(await create(api, { ...fields, root_id: root }, part, signal));
    } catch (error) {
      // The message that is answered was deleted, or is itself in a thread.
      const isGone = error instanceof ChannelError && error.reason === "thread_gone";
      if (!isGone || address.thread !== undefined) throw error;
      return receipt(await create(api, fields, part, signal));
    }
  }

  async function edit(messageId: string, body: PostBody, address: Address, signal: AbortSignal): Promise<void> {
    const channel = body.buttons === undefined ? "" : await placeOf(address.chat, signal);
    const props = propsOf(body, { ...address, channel, key: messageId });
    await api.call("PUT", `posts/${checkedId(messageId)}/patch`, { body: { message: body.text, ...props }, signal });
  }

  async function remove(messageId: string, _address: Address, signal?: AbortSignal): Promise<void> {
    await api.call("DELETE", `posts/${checkedId(messageId)}`, { signal });
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
    react: createReactions({ api, directory }),
    preview: (address, how) =>
      editingPreview<MarkupMessage>(
        {
          messagesOf: growingMarkdown({ dialect: "markdown", limit: maxChars }),
          textOf: ({ markup }) => markup,
          post: async ({ markup }, _index, signal) => (await post(textPart(markup), address, signal)).messageId,
          edit: (messageId, { markup }, signal) => edit(messageId, textPart(markup).body, address, signal),
          remove: (messageId, signal) => remove(messageId, address, signal),
        },
        { ...how, log },
      ),
  };
}

const textPart = (text: string) => ({ kind: "text", chars: text.length, body: { text, files: [] } });

async function create(
  api: Api,
  post: object,
  { onlyFor }: Pick<Part, "onlyFor">,
  signal: AbortSignal,
): Promise<string> {
  const created =
    onlyFor === undefined
      ? await api.call("POST", "posts", { body: post, signal, creates: true })
      : await api.call("POST", "posts/ephemeral", { body: { user_id: onlyFor.sender, post }, signal, creates: true });
  const found = id(record(created).id);
  if (found === "") throw new ChannelError("bad_answer", { fate: "unknown", retryable: true });
  return found;
}
