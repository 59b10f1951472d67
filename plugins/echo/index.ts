/** The engine that needs no key and no network: it says back what it is told. Also the smallest example of an engine. */
import { definePlugin, type EngineTurn, type TurnEvent, Type } from "service-gateway/sdk";
import { renderFile } from "./file.ts";
import { pause, pieces } from "./pace.ts";
import { parseShow, type Show, showsList } from "./shows.ts";
import { renderHeartbeat, renderHook } from "./system.ts";

/** What is said, before it is cut into deltas. */
function plan(turn: EngineTurn): Show {
  const { inbound } = turn;
  const { request } = inbound;
  const say = (text: string): Show => ({ name: "echo", summary: "", text });
  if (request?.heartbeat !== undefined) return say(renderHeartbeat(request.heartbeat.events));
  if (inbound.authority === "hook") return say(renderHook(inbound.text));
  const show = parseShow(inbound.text);
  if (show === "list") return say(showsList());
  return show ?? say([inbound.text.trim() === "" ? "You sent no text." : inbound.text, ...inbound.media.map(renderFile)].join("\n"));
}

async function* stream(type: "reasoning" | "text", text: string, delayMs: number, signal: AbortSignal): AsyncGenerator<TurnEvent> {
  for (const delta of pieces(text)) {
    yield { type, delta };
    await pause(delayMs, signal);
  }
}

async function* run(turn: EngineTurn, delayMs: number, signal: AbortSignal): AsyncGenerator<TurnEvent> {
  const show = plan(turn);
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
  host: "^1.0.0",
  options: Type.Object({
    delayMs: Type.Integer({
      minimum: 0,
      maximum: 10_000,
      default: 80,
      description: "Milliseconds between two deltas; 0 says all at once.",
    }),
  }),
  setup(host, options) {
    host.engine({ id: "echo", stateless: true, run: (turn, signal) => run(turn, options.delayMs, signal) });
  },
});
