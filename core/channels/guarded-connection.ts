/**
 * A channel's connection as the core calls it. Whatever its plugin does, a call ends within its deadline, with an answer of the right
 * shape or with an error that names the plugin and the call. `ChannelError` passes as it is: its code decides what happens next.
 */
import { PluginError, type Receipt } from "../contract/index.ts";
import {
  type Asked,
  callAtOnce,
  callPlugin,
  inboundProblem,
  isObject,
  isTextList,
  kindOf,
  lateAnswer,
  partsProblem,
  pluginDeadlines,
  pluginFault,
  receiptProblem,
  unusable,
} from "../host/index.ts";
import type { ChannelConnection, ChannelPreview } from "../sdk/contract.ts";
import { isThenable, type TimedCall } from "../stations/index.ts";

export interface GuardOptions {
  readonly plugin: string;
  /** Channel and account, such as `desk:default`. */
  readonly name: string;
  /** A fault that does not end a call: the answer of the plugin was replaced by a safe one, or no caller waits for it. */
  readonly onFault: (error: Error) => void;
  /** Default: the calls are not timed. */
  readonly timed?: TimedCall;
}

export function guardConnection(
  connection: ChannelConnection,
  { plugin, name, onFault, timed = (_, call) => call() }: GuardOptions,
): ChannelConnection {
  const asked = (call: string): Asked => ({ plugin, doing: `${call} of ${name}` });
  const watched = <T>(call: string, run: () => T): T => timed({ plugin, hook: `${call} of ${name}` }, run);
  /** Most callers go on without what failed, and log nothing: a mistake of the plugin is in the log all the same. */
  const noted = (error: unknown) => {
    if (error instanceof PluginError) onFault(error);
    return error;
  };
  /** For one that exists: the call with its deadline and a check of what it resolves with. */
  const within = async <T>(
    call: keyof typeof pluginDeadlines & keyof ChannelConnection,
    run: () => T | PromiseLike<T>,
    wrong: (value: unknown) => string | undefined = () => undefined,
    signal?: AbortSignal,
  ): Promise<T> => {
    try {
      const value = await callPlugin(asked(call), pluginDeadlines[call], () => watched(call, run), { signal });
      const problem = wrong(value);
      if (problem !== undefined) throw unusable(asked(call), problem);
      return value;
    } catch (error) {
      throw noted(error);
    }
  };
  const { remove, preview, react, typing, menu, findMedia, resolve, probe, members, fetchMedia, admit, pause, update } = connection;

  /** A send that resolves counts as sent, whatever it resolves with: repeated it would be there twice. */
  function receiptOf(value: unknown): Receipt {
    const problem = receiptProblem(value);
    if (problem === undefined) return value as Receipt;
    onFault(unusable(asked("send"), problem));
    const { messageId } = isObject(value) ? value : {};
    return { messageId: typeof messageId === "number" ? String(messageId) : "" };
  }

  return {
    async start() {
      const late = setTimeout(() => onFault(lateAnswer(asked("start"), pluginDeadlines.start)), pluginDeadlines.start);
      try {
        await connection.start();
      } catch (thrown) {
        throw pluginFault(asked("start"), thrown);
      } finally {
        clearTimeout(late);
      }
    },
    parse(raw, more) {
      const parsed = callAtOnce(asked("parse"), () => watched("parse", () => connection.parse(raw, more)));
      const problem = parsed === undefined ? undefined : inboundProblem(parsed);
      if (problem !== undefined) throw unusable(asked("parse"), problem);
      return parsed;
    },
    render(reply, address, about) {
      try {
        const parts = callAtOnce(asked("render"), () => watched("render", () => connection.render(reply, address, about)));
        const problem = partsProblem(parts);
        if (problem !== undefined) throw unusable(asked("render"), problem);
        return parts;
      } catch (error) {
        throw noted(error);
      }
    },
    send: async (part, address, signal) => receiptOf(await within("send", () => connection.send(part, address, signal))),
    // The caller that closes it logs what goes wrong.
    close: () => callPlugin(asked("close"), pluginDeadlines.close, () => watched("close", () => connection.close())),
    ...(admit && {
      admit(part, address, signal) {
        let waiting: unknown;
        try {
          waiting = callOrThrow(asked("admit"), () => watched("admit", () => admit.call(connection, part, address, signal)));
          if (waiting === undefined || waiting === null) return undefined;
          if (!isThenable(waiting)) throw unusable(asked("admit"), kindOf(waiting));
        } catch (error) {
          throw noted(error);
        }
        const wait = waiting as Promise<void>;
        return within("admit", () => wait);
      },
    }),
    ...(pause && { pause: () => within("pause", () => pause.call(connection)) }),
    ...(update && { update: (options) => tell(asked("update"), () => watched("update", () => update.call(connection, options)), onFault) }),
    ...(remove && {
      remove: (messageId, address, signal) => within("remove", () => remove.call(connection, messageId, address, signal)),
    }),
    ...(preview && {
      preview(address, options) {
        const ids = new KnownIds(options);
        const made = callAtOnce(asked("preview"), () =>
          watched("preview", () => preview.call(connection, address, { ...options, onMessage: (found) => ids.add(found) })),
        );
        if (!isObject(made) || typeof made.update !== "function" || typeof made.close !== "function")
          throw unusable(asked("preview"), "update or close is missing");
        return guardPreview(made as unknown as ChannelPreview, { ids, asked, onFault, watched });
      },
    }),
    ...(react && {
      react: (messageId, emoji, address, patience) => within("react", () => react.call(connection, messageId, emoji, address, patience)),
    }),
    ...(typing && { typing: (address) => within("typing", () => typing.call(connection, address)) }),
    ...(menu && {
      menu: (commands) => callPlugin(asked("menu"), pluginDeadlines.menu, () => watched("menu", () => menu.call(connection, commands))),
    }),
    ...(findMedia && {
      findMedia: (kind, query, limit) => within("findMedia", () => findMedia.call(connection, kind, query, limit), foundProblem),
    }),
    ...(resolve && {
      resolve: (target) =>
        within(
          "resolve",
          () => resolve.call(connection, target),
          (value) => (typeof value === "string" && value !== "" ? undefined : kindOf(value)),
        ),
    }),
    ...(probe && { probe: () => within("probe", () => probe.call(connection), verdictProblem) }),
    ...(members && { members: (chat) => within("members", () => members.call(connection, chat), verdictProblem) }),
    ...(fetchMedia && {
      fetchMedia: (media, options) => within("fetchMedia", () => fetchMedia.call(connection, media, options), fileProblem, options.signal),
    }),
  };
}

function callOrThrow<T>(asked: Asked, call: () => T): T {
  try {
    return call();
  } catch (thrown) {
    throw pluginFault(asked, thrown);
  }
}

/** For what returns nothing: an async function may return nothing as well, and its rejection would be unhandled. */
function tell(asked: Asked, call: () => void, onFault: GuardOptions["onFault"]): void {
  const answer: unknown = callOrThrow(asked, call);
  if (isThenable(answer)) Promise.resolve(answer).catch((thrown: unknown) => onFault(pluginFault(asked, thrown)));
}

/** The messages of a preview as far as the channel has named them: what its `close` fails to tell is known all the same. */
class KnownIds {
  readonly #onMessage: (messageIds: readonly string[]) => void;
  #ids: readonly string[];
  #open = true;

  constructor({ resume, onMessage }: { readonly resume: readonly string[]; onMessage(messageIds: readonly string[]): void }) {
    this.#ids = resume;
    this.#onMessage = onMessage;
  }

  get all(): readonly string[] {
    return this.#ids;
  }

  add(ids: unknown): void {
    if (!this.#open || !isTextList(ids)) return;
    this.#ids = ids;
    this.#onMessage(ids);
  }

  end(): void {
    this.#open = false;
  }
}

function guardPreview(
  preview: ChannelPreview,
  {
    ids,
    asked,
    onFault,
    watched,
  }: {
    readonly ids: KnownIds;
    readonly asked: (call: string) => Asked;
    readonly watched: <T>(call: string, run: () => T) => T;
  } & Pick<GuardOptions, "onFault">,
): ChannelPreview {
  return {
    update: (text) => tell(asked("preview update"), () => watched("preview update", () => preview.update(text)), onFault),
    async close() {
      const at = asked("preview close");
      try {
        const shown: unknown = await callPlugin(at, pluginDeadlines.closePreview, () => watched("preview close", () => preview.close()));
        if (isTextList(shown)) return shown;
        onFault(unusable(at, kindOf(shown)));
      } catch (error) {
        onFault(error as Error);
      } finally {
        ids.end();
      }
      return ids.all;
    },
  };
}

function verdictProblem(value: unknown): string | undefined {
  return isObject(value) && typeof value.ok === "boolean" && typeof value.detail === "string" ? undefined : "ok or detail is missing";
}

function foundProblem(value: unknown): string | undefined {
  const isSticker = (one: unknown) => isObject(one) && typeof one.ref === "string" && typeof one.description === "string";
  return Array.isArray(value) && value.every(isSticker) ? undefined : "it is not a list of stickers";
}

function fileProblem(value: unknown): string | undefined {
  if (!isObject(value)) return kindOf(value);
  return typeof value.path === "string" && typeof value.mimeType === "string" && typeof value.size === "number"
    ? undefined
    : "path, mimeType or size is missing";
}
