/** A tool as an engine calls it: its arguments are checked, it ends in time, and each call leaves a trace. */
import { createHash } from "node:crypto";
import type { TObject } from "typebox";
import { validateSection } from "../../config/index.ts";
import { type Json, PluginError, reasonOf } from "../../contract/index.ts";
import { callPlugin, isObject } from "../../host/index.ts";
import type { EngineTool, PluginLog, SourcedTool, ToolTurn } from "../../sdk/contract.ts";
import { toolCalls, type Visit } from "../../stations/index.ts";
import { shownResult } from "./tool-result.ts";

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

export function calledTool(tool: OwnedTool, keyOf: (name: string, args: Json) => string, { turn, visit, log, now }: CallsOf): EngineTool {
  const { name, description, parameters, plugin, timeoutSeconds = defaultTimeoutSeconds } = tool;

  async function call(given: Json, signal: AbortSignal): Promise<Json> {
    let args = given;
    if (tool.schema !== undefined) {
      const checked = validateSection(tool.schema, given, "arguments");
      const wrong = checked.problems.filter(({ severity }) => severity === "error");
      if (wrong.length > 0) return refusal("invalid_arguments", `${wrong.map(({ path, message }) => `${path} ${message}`).join("; ")}.`);
      args = checked.value as Json;
    }
    const timeout = AbortSignal.timeout(timeoutSeconds * 1_000);
    const both = AbortSignal.any([signal, timeout]);
    try {
      const asked = { plugin, doing: `the tool ${name}` };
      const run = async () => await tool.run({ args, turn, signal: both, key: keyOf(name, given) });
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
      const calls = visit.get(toolCalls) ?? [];
      visit.set(toolCalls, [...calls, { name, plugin, ms: now() - began, ...(code !== undefined && { code }) }]);
      log.debug({ plugin, tool: name, session: turn.sessionKey, ms: now() - began, code: code ?? "done" }, "a tool was called");
      return result;
    },
  };
}
