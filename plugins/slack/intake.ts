/** What comes in, by a socket or posted: completed with names, in the order of its channel, and stored. */
import type { Json } from "service-gateway/sdk";
import { type ChannelAccount, ChannelError } from "service-gateway/sdk/channel";
import type { SlackApi } from "./api.ts";
import { type Backlog, createBacklog } from "./backlog.ts";
import { type Fields, isTimestamp, list, pick, record, text } from "./fields.ts";
import { createLookup } from "./lookup.ts";
import type { Options } from "./options.ts";
import type { Me, Stored } from "./parse.ts";
import type { PostedKind } from "./posted.ts";
import { mentionsIn, type People } from "./text.ts";
import { waitFor } from "./wait.ts";

const heard: ReadonlySet<unknown> = new Set(["message", "app_mention", "reaction_added"]);
/** Names of more people in one message are not worth the calls. */
const mostNames = 10;
const followedDays = 7;
/** Slack repeats what is not confirmed within 3 s. */
const backlogWaitMs = 1_500;

export interface Who extends Me {
  readonly team: string;
  readonly enterprise?: string;
}

export interface Intake {
  /** Resolves when the event is stored, or needs nothing: confirm it then. */
  take(kind: string, payload: Fields): Promise<void>;
  readonly backlog: Backlog;
}

export function createIntake({
  account,
  api,
  who,
  options,
  learnChat,
  onRemoved,
  notify,
}: {
  readonly account: ChannelAccount<Options>;
  readonly api: SlackApi;
  who(): Promise<Who>;
  options(): Options;
  /** The direct chat with a person. */
  learnChat(person: string, channel: string): void;
  /** The app was removed from the workspace. */
  onRemoved(reason: Error): void;
  /** Shows a person why a press of theirs has no effect. */
  notify(payload: Fields, notice: string): Promise<void>;
}): Intake {
  const { log, store } = account;
  const last = new Map<string, Promise<unknown>>();
  const people = createLookup(account, { ask: (id) => personOf(api, id) });
  const titles = createLookup(account, {
    ask: async (channel) => text(record((await api.call("conversations.info", { channel })).channel)?.name),
  });
  const backlog = createBacklog(account, { api, submit: async (message) => await submit(message, await who()) });

  /** Events of a channel are stored in the order in which they came, although names are looked up before. */
  function inOrder(channel: string, work: () => Promise<void>): Promise<void> {
    const before = last.get(channel) ?? Promise.resolve();
    const here = before.catch(() => {}).then(work);
    const settled = here
      .catch(() => {})
      .then(() => {
        if (last.get(channel) === settled) last.delete(channel);
      });
    last.set(channel, settled);
    return here;
  }

  async function namesOf(ids: readonly (string | undefined)[]): Promise<People> {
    const wanted = [...new Set(ids.flatMap((id) => id ?? []))].slice(0, mostNames);
    const found = await Promise.all(wanted.map(async (id) => [id, await people.find(id)] as const));
    return Object.fromEntries(found.flatMap(([id, person]) => (person === undefined ? [] : [[id, person]])));
  }

  async function onEvent(payload: Fields): Promise<void> {
    const event = record(payload.event);
    if (event?.type === "app_uninstalled" || event?.type === "tokens_revoked")
      return onRemoved(new ChannelError("unauthorized", { detail: `Slack reports ${event.type}` }));
    const channel = text(event?.channel) ?? text(record(event?.item)?.channel);
    if (event === undefined || channel === undefined || !heard.has(event.type)) return;
    const me = await who();
    if (isForeign(payload, me))
      return log.warn({ team: text(payload.team_id) }, "an event of another workspace is ignored");
    const missing = event.type === "reaction_added" ? undefined : backlog.before(channel);
    if (missing !== undefined) await waitFor(missing, backlogWaitMs);
    await submit(event, me, text(payload.event_id));
  }

  /** A message has no id of its own here: `app_mention`, `message` and the history are one by the message's. */
  async function submit(event: Fields, me: Who, eventId?: string): Promise<void> {
    const message = record(event.message) ?? record(event.previous_message) ?? event;
    const isMessage = event.type !== "reaction_added";
    const isNew = isMessage && message === event;
    if (isNew && (event.user === me.user || (me.bot !== undefined && event.bot_id === me.bot))) return;
    const channel = String(event.channel ?? record(event.item)?.channel);
    const sender = text(event.user) ?? text(message.user);
    if (channel.startsWith("D") && sender !== undefined && sender !== me.user) learnChat(sender, channel);
    const names = namesOf([
      sender ?? text(event.bot_id),
      ...mentionsIn(text(message.text) ?? "").filter((id) => id !== me.user),
    ]);
    const title = channel.startsWith("D") ? undefined : titles.find(channel);
    await inOrder(channel, async () => {
      const thread = isMessage ? await threadOf(channel, message, me) : {};
      const name = await title;
      const stored: Stored = {
        ...{ is: "event", me: pickMe(me), payload: compact(event), people: await names },
        ...(name !== undefined && { title: name }),
        ...thread,
      };
      await account.receive(stored as unknown as Json, isNew || eventId === undefined ? {} : { id: eventId });
      if (isNew) backlog.saw(event.ts);
    });
  }

  /** Whether a message begins a thread of its own, or is in one that a mention began. */
  async function threadOf(channel: string, message: Fields, me: Who): Promise<Pick<Stored, "begins" | "follows">> {
    const { ts, thread_ts } = message;
    const isMentioned = mentionsIn(text(message.text) ?? "").includes(me.user);
    if (isTimestamp(thread_ts) && thread_ts !== ts) {
      const follows = !channel.startsWith("D") && (await store.get(`thread:${channel}:${thread_ts}`)) !== null;
      if (follows || isMentioned || channel.startsWith("D") || message.parent_user_id === me.user)
        backlog.sawThread(channel, thread_ts);
      return follows && options().threadPerMention ? { follows } : {};
    }
    if (!options().threadPerMention || channel.startsWith("D") || !isMentioned || !isTimestamp(ts)) return {};
    await store.set(`thread:${channel}:${ts}`, true, { ttlSeconds: followedDays * 86_400 });
    backlog.sawThread(channel, ts);
    return { begins: true };
  }

  async function onPress(payload: Fields): Promise<void> {
    if (payload.type !== "block_actions") return;
    const me = await who();
    const person = text(record(payload.user)?.id);
    const channel = text(record(payload.container)?.channel_id) ?? text(record(payload.channel)?.id);
    if (channel?.startsWith("D") && person !== undefined) learnChat(person, channel);
    const kept = {
      ...pick(payload, ["type", "response_url", "trigger_id"]),
      user: { id: person ?? "" },
      container: pick(record(payload.container) ?? {}, ["message_ts", "thread_ts", "channel_id", "is_ephemeral"]),
      channel: pick(record(payload.channel) ?? {}, ["id"]),
      message: pick(record(payload.message) ?? {}, ["thread_ts"]),
      actions: list(payload.actions).map((action) =>
        pick(record(action) ?? {}, ["action_id", "value", "selected_option"]),
      ),
    };
    const stored = { is: "press", me: pickMe(me), payload: kept, people: await namesOf([person]) } as unknown as Json;
    const trigger = text(payload.trigger_id);
    await account.receive(stored, trigger === undefined ? {} : { id: trigger });
    void account
      .check(stored)
      .then((verdict) => (verdict.allowed ? undefined : notify(kept, verdict.notice)))
      .catch((error: unknown) => log.debug({ reason: String(error) }, "a refused press could not be answered"));
  }

  async function onCommand(form: Fields): Promise<void> {
    const me = await who();
    const payload = pick(form, ["channel_id", "user_id", "command", "text", "response_url"]);
    const people = await namesOf([text(form.user_id), ...mentionsIn(text(form.text) ?? "")]);
    const stored = { is: "command", me: pickMe(me), payload, people } as unknown as Json;
    const trigger = text(form.trigger_id);
    await account.receive(stored, trigger === undefined ? {} : { id: trigger });
  }

  return {
    backlog,
    async take(kind, payload) {
      if (kind === ("events_api" satisfies PostedKind)) await onEvent(payload);
      else if (kind === ("interactive" satisfies PostedKind)) await onPress(payload);
      else if (kind === ("slash_commands" satisfies PostedKind)) await onCommand(payload);
    },
  };
}

const pickMe = ({ user, bot }: Who): Me => ({ user, ...(bot !== undefined && { bot }) });

async function personOf(api: SlackApi, id: string): Promise<People[string] | undefined> {
  if (id.startsWith("B")) {
    const name = text(record((await api.call("bots.info", { bot: id })).bot)?.name);
    return { isBot: true, ...(name !== undefined && { name }) };
  }
  const user = record((await api.call("users.info", { user: id })).user) ?? {};
  const profile = record(user.profile);
  const name = text(profile?.display_name) ?? text(profile?.real_name) ?? text(user.real_name);
  const username = text(user.name);
  return {
    ...(name !== undefined && { name }),
    ...(username !== undefined && { username }),
    ...(user.is_bot === true && { isBot: true }),
  };
}

/** An app can be in several workspaces. `authorizations` names those for which the event is, also in shared channels. */
function isForeign(payload: Fields, { team, enterprise }: Who): boolean {
  const first = record(list(payload.authorizations)[0]);
  const [of, above] = [text(first?.team_id) ?? text(payload.team_id), text(first?.enterprise_id)];
  return of !== undefined && of !== team && of !== enterprise && (above === undefined || above !== enterprise);
}

const messageFields = ["type", "subtype", "user", "bot_id", "username", "text", "ts", "thread_ts", "parent_user_id"];
const eventFields = [...messageFields, "channel", "event_ts", "deleted_ts", "reaction", "item"];
const fileFields = ["id", "name", "mimetype", "size", "mode", "subtype"];
const cardFields = ["is_share", "is_msg_unfurl", "author_name", "fallback", "text", "from_url", "title"];

/** What is read of an event. What a message was before it was edited or deleted is not stored again. */
function compact(event: Fields): Fields {
  const [message, before] = [record(event.message), record(event.previous_message)];
  const isUnchanged = message !== undefined && before !== undefined && message.text === before.text;
  return {
    ...pick(event, eventFields),
    ...lists(event),
    ...(message !== undefined && { message: { ...pick(message, messageFields), ...lists(message) } }),
    ...(before !== undefined && {
      previous_message: pick(
        before,
        messageFields.filter((name) => name !== "text"),
      ),
    }),
    ...(isUnchanged && { unchanged: true }),
  };
}

function lists({ files, attachments, bot_profile }: Fields): Fields {
  const name = text(record(bot_profile)?.name);
  return {
    ...(files !== undefined && { files: list(files).map((file) => pick(record(file) ?? {}, fileFields)) }),
    ...(attachments !== undefined && {
      attachments: list(attachments).map((card) => pick(record(card) ?? {}, cardFields)),
    }),
    ...(name !== undefined && { bot_profile: { name } }),
  };
}
