/** Voice messages in this gateway. The room that handles them is imported with the first one. */
import type { Gate } from "../../access/index.ts";
import {
  type AgentTurns,
  agentFor,
  askerOf,
  type CommandMatch,
  type Commands,
  type Engines,
  isOnlyVoice,
  isSound,
  listenersOf,
  type Router,
  type RunningOnNodes,
  type Spending,
  usedCommand,
} from "../../agents/index.ts";
import type { Speech, SpeechAt, SpeechOptions } from "../../agents/speech/index.ts";
import { type Accounts, completeMedia } from "../../channels/index.ts";
import type { GatewayConfig } from "../../config/index.ts";
import { type Address, type Inbound, type Reply, type Route, reasonOf, type Silent } from "../../contract/index.ts";
import type { Log } from "../../log/index.ts";
import { type AgentSide, showTyping } from "../../path/index.ts";
import type { Store } from "../../state/index.ts";
import { type FormattingContext, unheardSpeech, Visit } from "../../stations/index.ts";
import { createUnheardPeople } from "./unheard-people.ts";

export interface GatewaySpeechOptions
  extends Pick<
    SpeechOptions,
    "engines" | "providers" | "spending" | "store" | "stateDirectory" | "notifyOwner" | "now"
  > {
  readonly config: () => GatewayConfig;
  readonly store: SpeechOptions["store"] & Pick<Store, "session">;
  readonly spending: Spending;
  readonly log: Log;
  readonly engines: Engines;
  readonly sessionOf: (inbound: Inbound) => string;
  /** They are created after this one. */
  readonly parts: () => {
    readonly accounts: Pick<Accounts, "get">;
    readonly gate: Pick<Gate, "check" | "checkCommand">;
    readonly router: Pick<Router, "route">;
    readonly turns: Pick<AgentTurns, "before" | "after">;
    readonly runningNow: RunningOnNodes["now"];
    readonly commands: Pick<Commands, "run">;
    readonly commandIn: (inbound: Inbound) => CommandMatch | undefined;
  };
}

type Parsed = Inbound | Silent | null | undefined;

export interface GatewaySpeech extends Pick<AgentSide, "hear" | "speak"> {
  /**
   * Listens to a voice message as soon as it is accepted, if a turn runs: it may say `/stop`, and would wait in its
   * lane for the end of what it is to stop.
   */
  accepted(inbound: Inbound): void;
  /** What is read once more, with the words that were recorded. */
  recall(parsed: Parsed): Parsed | Promise<Parsed>;
  /** Removes the words and the files of the voice messages in a deleted message. */
  forget(inbound: Inbound): Promise<void>;
  /** With the words of the voice messages in the message that it replies to. */
  hearAnswered(inbound: Inbound, route: Route, signal: AbortSignal): Promise<Inbound>;
  /** Ends what it listens to ahead of a turn. */
  close(): void;
  /** What a person reads whose voice message was not understood; `undefined` if the agent takes its turn. */
  unheard(inbound: Inbound, route: Route, visit: Visit): Promise<string | undefined> | undefined;
}

const hasSound = ({ media }: Inbound): boolean => media.some(isSound);
/** In a group, people do not expect an answer to what they say to each other. */
const isToBot = ({ chat, mention }: Inbound): boolean => chat.kind === "direct" || mention;

const placeOf = ({ channel, account, chat }: Inbound): Address => ({
  ...{ channel, account },
  ...{ chat: chat.id, thread: chat.thread },
});

/** Listens while a turn of the session runs, and runs the `/stop` that it may hear. */
async function stopAhead(
  inbound: Inbound,
  {
    gate,
    router,
    runningNow,
    commands,
    commandIn,
    ...at
  }: ReturnType<GatewaySpeechOptions["parts"]> & {
    readonly routeOf: (inbound: Inbound) => { readonly sessionKey: string };
    readonly speech: () => Promise<Speech>;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const { first } = await runningNow({ event: inbound.id, ...at.routeOf(inbound) });
  if (first === null) return;
  const room = await at.speech();
  const { signal } = at;
  const heard = await room.hear(inbound, { visit: new Visit(), signal, note() {}, waitFor: (waited) => waited });
  const command = heard.spoken === true ? commandIn(heard) : undefined;
  if (command === undefined) return;
  if (((await gate.check(heard)) ?? (await gate.checkCommand(heard, command))) !== undefined) return;
  const route = await router.route(heard);
  await commands.run({ name: command.name, args: "", inbound: heard, route });
}

export function createGatewaySpeech(options: GatewaySpeechOptions): GatewaySpeech {
  const { config, log } = options;
  const unheardPeople = createUnheardPeople(options);
  const closing = new AbortController();
  let loading: Promise<Speech> | undefined;

  const routeOf = (inbound: Inbound) => {
    const agentId = agentFor(config(), inbound);
    return { agentId, sessionKey: options.sessionOf(inbound) };
  };

  const listens = (inbound: Inbound) => listenersOf(config(), routeOf(inbound).agentId).length > 0;
  const showWork = createShowWork(options);

  function speech(): Promise<Speech> {
    loading ??= import("../../agents/speech/index.ts").then(({ createSpeech }) =>
      createSpeech({
        ...options,
        async fetchFile(media, { inbound, usualMaxMb, signal }) {
          const account = options.parts().accounts.get(inbound.channel, inbound.account);
          const alone = { ...inbound, media: [media], replyTo: undefined };
          const [found = media] = (await completeMedia(alone, { account, signal, usualMaxMb })).media;
          return found;
        },
        // In a group, its words may name the bot.
        isAdmitted: async (inbound) =>
          (await options.parts().gate.check({ ...inbound, mention: true, mentionedByName: true })) === undefined,
        askerOf: (inbound) => askerOf(inbound, routeOf(inbound)),
      }),
    );
    return loading;
  }

  /** A typed `/stop` ends it, like a turn. */
  function listen(inbound: Inbound, at: SpeechAt, room: Speech): Promise<Inbound> {
    const route = { ...routeOf(inbound), isolated: false, to: placeOf(inbound) };
    // In a group, it is not known before the words whether the bot is meant.
    const shown = inbound.chat.kind === "direct" ? { showWork: () => showWork(route.to) } : {};
    return options.parts().turns.before({ event: inbound.id, route, visit: at.visit, signal: at.signal }, (signal) =>
      room.hear(inbound, { ...at, ...shown, signal }).catch((error: unknown) => {
        if (signal.aborted && !at.signal.aborted) return inbound;
        throw error;
      }),
    );
  }

  return {
    close: () => closing.abort(),
    hear(inbound, at) {
      if (!hasSound(inbound)) return inbound;
      if (!listens(inbound)) {
        if (at === "recorded" || !isOnlyVoice(inbound) || !isToBot(inbound)) return inbound;
        at.note({ code: "speech_not_configured" });
        at.visit.set(unheardSpeech, { code: "speech_not_configured" });
        return inbound;
      }
      return speech().then((room) => (at === "recorded" ? room.recall(inbound) : listen(inbound, at, room)));
    },
    recall(parsed) {
      if (parsed === null || parsed === undefined || "silent" in parsed || !hasSound(parsed) || !listens(parsed))
        return parsed;
      return speech().then((room) => room.recall(parsed));
    },
    forget: async (inbound) => (hasSound(inbound) ? (await speech()).forget(inbound) : undefined),
    accepted(inbound) {
      if (!hasSound(inbound) || !listens(inbound)) return;
      stopAhead(inbound, { ...options.parts(), routeOf, speech, signal: closing.signal }).catch((error: unknown) =>
        // Its lane listens to it once more, and reports what is wrong.
        log.debug(
          { event: inbound.id, error: reasonOf(error) },
          "a voice message was not understood ahead of its turn",
        ),
      );
    },
    async hearAnswered(inbound, route, signal) {
      if (inbound.replyTo?.media?.some(isSound) !== true || !listens(inbound)) return inbound;
      return await (await speech()).hearAnswered(inbound, askerOf(inbound, route), signal);
    },
    unheard(inbound, route, visit) {
      const found = visit.get(unheardSpeech);
      return found && unheardPeople.answer(found, inbound, route);
    },
    speak(reply, { inbound, route }, { signal, visit }) {
      const { when = "asked" } = config().models.speech?.out ?? { when: "never" };
      const { to } = route;
      const isCommand = visit.get(usedCommand) !== undefined;
      const isWanted = reply.speak === true || (when === "inbound" && inbound.spoken === true && !isCommand);
      if (when === "never" || !isWanted || to === null || !canSpeak(reply, { inbound, route })) return undefined;
      const { turns } = options.parts();
      return speech().then((room) =>
        turns.after(route, signal, (stop) => {
          const shown = showWork(to);
          return room.speak(reply, { asker: askerOf(inbound, route), to, signal: stop }).finally(shown);
        }),
      );
    },
  };
}

/** Shows that something happens until the returned function is called: a transcription takes a while. */
function createShowWork({
  parts,
  log,
  now,
}: Pick<GatewaySpeechOptions, "parts" | "log" | "now">): (to: Address) => () => void {
  return (to) => {
    const live = parts().accounts.get(to.channel, to.account);
    const onError = (error: unknown) => log.debug({ error: reasonOf(error) }, "typing is not shown");
    const typing = live && showTyping(live, to, { now, onError });
    return () => typing?.stop();
  };
}

/** A text that is sent unchanged, an edit and a reply with files of its own are not spoken. */
const canSpeak = ({ media, replaces }: Reply, { inbound }: FormattingContext): boolean =>
  media.length === 0 && replaces === undefined && inbound.request?.deliverOnly !== true;
