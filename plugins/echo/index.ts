/** An engine that needs no key and no network: it repeats what it receives. Also the smallest example of an engine. */
import { definePlugin, type EngineTurn, type TurnEvent, Type } from "service-gateway/sdk";
import { renderFile } from "./file.ts";
import { pause, pieces } from "./pace.ts";
import { offeredShows, parseShow, type Show, showsList } from "./shows.ts";
import { renderHeartbeat, renderHook } from "./system.ts";

/** Chooses the answer, before it is split into deltas. */
function plan(turn: EngineTurn): Show {
  const { inbound } = turn;
  const { request } = inbound;
  const say = (text: string): Show => ({ name: "echo", summary: "", text });
  if (request?.heartbeat !== undefined) return say(renderHeartbeat(request.heartbeat.events));
  if (inbound.authority === "hook") return say(renderHook(inbound.text));
  // Pressing an offered button has the same effect as sending its name.
  const pressed = inbound.kind === "press" ? inbound.text.replace(/^callback_data: /, "") : undefined;
  const show = parseShow(pressed ?? inbound.text);
  if (show === "list") return { ...say(showsList()), events: offeredShows };
  if (show !== undefined)
    return inbound.kind === "press" && show.pressedText !== undefined ? { ...show, text: show.pressedText } : show;
  if (pressed !== undefined) return say(`You pressed the button with the value \`${pressed}\`.`);
  return say(
    [inbound.text.trim() === "" ? "You sent no text." : inbound.text, ...inbound.media.map(renderFile)].join("\n"),
  );
}

interface Pace {
  readonly delayMs: number;
  /** Whether to offer the demonstrations in this conversation now. */
  readonly offer: (sessionKey: string) => Promise<boolean>;
}

async function* stream(
  type: "reasoning" | "text",
  text: string,
  delayMs: number,
  signal: AbortSignal,
): AsyncGenerator<TurnEvent> {
  for (const delta of pieces(text)) {
    yield { type, delta };
    await pause(delayMs, signal);
  }
}

/** Adds the offer with buttons. It is used only for replies that a person reads, not for heartbeats and webhooks. */
function withOffer(show: Show): Show {
  const text =
    `${show.text ?? ""}\n\n_I repeat your words until a model is configured. I can also show ` +
    `what this chat can do; write \`show\` to see these buttons again._`;
  return { ...show, text, events: offeredShows };
}

async function* run(turn: EngineTurn, { delayMs, offer }: Pace, signal: AbortSignal): AsyncGenerator<TurnEvent> {
  signal.throwIfAborted();
  const planned = plan(turn);
  const echoes = planned.name === "echo" && turn.inbound.request === undefined && turn.inbound.authority === "channel";
  const show = echoes && (await offer(turn.sessionKey)) ? withOffer(planned) : planned;
  if (show.waitMs !== undefined) await pause(show.waitMs, signal);
  if (show.fails !== undefined) throw show.fails();
  for (const type of ["reasoning", "text"] as const) {
    const text = show[type] ?? "";
    if (text === "") continue;
    if (delayMs === 0) yield { type, delta: text };
    else yield* stream(type, text, delayMs, signal);
  }
  if (show.events !== undefined) yield* show.events();
  yield { type: "done" };
}

export default definePlugin({
  id: "echo",
  version: "1.0.0",
  host: "^0.2.0",
  codes: {
    asked_to_fail: {
      meaning: "The echo engine was asked to fail.",
      hint: "Ask for something other than a failure.",
      outcome: "failed",
    },
  },
  options: Type.Object({
    delayMs: Type.Integer({
      minimum: 0,
      maximum: 10_000,
      default: 80,
      description: "Milliseconds between two deltas; 0 sends everything at once.",
    }),
    offer: Type.Boolean({
      default: false,
      description: "Whether the first answer of a conversation offers the demonstrations as buttons.",
    }),
  }),
  setup(host, options) {
    /** Offers the demonstrations once for each conversation. */
    const offer = async (sessionKey: string) => {
      const key = `offered:${sessionKey}`;
      if (!options.offer || (await host.store.get(key)) !== null) return false;
      await host.store.set(key, true, { ttlSeconds: 30 * 86_400 });
      return true;
    };
    const pace = { delayMs: options.delayMs, offer };
    host.engine({ id: "echo", stateless: true, run: (turn, signal) => run(turn, pace, signal) });
  },
});
