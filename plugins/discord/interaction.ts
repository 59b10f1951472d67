/** Presses of buttons and slash commands. The platform calls both interactions, and wants each answered within 3 s. */
import type { ChannelAccount, InboundChat, Parsed } from "service-gateway/sdk/channel";
import type { Api } from "./api.ts";
import { asJson, type StoredEvent, senderOf } from "./event.ts";
import { type Fields, id, number, record, records, text } from "./fields.ts";
import { isSnowflake } from "./snowflake.ts";

const command = 2;
const press = 3;
/** What is answered: with a message, later with a message, later with nothing. */
const answers = { message: 4, messageLater: 5, nothing: 6 } as const;
const ephemeral = 1 << 6;
const guildThreads: readonly number[] = [10, 11, 12];

/** What an answer to one person needs. It is stored with the event, as text. */
export interface Handle {
  readonly kind: "command" | "press";
  readonly application: string;
  readonly token: string;
}

const writeHandle = ({ kind, application, token }: Handle): string => `${kind}:${application}:${token}`;

export function readHandle(value: string | undefined): Handle | undefined {
  const [, kind, application, token] = /^(command|press):(\d{1,20}):([\w.~+/=-]{1,400})$/.exec(value ?? "") ?? [];
  if (kind === undefined || application === undefined || token === undefined) return undefined;
  return { kind: kind as Handle["kind"], application, token };
}

/** The chat of an interaction, which has its channel; that of a direct chat is the person. */
export function interactionChat(data: Fields): InboundChat | undefined {
  const channel = record(data.channel) ?? {};
  const at = id(channel.id) ?? id(data.channel_id);
  const person = id(record(data.user)?.id);
  if (data.guild_id === undefined || data.guild_id === null)
    return person === undefined ? undefined : { id: person, kind: "direct" };
  const parent = id(channel.parent_id);
  if (at === undefined) return undefined;
  const isThread = guildThreads.includes(number(channel.type) ?? 0) && parent !== undefined;
  return isThread ? { id: parent, kind: "group", thread: at } : { id: at, kind: "group" };
}

export function parseInteraction({ data, chat: known }: StoredEvent): Parsed {
  const chat = known ?? interactionChat(data);
  const member = record(data.member);
  const sender = senderOf(record(member?.user) ?? record(data.user), member);
  const kind = number(data.type);
  const [application, token] = [id(data.application_id), text(data.token)];
  const content = record(data.data);
  if (kind !== command && kind !== press) return undefined;
  if (chat === undefined || sender === undefined || content === undefined) return { silent: "press_without_chat" };
  const handle = (of: Handle["kind"]) =>
    application === undefined || token === undefined
      ? {}
      : { interaction: writeHandle({ kind: of, application, token }) };
  if (kind === press) {
    const messageId = id(record(data.message)?.id);
    const value = valueIn(text(content.custom_id) ?? "");
    if (value === "") return { silent: "press_without_chat" };
    const at = { chat, sender, mention: true, ...(messageId !== undefined && { messageId }) };
    return { ...at, kind: "press", text: `callback_data: ${value}`, ...handle("press") };
  }
  const name = text(content.name);
  if (name === undefined) return { silent: "press_without_chat" };
  const words = records(content.options).flatMap(({ value }) => (typeof value === "object" ? [] : String(value ?? "")));
  return {
    chat,
    sender,
    mention: true,
    text: ["/", name, ...words.map((word) => ` ${word}`)].join("").trim(),
    ...handle("command"),
  };
}

const numbered = /\n\d{1,2}$/;

/** Two buttons of a message may have the same value, but not the same id: the second one has a number behind it. */
export const customId = (value: string, earlier: number): string =>
  earlier > 0 || numbered.test(value) ? `${value}\n${earlier}` : value;

const valueIn = (custom: string): string => custom.replace(numbered, "");

/**
 * Answers an interaction at once, outside the order of events. A person who is refused reads why, alone. Whatever goes
 * wrong is not the person's, and a repeated event is answered already, so errors are ignored.
 */
export async function answerInteraction(
  event: StoredEvent,
  { api, account }: { readonly api: Api; readonly account: Pick<ChannelAccount, "check" | "log"> },
): Promise<void> {
  const { data } = event;
  const [interaction, token] = [id(data.id), text(data.token)];
  if (interaction === undefined || token === undefined || !isSnowflake(interaction)) return;
  try {
    const verdict = await account.check(asJson(event));
    const later =
      data.type === command ? { type: answers.messageLater, data: { flags: ephemeral } } : { type: answers.nothing };
    const refused = verdict.allowed
      ? undefined
      : { type: answers.message, data: { content: verdict.notice, flags: ephemeral, allowed_mentions: { parse: [] } } };
    const path = `/interactions/${interaction}/${encodeURIComponent(token)}/callback`;
    await api.call("POST", path, { body: refused ?? later });
  } catch (error) {
    account.log.debug({ reason: (error as { reason?: unknown }).reason }, "an interaction could not be answered");
  }
}

/** The platform's limits: names of lower case letters, and descriptions of a hundred characters. */
const commandName = /^[-_\p{Ll}\p{Lo}\p{N}]{1,32}$/u;
const mostCommands = 100;
/** Where slash commands are offered: in servers, and in direct chats with the bot. */
const contexts = [0, 1];

/** Registers the gateway's commands as slash commands of the bot, in place of those before. */
export async function registerCommands(
  commands: ReturnType<ChannelAccount["commands"]>,
  { api, application }: { readonly api: Api; readonly application: string },
): Promise<void> {
  const body = commands
    .filter(({ name }) => commandName.test(name))
    .slice(0, mostCommands)
    .map(({ name, summary }) => ({
      ...{ name, description: summary.trim().slice(0, 100) || name, type: 1, contexts },
      options: [{ type: 3, name: "text", description: "What follows the command.", required: false }],
    }));
  await api.call("PUT", `/applications/${application}/commands`, { body });
}
