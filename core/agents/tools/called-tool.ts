/** A tool as an engine calls it: its arguments are checked, it ends in time, and each call leaves a trace. */
import { createHash } from "node:crypto";
import type { TObject } from "typebox";
import { type ToolSettings, validateSection } from "../../config/index.ts";
import { type Json, PluginError, reasonOf } from "../../contract/index.ts";
import { callPlugin, isObject, pluginDeadlines } from "../../host/index.ts";
import type { EngineTool, PluginLog, SourcedTool, ToolTurn } from "../../sdk/contract.ts";
import { carried, type ToolUse, toolCalls, type Visit, whileHeld } from "../../stations/index.ts";
import type { Approvals } from "./approvals.ts";
import { requesterOf } from "./requester.ts";
import { isNamed } from "./tool-names.ts";
import { shownResult } from "./tool-result.ts";

const deniedText = "An owner has denied this call. Do not try it again, and say so.";
const limitedAdvice = "Say so, and do not try it again before those questions are answered.";
const defaultTimeoutSeconds = 60;
/** What is left to a tool that obeys its signal. */
const graceMs = 6_000;

/** A tool, and who offers it. */
export interface OwnedTool extends SourcedTool {
  /** The plugin, or `core`. */
  readonly plugin: string;
  /** Set where the arguments are checked before `run`. */
  readonly schema?: TObject;
}

export interface CallsOf {
  readonly turn: ToolTurn;
  readonly visit: Visit;
  readonly approvals: Pick<Approvals, "ask">;
  /** `agents.*.tools` of the agent. */
  readonly settings: Pick<ToolSettings, "approve" | "approveAt">;
  readonly log: Pick<PluginLog, "warn" | "debug">;
  readonly now: () => number;
}

/** A call that was not done, as the model reads it. */
const refusal = (code: string, error: string): Json => ({ ok: false, error, code });

const refusalCode = /^[a-z][a-z0-9_]{0,63}$/;

/** Why a call was not done; `undefined` if it was. Only the name of a code is kept: the rest may contain what people wrote. */
function codeOf(result: Json): string | undefined {
  if (!isObject(result) || result.ok !== false) return undefined;
  return typeof result.code === "string" && refusalCode.test(result.code) ? result.code : "tool_refused";
}

/** The same for the same call of a turn that is run again: equal calls of one turn are numbered. */
export function createCallKeys(event: string): (name: string, args: Json) => string {
  const counts = new Map<string, number>();
  return (name, args) => {
    const digest = createHash("sha256")
      .update(JSON.stringify([event, name, args]))
      .digest("base64url");
    const number = (counts.get(digest) ?? 0) + 1;
    counts.set(digest, number);
    return `${digest}:${number}`;
  };
}

const askedQuestions = carried<{ count: number }>("askedQuestions");

/** Why an owner is asked before this call, where the tool gives a reason; `undefined` if none is asked. */
async function askedReason(
  { plugin, name, needsApproval = false }: OwnedTool,
  args: Json,
  { approve = [] }: CallsOf["settings"],
): Promise<{ readonly reason?: string } | undefined> {
  const asked = { plugin, doing: `needsApproval of the tool ${name}` };
  const needed =
    typeof needsApproval === "function" ? await callPlugin(asked, pluginDeadlines.check, () => needsApproval(args)) : needsApproval;
  if (typeof needed === "string" && needed !== "") return { reason: needed };
  // Anything but a clear no asks.
  return needed !== false || isNamed(approve, name) ? {} : undefined;
}

/** What the next turn reads of a call: without it, the agent forgets what it did. */
function summaryOf(args: Json, result: Json): string {
  const brief = (value: Json, most: number) => {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return text.length <= most ? text : `${text.slice(0, most)}…`.toWellFormed();
  };
  return `${brief(args, 120)}: ${brief(withoutFiles(result), 160)}`.replace(/\s+/g, " ");
}

/** Images are data of megabytes. */
function withoutFiles(result: Json): Json {
  if (!isObject(result) || !Array.isArray(result.media)) return result;
  const { media, ...rest } = result;
  return { ...rest, files: media.length } as Json;
}

/** Of another plugin, described differently or with other parameters, it is another tool. */
const definitionOf = ({ plugin, description, parameters }: OwnedTool): string =>
  createHash("sha256")
    .update(JSON.stringify([plugin, description, parameters]))
    .digest("base64url");

export function calledTool(tool: OwnedTool, keyOf: (name: string, args: Json) => string, calls: CallsOf): EngineTool {
  const { turn, visit, settings, log, now } = calls;
  const { name, description, parameters, plugin, timeoutSeconds = defaultTimeoutSeconds } = tool;
  const note = (use: Omit<ToolUse, "name">) => visit.set(toolCalls, [...(visit.get(toolCalls) ?? []), { name, ...use }]);
  /** Arguments that were denied. The same call again is denied without a question. */
  const denied = new Set<string>();

  /** What the model reads of an error. Throws it if the turn has ended. */
  function failure(thrown: unknown, signal: AbortSignal): Json {
    signal.throwIfAborted();
    const reason = thrown instanceof PluginError && thrown.cause !== undefined ? reasonOf(thrown.cause) : reasonOf(thrown);
    log.warn({ plugin, tool: name, session: turn.sessionKey, error: reason }, "a tool failed");
    return refusal("tool_failed", reason);
  }

  /** The refusal, if an owner has to be asked and does not allow it, and the milliseconds of the wait. */
  async function approval(args: Json, key: string, signal: AbortSignal): Promise<{ readonly refused?: Json; readonly waited: number }> {
    const asked = await askedReason(tool, args, settings);
    if (asked === undefined) return { waited: 0 };
    const written = JSON.stringify(args);
    if (denied.has(written)) return { refused: refusal("denied", deniedText), waited: 0 };
    const began = now();
    const { approveAt: place } = settings;
    const about = { tool: name, plugin, definition: definitionOf(tool) };
    const call = { ...about, args, agentId: turn.agentId, ...requesterOf(turn.inbound), ...asked };
    const questions = visit.get(askedQuestions) ?? { count: 0 };
    visit.set(askedQuestions, questions);
    const request = { ...call, questions, key, turn, visit, signal, ...(place !== undefined && { place }) };
    const { allowed, code, detail } = await whileHeld(visit, () => calls.approvals.ask(request));
    const waited = now() - began;
    note({ plugin: "core", ms: waited, code, detail });
    if (allowed) return { waited };
    // The same call may be asked about once earlier questions are answered.
    if (code === "approval_limited") return { refused: refusal(code, `It was not allowed: ${detail}. ${limitedAdvice}`), waited };
    denied.add(written);
    const text = code === "approval_denied" ? deniedText : `It was not allowed: ${detail}. Do not try it again.`;
    return { refused: refusal("denied", text), waited };
  }

  /** The checked arguments, or the refusal. */
  function check(given: Json): { readonly args: Json } | { readonly refused: Json } {
    // A copy: what an owner has read is what runs.
    if (tool.schema === undefined) return { args: structuredClone(given) };
    const { value, problems } = validateSection(tool.schema, given, "arguments");
    const wrong = problems.filter(({ severity }) => severity === "error");
    if (wrong.length === 0) return { args: value as Json };
    return { refused: refusal("invalid_arguments", `${wrong.map(({ path, message }) => `${path} ${message}`).join("; ")}.`) };
  }

  async function run(args: Json, key: string, signal: AbortSignal): Promise<Json> {
    const timeout = AbortSignal.timeout(timeoutSeconds * 1_000);
    const both = AbortSignal.any([signal, timeout]);
    try {
      const asked = { plugin, doing: `the tool ${name}` };
      const running = async () => await tool.run({ args, turn, signal: both, key });
      return shownResult(await callPlugin(asked, timeoutSeconds * 1_000 + graceMs, running, { signal: both }));
    } catch (thrown) {
      const failed = failure(thrown, signal);
      return timeout.aborted ? refusal("tool_timeout", `The tool did not answer within ${timeoutSeconds} s.`) : failed;
    }
  }

  return {
    name,
    description,
    parameters,
    async run(given, signal) {
      const began = now();
      const checked = check(given ?? {});
      const key = keyOf(name, given);
      const asking = "refused" in checked ? { ...checked, waited: 0 } : approval(checked.args, key, signal);
      const { refused, waited } = await Promise.resolve(asking).catch((thrown: unknown) => ({
        refused: failure(thrown, signal),
        waited: 0,
      }));
      const result = refused ?? ("args" in checked ? await run(checked.args, key, signal) : null);
      const code = codeOf(result);
      const ms = now() - began - waited;
      note({ plugin, ms, summary: summaryOf(given, result), ...(code !== undefined && { code }) });
      log.debug({ plugin, tool: name, session: turn.sessionKey, ms, code: code ?? "done" }, "a tool was called");
      return result;
    },
  };
}
