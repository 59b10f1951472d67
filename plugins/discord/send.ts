/** Sends messages, edits and removes them. */
import type { Address, Json } from "service-gateway/sdk";
import { ChannelError, type Part, type Receipt } from "service-gateway/sdk/channel";
import type { Api } from "./api.ts";
import { id, record } from "./fields.ts";
import { type Handle, readHandle } from "./interaction.ts";
import type { Places } from "./places.ts";
import { allowedMentions, type Body } from "./render.ts";

const ephemeral = 1 << 6;

export function createSender({ api, places }: { readonly api: Api; readonly places: Places }) {
  const messagesOf = async (address: Address) => `/channels/${await places.channelOf(address)}/messages`;

  function payload({ body, replyTo, key }: Part): Json {
    const { content, message } = body as unknown as Body;
    return {
      ...message,
      content,
      allowed_mentions: allowedMentions,
      // A message that was deleted meanwhile is left out.
      ...(replyTo !== undefined && { message_reference: { message_id: replyTo, fail_if_not_exists: false } }),
      // The platform shows a message with a known nonce once, for some minutes.
      ...(key !== undefined && { nonce: key, enforce_nonce: true }),
    };
  }

  async function post(part: Part, address: Address, signal: AbortSignal): Promise<Receipt> {
    const path = await messagesOf(address);
    const { files, content } = part.body as unknown as Body;
    const call = { body: payload(part), signal, isAdmitted: true };
    const answer = api.call("POST", path, { ...call, files }).catch(async (error: unknown) => {
      const isTooLarge = error instanceof ChannelError && error.reason === "too_large";
      if (!isTooLarge || part.mayOmitFiles !== true || content === "") throw error;
      return { ...record(await api.call("POST", path, call)), omitted: true };
    });
    const sent = record(await answer);
    const messageId = id(sent?.id);
    if (messageId === undefined)
      throw new ChannelError("bad_answer", {
        retryable: true,
        fate: "unknown",
        detail: "Discord did not name the message",
      });
    return {
      messageId,
      ...(sent?.omitted === true && { omitted: files.map(({ name }) => `${name}: too large for Discord`) }),
    };
  }

  async function edit(part: Part, address: Address, signal: AbortSignal): Promise<Receipt | undefined> {
    const { content, message, files } = part.body as unknown as Body;
    const { flags: _, ...changed } = message;
    const path = `${await messagesOf(address)}/${part.replaces}`;
    try {
      const body = { ...changed, content, allowed_mentions: allowedMentions };
      await api.call("PATCH", path, { body, files, signal, isAdmitted: true });
      return { messageId: part.replaces ?? "" };
    } catch (error) {
      const isGone = error instanceof ChannelError && error.reason === "message_gone";
      if (isGone && part.inPlace !== true) return undefined;
      throw error;
    }
  }

  return {
    messagesOf,
    async send(part: Part, address: Address, signal: AbortSignal): Promise<Receipt> {
      const { onlyFor } = part;
      if (onlyFor !== undefined) {
        const handle = readHandle(onlyFor.interaction);
        if (handle === undefined)
          throw new ChannelError("interaction_expired", {
            detail: "Discord shows a message to one person only in answer to a command or a press",
          });
        return await answer(api, part, handle, signal);
      }
      const changed = part.replaces === undefined ? undefined : await edit(part, address, signal);
      const receipt = changed ?? (await post(part, address, signal));
      const command = readHandle((part.body as unknown as Body).command);
      // The answer is there for everyone, so nothing remains to wait for.
      if (command !== undefined) api.call("DELETE", original(command)).catch(() => {});
      return receipt;
    },
    async remove(messageId: string, address: Address, signal: AbortSignal): Promise<void> {
      try {
        await api.call("DELETE", `${await messagesOf(address)}/${messageId}`, { signal });
      } catch (error) {
        if (!(error instanceof ChannelError) || error.reason !== "message_gone") throw error;
      }
    },
  };
}

const original = ({ application, token }: Handle) =>
  `/webhooks/${application}/${encodeURIComponent(token)}/messages/@original`;

/** Only the person who used the command or pressed the button sees it. */
async function answer(api: Api, part: Part, handle: Handle, signal: AbortSignal): Promise<Receipt> {
  const { content, message, files, command } = part.body as unknown as Body;
  const body = { ...message, content, allowed_mentions: { parse: [] }, flags: ephemeral };
  const isFirst = handle.kind === "command" && command !== undefined;
  try {
    const sent = isFirst
      ? await api.call("PATCH", original(handle), { body, files, signal })
      : await api.call("POST", `/webhooks/${handle.application}/${encodeURIComponent(handle.token)}?wait=true`, {
          ...{ body, files, signal },
        });
    return { messageId: id(record(sent)?.id) ?? "0" };
  } catch (error) {
    // Such an answer has no key: a repetition would be seen twice, except for the first one, which is an edit.
    if (!(error instanceof ChannelError) || error.fate === "not-sent" || isFirst) throw error;
    throw new ChannelError(error.reason, { fate: "unknown", detail: error.message, cause: error });
  }
}
