/** A tool as an engine calls it: its arguments are checked, it ends in time, and each call leaves a trace. */
import { createHash } from "node:crypto";
import type { TObject } from "typebox";
import { type ToolSettings, validateSection } from "../../config/index.ts";
import { type Json, PluginError, reasonOf } from "../../contract/index.ts";
import { callPlugin, isObject } from "../../host/index.ts";
import type { EngineTool, PluginLog, SourcedTool, ToolTurn } from "../../sdk/contract.ts";
import { type ToolUse, toolCalls, type Visit, whileHeld } from "../../stations/index.ts";
import { type Approvals, nameOf } from "./approvals.ts";
import { isNamed } from "./tool-names.ts";
import { shownResult } from "./tool-result.ts";

const deniedText = "An owner has denied this call. Do not try it again, and say so.";
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

/** Why an owner is asked before this call, where the tool gives a reason; `undefined` if none is asked. */
async function askedReason(
  { name, needsApproval = false }: OwnedTool,
  args: Json,
  { approve = [] }: CallsOf["settings"],
): Promise<{ readonly reason?: string } | undefined> {
  const needed = typeof needsApproval === "function" ? await needsApproval(args) : needsApproval;
  if (typeof needed === "string" && needed !== "") return { reason: needed };
  // Anything but a clear no asks.
  return needed !== false || isNamed(approve, name) ? {} : undefined;
}

export function calledTool(tool: OwnedTool, keyOf: (name: string, args: Json) => string, calls: CallsOf): EngineTool {
  const { turn, visit, settings, log, now } = calls;
  const { name, description, parameters, plugin, timeoutSeconds = defaultTimeoutSeconds } = tool;
  const note = (use: Omit<ToolUse, "name">) => visit.set(toolCalls, [...(visit.get(toolCalls) ?? []), { name, ...use }]);
  /** Arguments that were denied. The same call again is denied without a question. */
  const denied = new Set<string>();

  /** The refusal, if an owner has to be asked and does not allow it. */
  async function approval(args: Json, key: string, signal: AbortSignal): Promise<Json | undefined> {
    const asked = await askedReason(tool, args, settings);
    if (asked === undefined) return undefined;
    const written = JSON.stringify(args);
    if (denied.has(written)) return refusal("denied", deniedText);
    const began = now();
    const { approveAt: place } = settings;
    const call = { tool: name, plugin, args, agentId: turn.agentId, requester: nameOf(turn.inbound), ...asked };
    const request = { ...call, key, turn, signal, ...(place !== undefined && { place }) };
    const { allowed, code, detail } = await whileHeld(visit, () => calls.approvals.ask(request));
    note({ plugin: "core", ms: now() - began, code, detail });
    if (allowed) return undefined;
    denied.add(written);
    return refusal("denied", code === "approval_denied" ? deniedText : `It was not allowed: ${detail}. Do not try it again.`);
  }

  async function call(given: Json, signal: AbortSignal): Promise<Json> {
    // A copy: what an owner has read is what runs.
    let args = structuredClone(given);
    if (tool.schema !== undefined) {
      const checked = validateSection(tool.schema, given, "arguments");
      const wrong = checked.problems.filter(({ severity }) => severity === "error");
      if (wrong.length > 0) return refusal("invalid_arguments", `${wrong.map(({ path, message }) => `${path} ${message}`).join("; ")}.`);
      args = checked.value as Json;
    }
    const key = keyOf(name, given);
    const refused = await approval(args, key, signal);
    if (refused !== undefined) return refused;
    const timeout = AbortSignal.timeout(timeoutSeconds * 1_000);
    const both = AbortSignal.any([signal, timeout]);
    try {
      const asked = { plugin, doing: `the tool ${name}` };
      const run = async () => await tool.run({ args, turn, signal: both, key });
      return shownResult(await callPlugin(asked, timeoutSeconds * 1_000 + graceMs, run, { signal: both }));
    } catch (thrown) {
      signal.throwIfAborted();
      const reason = thrown instanceof PluginError && thrown.cause !== undefined ? reasonOf(thrown.cause) : reasonOf(thrown);
      log.warn({ plugin, tool: name, session: turn.sessionKey, error: reason }, "a tool failed");
      if (timeout.aborted) return refusal("tool_timeout", `The tool did not answer within ${timeoutSeconds} s.`);
      return refusal("tool_failed", reason);
    }
  }

  return {
    name,
    description,
    parameters,
    async run(args, signal) {
      const began = now();
      const result = await call(args, signal);
      const code = codeOf(result);
      note({ plugin, ms: now() - began, ...(code !== undefined && { code }) });
      log.debug({ plugin, tool: name, session: turn.sessionKey, ms: now() - began, code: code ?? "done" }, "a tool was called");
      return result;
    },
  };
}
