/** What comes in, by a socket or posted: completed with names, in the order of its channel, and stored. */
import type { Json } from "service-gateway/sdk";
import { type ChannelAccount, ChannelError, within } from "service-gateway/sdk/channel";
import type { SlackApi } from "../api.ts";
import { type Fields, list, record, text } from "../fields.ts";
import type { Who } from "../identity.ts";
import type { Options } from "../options.ts";
import { type Backlog, createBacklog } from "./backlog.ts";
import { compactCommand, compactEvent, compactPress } from "./compact.ts";
import { createDirectory } from "./directory.ts";
import { createHistory } from "./history.ts";
import type { Me, Stored } from "./parse.ts";
import { createSeen, type Seen } from "./seen.ts";
import { mentionsIn } from "./text.ts";
import { threadOf } from "./threads.ts";

const heard: ReadonlySet<unknown> = new Set(["message", "app_mention", "reaction_added"]);
/** Slack repeats what is not confirmed within 3 s. */
const backlogWaitMs = 1_500;

export interface Intake {
  /** Resolves when the event is stored, or needs nothing: confirm it then. */
  take(kind: string, payload: Fields): Promise<void>;
  readonly backlog: Backlog;
  readonly seen: Seen;
}

interface IntakeOptions {
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
}

export function createIntake({ account, api, who, options, learnChat, onRemoved, notify }: IntakeOptions): Intake {
  const { log, store } = account;
  const inOrder = createOrder();
  const directory = createDirectory(api, account);
  const seen = createSeen(account);
  const history = createHistory(api, account);
  const backlog = createBacklog(account, { history, seen, submit: async (message) => submit(message, await who()) });

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
    if (missing !== undefined)
      await within(
        missing.catch(() => undefined),
        backlogWaitMs,
        account.signal,
      );
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
    const mentioned = mentionsIn(text(message.text) ?? "").filter((id) => id !== me.user);
    const people = directory.people([sender ?? text(event.bot_id), ...mentioned]);
    const title = directory.title(channel);
    await inOrder(channel, async () => {
      const at = { channel, message, me, perMention: options().threadPerMention };
      const name = await title;
      const stored: Stored = {
        ...{ is: "event", me: idsOf(me), payload: compactEvent(event), people: await people },
        ...(name !== undefined && { title: name }),
        ...(isMessage && (await threadOf(at, { store, seen }))),
      };
      await account.receive(stored as unknown as Json, isNew || eventId === undefined ? {} : { id: eventId });
      if (isNew) seen.saw(event.ts);
    });
  }

  /** Slack names no id of a press or a command, but what opens a form for it, which is as good. */
  async function submitAt(
    is: "press" | "command",
    payload: Fields,
    about: { ids: readonly (string | undefined)[]; trigger: unknown },
  ) {
    const stored = {
      is,
      me: idsOf(await who()),
      payload,
      people: await directory.people(about.ids),
    } as unknown as Json;
    const id = text(about.trigger);
    const { duplicate } = await account.receive(stored, id === undefined ? {} : { id });
    return duplicate ? undefined : stored;
  }

  async function onPress(whole: Fields): Promise<void> {
    if (whole.type !== "block_actions") return;
    const payload = compactPress(whole);
    const person = text(record(payload.user)?.id);
    const stored = await submitAt("press", payload, { ids: [person], trigger: whole.trigger_id });
    if (stored === undefined) return;
    void account
      .check(stored)
      .then((verdict) => (verdict.allowed ? undefined : notify(payload, verdict.notice)))
      .catch((error: unknown) => log.debug({ reason: String(error) }, "a refused press could not be answered"));
  }

  async function onCommand(form: Fields): Promise<void> {
    const ids = [text(form.user_id), ...mentionsIn(text(form.text) ?? "")];
    await submitAt("command", compactCommand(form), { ids, trigger: form.trigger_id });
  }

  return {
    ...{ backlog, seen },
    async take(kind, payload) {
      if (kind === "events_api") await onEvent(payload);
      else if (kind === "interactive") await onPress(payload);
      else if (kind === "slash_commands") await onCommand(payload);
    },
  };
}

/** Events of a channel are stored in the order in which they came, although names are looked up before. */
function createOrder(): (channel: string, work: () => Promise<void>) => Promise<void> {
  const last = new Map<string, Promise<unknown>>();
  return (channel, work) => {
    const here = (last.get(channel) ?? Promise.resolve()).catch(() => {}).then(work);
    const settled = here
      .catch(() => {})
      .then(() => {
        if (last.get(channel) === settled) last.delete(channel);
      });
    last.set(channel, settled);
    return here;
  };
}

const idsOf = ({ user, bot }: Who): Me => ({ user, ...(bot !== undefined && { bot }) });

/** An app can be in several workspaces. `authorizations` names those that an event is for, also in shared channels. */
function isForeign(payload: Fields, { team, enterprise }: Who): boolean {
  const first = record(list(payload.authorizations)[0]);
  const [of, above] = [text(first?.team_id) ?? text(payload.team_id), text(first?.enterprise_id)];
  return of !== undefined && of !== team && of !== enterprise && (above === undefined || above !== enterprise);
}
