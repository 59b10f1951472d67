/**
 * A channel's connection as the core calls it. Whatever its plugin does, a call ends within its deadline, with an
 * answer of the right shape or with an error that names the plugin and the call. `ChannelError` passes unchanged: its
 * code decides what happens next.
 */
import type { Part, Receipt } from "../../contract/index.ts";
import {
  type CalledConnection,
  type CompleteParsed,
  completeParsed,
  type GuardedConnection,
  inboundProblem,
  isObject,
  isRemote,
  kindOf,
  lateAnswer,
  partsProblem,
  pluginDeadlines,
  pluginFault,
  receiptProblem,
  remote,
  unusable,
  whenKnown,
} from "../../host/index.ts";
import type { ChannelConnection, Parsed } from "../../sdk/contract.ts";
import { isThenable } from "../../stations/index.ts";
import { createGuardedCalls, type GuardedCalls, type GuardOptions } from "./guarded-calls.ts";
import { openPreview } from "./guarded-preview.ts";

export function guardConnection(connection: CalledConnection, options: GuardOptions): GuardedConnection {
  const calls = createGuardedCalls(options);
  const { asked, onFault } = calls;
  /** Has no deadline, because the platform may be away for long. */
  const connecting = async (call: "start" | "standBy", run: () => Promise<void>): Promise<void> => {
    const late = setTimeout(() => {
      // The plugin has reported that its platform is away, so it is not at fault.
      if (options.isWaiting?.() !== true) onFault(lateAnswer(asked(call), pluginDeadlines[call]));
    }, pluginDeadlines[call]);
    try {
      await run();
    } catch (thrown) {
      throw pluginFault(asked(call), thrown);
    } finally {
      clearTimeout(late);
    }
  };
  const { standBy } = connection;
  const guarded: GuardedConnection = {
    start: () => connecting("start", () => connection.start()),
    ...(standBy && { standBy: () => connecting("standBy", () => standBy.call(connection)) }),
    ...guardComputing(connection, calls, options),
    send: async (part, address, signal) =>
      receiptOf(await calls.within("send", () => connection.send(part, address, signal)), calls),
    // The caller that closes it logs the failure.
    close: () => calls.timely("close", pluginDeadlines.close, () => connection.close()),
    ...guardOptional(connection, calls, options.fold),
  };
  // In a worker they are known only once the connection is open there.
  if (isRemote(connection))
    void connection[remote].absent.then((names) => {
      for (const name of names) if (name !== "resolve" || options.fold === undefined) delete guarded[name as "resolve"];
    });
  return guarded;
}

/** The pure functions. A connection in this thread answers at once; one in a worker has a deadline. */
function guardComputing(
  connection: CalledConnection,
  calls: GuardedCalls,
  { fold, readCommand }: Pick<GuardOptions, "fold" | "readCommand">,
): Pick<GuardedConnection, "parse" | "render"> {
  const { asked, noted } = calls;
  const answer = <T>(call: "parse" | "render", run: () => T | Promise<T>): T | Promise<T> =>
    isRemote(connection) ? calls.timely(call, pluginDeadlines[call], run) : calls.atOnce(call, run as () => T);
  const checkedInbound = (parsed: Parsed): CompleteParsed | Promise<CompleteParsed> => {
    const complete = completeParsed(parsed);
    const problem = complete === undefined ? undefined : inboundProblem(complete);
    if (problem !== undefined) throw unusable(asked("parse"), problem);
    return folded(withCommand(complete, readCommand), fold);
  };
  const checkedParts = (parts: readonly Part[]): readonly Part[] => {
    const problem = partsProblem(parts);
    if (problem !== undefined) throw unusable(asked("render"), problem);
    return parts;
  };
  const fail = (error: unknown): never => {
    throw noted(error);
  };
  return {
    parse: (raw, more) =>
      whenKnown(
        answer("parse", () => connection.parse(raw, more)),
        checkedInbound,
      ),
    render(reply, address, about) {
      try {
        const parts = whenKnown(
          answer("render", () => connection.render(reply, address, about)),
          checkedParts,
        );
        return parts instanceof Promise ? parts.catch(fail) : parts;
      } catch (error) {
        return fail(error);
      }
    },
  };
}

/** Chat commands run only in messages. */
function withCommand(parsed: CompleteParsed, read: GuardOptions["readCommand"]): CompleteParsed {
  if (read === undefined || parsed === null || parsed === undefined || "silent" in parsed) return parsed;
  return parsed.kind === "message" ? { ...parsed, text: read(parsed.text) } : parsed;
}

/** Every later step compares ids, so they are brought into their one form where they come in. */
function folded(parsed: CompleteParsed, fold: GuardOptions["fold"]): CompleteParsed | Promise<CompleteParsed> {
  if (fold === undefined || parsed === null || parsed === undefined || "silent" in parsed) return parsed;
  const { chat, sender } = parsed;
  const inForm = (chatId: string, senderId: string): CompleteParsed => ({
    ...parsed,
    chat: { ...chat, id: chatId },
    sender: { ...sender, id: senderId },
  });
  const [chatId, senderId] = [fold(chat.id), fold(sender.id)];
  return typeof chatId === "string" && typeof senderId === "string"
    ? inForm(chatId, senderId)
    : Promise.all([chatId, senderId]).then((ids) => inForm(...ids));
}

/** The calls that a channel may leave out. */
function guardOptional(
  connection: CalledConnection,
  calls: GuardedCalls,
  fold: GuardOptions["fold"],
): Partial<Omit<ChannelConnection, "parse" | "render">> {
  const foldId = fold ?? ((id) => id);
  const { within, timely, withoutAnswer } = calls;
  const {
    remove,
    preview,
    react,
    typing,
    menu,
    findMedia,
    resolve,
    probe,
    members,
    fetchMedia,
    admit,
    pause,
    update,
    reaches,
  } = connection;
  return {
    ...(admit && { admit: guardAdmit(admit.bind(connection), calls) }),
    ...(pause && { pause: () => within("pause", () => pause.call(connection)) }),
    ...(update && { update: (options) => withoutAnswer("update", () => update.call(connection, options)) }),
    ...(remove && {
      remove: (messageId, address, signal) =>
        within("remove", () => remove.call(connection, messageId, address, signal)),
    }),
    ...(preview && {
      preview: (address, options) =>
        openPreview(calls, options, (watched) => preview.call(connection, address, watched)),
    }),
    ...(react && {
      react: (messageId, emoji, address, patience) =>
        within("react", () => react.call(connection, messageId, emoji, address, patience)),
    }),
    ...(typing && { typing: (address, about) => within("typing", () => typing.call(connection, address, about)) }),
    ...(menu && { menu: (commands) => timely("menu", pluginDeadlines.menu, () => menu.call(connection, commands)) }),
    ...(findMedia && {
      findMedia: (kind, query, limit) =>
        within("findMedia", () => findMedia.call(connection, kind, query, limit), { wrong: foundProblem }),
    }),
    ...(reaches && {
      reaches: (address) => within("reaches", () => reaches.call(connection, address), { wrong: reachProblem }),
    }),
    ...((resolve || fold) && {
      resolve: async (target) =>
        await foldId(
          resolve ? await within("resolve", () => resolve.call(connection, target), { wrong: targetProblem }) : target,
        ),
    }),
    ...(probe && { probe: () => within("probe", () => probe.call(connection), { wrong: verdictProblem }) }),
    ...(members && {
      members: (chat) => within("members", () => members.call(connection, chat), { wrong: verdictProblem }),
    }),
    ...(fetchMedia && {
      fetchMedia: (media, options) =>
        within("fetchMedia", () => fetchMedia.call(connection, media, options), {
          wrong: fileProblem,
          signal: options.signal,
        }),
    }),
  };
}

/** A send that resolves is regarded as sent, whatever its value: a repetition would create a duplicate. */
function receiptOf(value: unknown, { asked, onFault }: GuardedCalls): Receipt {
  const problem = receiptProblem(value);
  if (problem === undefined) return value as Receipt;
  onFault(unusable(asked("send"), problem));
  const { messageId } = isObject(value) ? value : {};
  return { messageId: typeof messageId === "number" ? String(messageId) : "" };
}

/** The wait for the platform's rate limits; `undefined` if the part may be sent at once. */
function guardAdmit(
  admit: NonNullable<ChannelConnection["admit"]>,
  { asked, noted, started, within }: GuardedCalls,
): NonNullable<ChannelConnection["admit"]> {
  return (part, address, signal) => {
    let waiting: unknown;
    try {
      waiting = started("admit", () => admit(part, address, signal));
      if (waiting === undefined || waiting === null) return undefined;
      if (!isThenable(waiting)) throw unusable(asked("admit"), kindOf(waiting));
    } catch (error) {
      throw noted(error);
    }
    const wait = waiting as Promise<void>;
    return within("admit", () => wait);
  };
}

function targetProblem(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? undefined : kindOf(value);
}

function verdictProblem(value: unknown): string | undefined {
  return isObject(value) && typeof value.ok === "boolean" && typeof value.detail === "string"
    ? undefined
    : "ok or detail is missing";
}

function reachProblem(value: unknown): string | undefined {
  const isKnown =
    value === "always" || value === "answer-only" || (isObject(value) && typeof value.untilMs === "number");
  return isKnown ? undefined : 'it is not "always", "answer-only" or { untilMs }';
}

function foundProblem(value: unknown): string | undefined {
  const isSticker = (one: unknown) =>
    isObject(one) && typeof one.ref === "string" && typeof one.description === "string";
  return Array.isArray(value) && value.every(isSticker) ? undefined : "it is not a list of stickers";
}

function fileProblem(value: unknown): string | undefined {
  if (!isObject(value)) return kindOf(value);
  return typeof value.path === "string" && typeof value.mimeType === "string" && typeof value.size === "number"
    ? undefined
    : "path, mimeType or size is missing";
}
