/** Station 4: an engine (or a command) replies. Its stream is collected, and shown while it grows. */

import {
  EngineError,
  HostError,
  type Inbound,
  isOfState,
  type OutboundMedia,
  PluginError,
  type Reply,
  type Route,
  reasonOf,
  type TurnEvent,
} from "../contract/index.ts";
import { renderReasoning } from "../reply/index.ts";
import { type Hooks, hasActed, replyAdditions, toolCalls, turnNotes, type Visit } from "../stations/index.ts";
import { withAdditions } from "./additions.ts";
import { type Stop, silentDecision, type Trace } from "./endings/ending.ts";
import { failed, overBudget, refused, withShown } from "./endings/turn-ends.ts";
import type { PathOptions } from "./options.ts";
import { Postponed } from "./patience.ts";
import type { Presence } from "./presence/presence.ts";
import { createShownText, endNotes, type ShownText, type ShownTextOptions } from "./shown-text.ts";

type ModelUsage = NonNullable<Reply["usage"]>;

interface Collected {
  text: string;
  reasoning: string;
  media: Reply["media"][number][];
  buttons: Reply["buttons"];
  usage: Reply["usage"];
  /** The model that answers, and those that were passed over. */
  model: Extract<TurnEvent, { readonly type: "model" }> | undefined;
  /** Why the reply started over, each time. */
  readonly restarts: string[];
  /** Tools that the model was asked without, each with the reason. */
  readonly refusedTools: string[];
  /** Usage of each model that was called: a fallback replies if the first model could not. */
  readonly models: Map<string, ModelUsage>;
}

export interface TurnResult {
  readonly reply: Reply;
}

interface TurnOptions {
  readonly hooks: Hooks;
  readonly trace: Trace;
  readonly visit: Visit;
  readonly presence: Presence;
  readonly signal: AbortSignal;
  readonly now: () => number;
  readonly silence: ShownTextOptions["silence"];
  readonly asSent: ShownTextOptions["asSent"];
  readonly pathsOf: PathOptions["gate"]["pathsOf"];
  readonly isOwner: PathOptions["gate"]["isOwner"];
  readonly guardStream: PathOptions["agents"]["guardStream"];
  readonly refusalFor: PathOptions["agents"]["refusalFor"];
  readonly keepGenerated: PathOptions["agents"]["keepGenerated"];
  readonly waitForModel: PathOptions["agents"]["waitForModel"];
  readonly unitId: string;
}

export async function turn(inbound: Inbound, route: Route, options: TurnOptions): Promise<TurnResult | Stop> {
  const { hooks, trace, visit, presence, signal, now, silence, asSent, pathsOf, guardStream, keepGenerated, isOwner } =
    options;
  const began = now();
  let plugin = "core";
  let shown: ShownText | undefined;
  const found: Collected = {
    ...{ text: "", reasoning: "", media: [], buttons: [], usage: undefined, model: undefined },
    ...{ restarts: [], refusedTools: [], models: new Map() },
  };
  try {
    const answered = await hooks.turn(inbound, route, signal, visit);
    if (answered === undefined) {
      trace.add("turn", { plugin: "core", verdict: "failed", code: "no_engine" });
      return await failed("no_engine", inbound, { route, isOwner });
    }
    plugin = answered.plugin;
    if (answered.value === null || "silent" in answered.value) {
      const quiet = answered.value ?? { silent: "engine_silent" };
      trace.add("turn", { plugin, ...silentDecision(quiet, pathsOf(inbound)) });
      return { stop: { outcome: "silent", reason: quiet.silent } };
    }
    shown = presence.shows
      ? createShownText({
          hooks,
          context: { inbound, route },
          visit,
          silence,
          asSent,
          show: (text) => presence.show(text),
          onError: (error) => presence.failed(error),
        })
      : undefined;
    const stream =
      plugin === "core" ? answered.value : guardStream({ plugin, stream: answered.value, inbound, route }, signal);
    // If a stream fails, the trace names its engine's plugin.
    plugin = "plugin" in stream && typeof stream.plugin === "string" ? stream.plugin : plugin;
    const keep = (media: OutboundMedia) => keepGenerated(media, route.to);
    const collected = await collect(stream, found, { presence, shown, keep }).finally(() => {
      traceNotes(trace, visit);
      traceTools(trace, visit);
    });
    const reply = withAdditions(collected, visit.get(replyAdditions), { inbound, silence });
    const usage =
      reply.usage === undefined
        ? ""
        : `, ${reply.usage.inputTokens} tokens in, ${reply.usage.outputTokens} out by ${reply.usage.model}`;
    trace.add("turn", {
      plugin: answered.plugin,
      verdict: "pass",
      code: "done",
      detail: `${reply.text.length} characters in ${now() - began} ms${usage}${insteadOf(found)}`,
      ...usageOf(found),
    });
    return { reply };
  } catch (error) {
    if (isOfState(error)) throw error;
    return await afterFailure(error, { inbound, route, plugin, found, shown }, options);
  }
}

/** What a turn that failed leaves: what its tools have done, a wait for its model, or a notice for the sender. */
async function afterFailure(
  error: unknown,
  attempt: {
    readonly inbound: Inbound;
    readonly route: Route;
    /** The plugin that had the turn. */
    readonly plugin: string;
    readonly found: Collected;
    readonly shown: ShownText | undefined;
  },
  { trace, visit, presence, waitForModel, refusalFor, unitId, isOwner }: TurnOptions,
): Promise<TurnResult | Stop> {
  const { inbound, route, found, shown } = attempt;
  const { code, hint, path, numbers, detail = reasonOf(error) } = diagnose(error);
  const plugin = error instanceof PluginError ? error.plugin : attempt.plugin;
  // After a reaction or a message by a tool, many models write nothing more. The person has seen what the agent did.
  const additions = visit.get(replyAdditions);
  const hasFile = additions !== undefined && (additions.files.length > 0 || additions.refused !== undefined);
  if (code === "model_empty" && (visit.get(hasActed) === true || hasFile)) {
    const detail = `the agent ${hasFile ? "attached a file" : "acted in a chat"} and wrote no reply`;
    trace.add("turn", { plugin, verdict: "pass", code: "done", detail, ...usageOf(found) });
    return { reply: withAdditions(replyOf(found), additions, { inbound, silence: () => null }) };
  }
  const wait = await waitForModel({ unitId, inbound, route, visit, reason: code, detail });
  if (wait !== undefined) throw new Postponed("waits_for_model", { ...wait, ...(hint !== undefined && { hint }) });
  const isRefused = code === overBudget;
  trace.add("turn", {
    plugin: code === "stopped" || isRefused ? "core" : plugin,
    verdict: isRefused ? "refused" : "failed",
    code,
    detail,
    path,
    hint,
    ...usageOf(found),
  });
  const seen = shown?.last();
  // The user who stopped the turn knows; an apology would be superfluous.
  if (code === "stopped") return withShown({ stop: { outcome: "silent", reason: "stopped" } }, seen, endNotes.stopped);
  const uses = visit.get(toolCalls);
  const failure = isRefused
    ? await refused(inbound, route, { refusalFor, react: (emoji) => presence.react(emoji), uses })
    : await failed(code, inbound, { route, isOwner, uses, onlySender: additions?.to === "sender", numbers });
  return withShown(failure, seen, failure.say?.reply.text ?? endNotes.interrupted);
}

function traceNotes(trace: Trace, visit: Visit): void {
  for (const note of visit.get(turnNotes) ?? []) trace.add("turn", { plugin: "core", verdict: "pass", ...note });
}

/** More calls of one turn are counted only: a model that loops must not fill the state. */
const mostTracedCalls = 50;

export function traceTools(trace: Trace, visit: Visit): void {
  const calls = visit.get(toolCalls) ?? [];
  for (const { name, plugin, ms, code, detail } of calls.slice(0, mostTracedCalls))
    trace.add("turn", {
      plugin,
      verdict: "pass",
      code: code ?? "tool_done",
      detail: [`the tool ${name}`, detail, ms === undefined ? undefined : `${ms} ms`]
        .filter((piece) => piece !== undefined)
        .join(", "),
    });
  const more = calls.length - mostTracedCalls;
  if (more > 0)
    trace.add("turn", { plugin: "core", verdict: "pass", code: "tool_done", detail: `${more} more calls of tools` });
}

/** An engine's error carries its own code; an error without one is the engine's mistake. */
function diagnose(error: unknown): {
  readonly code: string;
  readonly hint?: string;
  readonly path?: string;
  readonly detail?: string;
  readonly numbers?: EngineError["numbers"];
} {
  const cause =
    error instanceof HostError && error.code === "plugin_tap_failed" && error.cause !== undefined ? error.cause : error;
  if (typeof cause === "object" && cause !== null) {
    const { reason, code, hint, path } = cause as { reason?: unknown; code?: unknown; hint?: unknown; path?: unknown };
    const stable = typeof reason === "string" && /^[a-z_]+$/.test(reason) ? reason : code;
    if (typeof stable === "string" && /^[a-z_]+$/.test(stable)) {
      return {
        code: stable,
        ...(typeof hint === "string" ? { hint } : {}),
        ...(cause instanceof EngineError && { numbers: cause.numbers }),
        ...(reason === stable && typeof path === "string" ? { path } : {}),
        // The name of the tap says nothing where the gateway itself refuses.
        ...(error instanceof PluginError && error.plugin === "core" && { detail: reasonOf(cause) }),
      };
    }
  }
  return { code: error instanceof PluginError && error.hook?.startsWith("/") ? "command_failed" : "engine_error" };
}

/** A failed or stopped turn has used tokens too. */
const usageOf = ({ models }: Collected): { readonly usage?: readonly ModelUsage[] } =>
  models.size === 0 ? {} : { usage: [...models.values()] };

async function collect(
  stream: AsyncIterable<TurnEvent>,
  found: Collected,
  {
    presence,
    shown,
    keep,
  }: {
    readonly presence: Presence;
    readonly shown: ShownText | undefined;
    readonly keep: (media: OutboundMedia) => Promise<OutboundMedia>;
  },
): Promise<Reply> {
  // Thoughts are part of the preview only if the session asks for them; the reply is sent without them.
  let thoughts = "";
  try {
    for await (const event of stream) {
      if (event.type === "media") found.media.push(await keep(event.media));
      else take(found, event);
      presence.progress();
      if (event.type === "restart") thoughts = "";
      if (event.type === "reasoning" && event.preview === true) thoughts = renderReasoning(found.reasoning);
      // After a restart, the void beginning stays visible until there is something to put in its place.
      if (event.type === "text" || thoughts !== "") shown?.grow(found.text, thoughts);
      if (event.type === "done") break;
    }
  } finally {
    shown?.close();
  }
  return replyOf(found);
}

function replyOf({ text, media, buttons, reasoning, usage, model }: Collected): Reply {
  return {
    text,
    media,
    buttons,
    ...(reasoning === "" ? {} : { reasoning }),
    usage,
    ...(model === undefined ? {} : { model: model.model }),
  };
}

/** Where a model takes no tools at all, the others are counted. */
const mostNamedTools = 5;

/**
 * What the trace adds about the models: beginnings that are void, tools that were left out, and why the first model did
 * not answer.
 */
function insteadOf({ model, restarts, refusedTools }: Collected): string {
  const begun = restarts.length === 0 ? "" : `; restarted after ${restarts.join(", ")}`;
  const more = refusedTools.length > mostNamedTools ? ` and ${refusedTools.length - mostNamedTools} others` : "";
  const without =
    refusedTools.length === 0 ? "" : `; without the tools ${refusedTools.slice(0, mostNamedTools).join(", ")}${more}`;
  if (model === undefined || model.skipped.length === 0) return begun + without;
  const why = model.skipped.map((one) => `${one.model} (${one.reason}: ${one.detail.replace(/\.$/, "")})`);
  return `${begun}${without}; ${model.model} answered in place of ${why.join(", ")}`;
}

function take(found: Collected, event: TurnEvent): void {
  switch (event.type) {
    case "text":
      found.text += event.delta;
      break;
    case "reasoning":
      found.reasoning += event.delta;
      break;
    case "restart":
      Object.assign(found, { text: "", reasoning: "", media: [], buttons: [] });
      found.restarts.push(event.reason);
      break;
    case "tool-refused":
      found.refusedTools.push(`${event.name} (${event.reason.replace(/\.$/, "")})`);
      break;
    case "buttons":
      found.buttons = event.buttons;
      break;
    case "model":
      found.model = event;
      break;
    case "usage":
      found.usage = sumOf(found.usage, event);
      found.models.set(event.model, sumOf(found.models.get(event.model), event));
      break;
    default:
  }
}

function sumOf(before: ModelUsage | undefined, { inputTokens, outputTokens, model }: ModelUsage): ModelUsage {
  return {
    inputTokens: (before?.inputTokens ?? 0) + inputTokens,
    outputTokens: (before?.outputTokens ?? 0) + outputTokens,
    model,
  };
}
