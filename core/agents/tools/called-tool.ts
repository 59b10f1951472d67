/** A tool as an engine calls it: its arguments are checked, it ends in time, and each call leaves a trace. */
import { createHash } from "node:crypto";
import type { TObject } from "typebox";
import { type ToolSettings, validateSection } from "../../config/index.ts";
import { exactCopy, isNamed, type Json, PluginError, reasonOf } from "../../contract/index.ts";
import { callPlugin, pluginDeadlines } from "../../host/index.ts";
import type {
  EngineTool,
  PluginLog,
  SourcedTool,
  ToolCall,
  ToolResult,
  ToolTurn,
  ToolWords,
} from "../../sdk/contract.ts";
import { carried, type ToolUse, toolCalls, type Visit, whileHeld, whileWorking } from "../../stations/index.ts";
import type { Approvals } from "./approvals.ts";
import { callNote } from "./call-note.ts";
import type { CallRecord } from "./call-records.ts";
import { exactArguments, storableArguments } from "./exact-arguments.ts";
import { requesterOf } from "./requester.ts";
import { shownResult } from "./tool-result.ts";
import { codeOf, inWords, refusal } from "./tool-words.ts";
import { type BegunCall, effectOf, type TurnCalls } from "./turn-calls.ts";

const deniedText = "An owner has denied this call. Do not try it again, and say so.";
const limitedAdvice = "Say so, and do not try it again before those questions are answered.";
const defaultTimeoutSeconds = 60;
/** What is left to a tool that obeys its signal. */
const graceMs = 6_000;

/** `order`: the call's position among all of the turn, as the model made them. Calls of one step run in parallel. */
export interface OrderedCall extends ToolCall {
  readonly order: number;
}

/** A tool, and who offers it. */
export interface OwnedTool extends Omit<SourcedTool, "run"> {
  run(call: OrderedCall): ReturnType<SourcedTool["run"]>;
  /** The plugin, or `core`. */
  readonly plugin: string;
  /** Absent for the gateway's own tools. */
  readonly words?: ToolWords;
  /** Set where the arguments are checked before `run`. */
  readonly schema?: TObject;
}

export interface CallsOf {
  readonly turn: ToolTurn;
  readonly visit: Visit;
  readonly approvals: Pick<Approvals, "ask" | "began" | "ended" | "isOpen">;
  /** The calls of the turn. */
  readonly made: TurnCalls;
  /** `agents.*.tools` of the agent. */
  readonly settings: Pick<ToolSettings, "approve" | "approveAt">;
  readonly log: Pick<PluginLog, "warn" | "debug">;
  readonly now: () => number;
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
    typeof needsApproval === "function"
      ? await callPlugin(asked, pluginDeadlines.check, () => needsApproval(args))
      : needsApproval;
  if (typeof needed === "string" && needed !== "") return { reason: needed };
  // Anything but a clear no asks.
  return needed !== false || isNamed(approve, name) ? {} : undefined;
}

/** Whether an owner is asked whatever the arguments are. A tool that cannot say so without them is said to ask. */
export async function asksAnyway(tool: OwnedTool, settings: CallsOf["settings"]): Promise<boolean> {
  return await askedReason(tool, {}, settings).then(
    (asked) => asked !== undefined,
    () => true,
  );
}

/** Of another plugin, described differently or with other parameters, it is another tool. */
const definitionOf = ({ plugin, description, parameters }: OwnedTool): string =>
  createHash("sha256")
    .update(JSON.stringify([plugin, description, parameters]))
    .digest("base64url");

/** The end of a question to an owner; without `key`, none was asked. */
interface Asked {
  readonly refused?: Json;
  /** Milliseconds. */
  readonly waited: number;
  readonly key?: string;
}

interface Permission {
  /** A call that was cut off, and is made again under its key. */
  readonly record: CallRecord | undefined;
  /** The question that allowed it. */
  readonly approval: string | undefined;
}

/** A result, and whether its words are those of the plugin or from outside. */
interface Returned {
  readonly result: Json;
  readonly words: ToolWords | "gateway";
}

/** One call, with checked arguments. */
type Call = Pick<OrderedCall, "args" | "signal" | "order">;

const ours = (result: Json): Returned => ({ result, words: "gateway" });

/** What the model reads, and what the trace says of it. */
interface Answered extends Returned {
  readonly code?: string | undefined;
  readonly detail?: string | undefined;
  readonly waited?: number;
  readonly effect?: ToolUse["effect"];
  /** False if the conversation already contains the call of an earlier run. */
  readonly summarized?: boolean;
}

export function calledTool(tool: OwnedTool, calls: CallsOf): EngineTool {
  const { turn, visit, made, settings, log, now } = calls;
  const { name, description, parameters, plugin, timeoutSeconds = defaultTimeoutSeconds, words = "gateway" } = tool;
  /** The calls are listed in the order in which the model made them, and not in that in which they end. */
  const note = (order: number, use: Omit<ToolUse, "name" | "order">) => {
    const uses = visit.get(toolCalls) ?? [];
    const later = uses.findIndex((other) => (other.order ?? 0) > order);
    visit.set(toolCalls, uses.toSpliced(later === -1 ? uses.length : later, 0, { name, order, ...use }));
  };
  /** Arguments that were denied. The same call again is denied without a question. */
  const denied = new Set<string>();

  /** What the model reads of an error. Throws it if the turn has ended. */
  function failure(thrown: unknown, signal: AbortSignal): Json {
    signal.throwIfAborted();
    const reason =
      thrown instanceof PluginError && thrown.cause !== undefined ? reasonOf(thrown.cause) : reasonOf(thrown);
    log.warn({ plugin, tool: name, session: turn.sessionKey, error: reason }, "a tool failed");
    return refusal("tool_failed", reason);
  }

  /**
   * The refusal, if an owner has to be asked and does not allow it, the milliseconds of the wait, and the key of the
   * question.
   */
  async function ask({ args, signal, order }: Call): Promise<Asked> {
    const asked = await askedReason(tool, args, settings);
    if (asked === undefined) return { waited: 0 };
    const written = JSON.stringify(args);
    if (denied.has(written)) return { refused: refusal("denied", deniedText), waited: 0 };
    const began = now();
    const { approveAt: place } = settings;
    const about = { tool: name, plugin, definition: definitionOf(tool) };
    const call = {
      ...about,
      ...storableArguments(args),
      agentId: turn.agentId,
      ...requesterOf(turn.inbound),
      ...asked,
    };
    const questions = visit.get(askedQuestions) ?? { count: 0 };
    visit.set(askedQuestions, questions);
    const key = made.approvalKey(name, args);
    const { hasAsked } = made;
    const request = { ...call, questions, key, hasAsked, turn, visit, signal, ...(place !== undefined && { place }) };
    const { allowed, code, detail } = await whileHeld(visit, () => calls.approvals.ask(request));
    const waited = now() - began;
    note(order, { plugin: "core", ms: waited, code, detail });
    if (allowed) return { waited, key };
    // The same call may be asked about once earlier questions are answered.
    if (code === "approval_limited")
      return { refused: refusal(code, `It was not allowed: ${detail}. ${limitedAdvice}`), waited };
    denied.add(written);
    const text = code === "approval_denied" ? deniedText : `It was not allowed: ${detail}. Do not try it again.`;
    return { refused: refusal("denied", text), waited };
  }

  /** The checked arguments, or the refusal. */
  function check(given: Json): { readonly args: Json } | { readonly refused: Json } {
    // A copy: what an owner has read is what runs.
    if (tool.schema === undefined) return { args: exactCopy(given) };
    const { value, problems } = validateSection(tool.schema, given, "arguments");
    const wrong = problems.filter(({ severity }) => severity === "error");
    if (wrong.length === 0) return { args: value as Json };
    return {
      refused: refusal("invalid_arguments", `${wrong.map(({ path, message }) => `${path} ${message}`).join("; ")}.`),
    };
  }

  async function run({ args, signal, order }: Call, key: string): Promise<Returned> {
    const timeout = AbortSignal.timeout(timeoutSeconds * 1_000);
    const both = AbortSignal.any([signal, timeout]);
    try {
      const asked = { plugin, doing: `the tool ${name}` };
      const running = async () => await tool.run({ args, turn, signal: both, key, order });
      return {
        words,
        result: shown(await callPlugin(asked, timeoutSeconds * 1_000 + graceMs, running, { signal: both })),
      };
    } catch (thrown) {
      const result = failure(thrown, signal);
      if (!timeout.aborted) return { words, result };
      return ours(refusal("tool_timeout", `The tool did not answer within ${timeoutSeconds} s.`, "unknown"));
    }
  }

  /** The tool has run, whatever its result is worth. */
  function shown(result: ToolResult | undefined): Json {
    try {
      return shownResult(result);
    } catch (thrown) {
      log.warn(
        { plugin, tool: name, session: turn.sessionKey, error: reasonOf(thrown) },
        "the result of a tool cannot be read",
      );
      return refusal("tool_unreadable", reasonOf(thrown), "unreadable");
    }
  }

  /**
   * A call that may change something: it is written down before it begins, and its result before the model reads it.
   */
  async function runRecorded(call: Call, { record, approval }: Permission): Promise<Returned> {
    const { args, signal, order } = call;
    const began = now();
    let begun: BegunCall;
    try {
      begun = await made.begin(tool, args, { record, approval, signal });
    } catch (thrown) {
      signal.throwIfAborted();
      log.warn(
        { plugin, tool: name, session: turn.sessionKey, error: reasonOf(thrown) },
        "a call of a tool could not be recorded",
      );
      const error = "The call was not made, because it could not be recorded first. Try again later.";
      return ours(refusal("tool_unrecorded", error, "refused"));
    }
    if (approval !== undefined) void calls.approvals.began(approval);
    const returned = await whileWorking(visit, () => run(call, begun.key)).catch((thrown: unknown) => {
      // The turn ends while the call is under way.
      note(order, {
        plugin,
        ms: now() - began,
        code: "outcome_unknown",
        effect: "unknown",
        ...callNote(args, undefined, "outcome_unknown"),
      });
      throw thrown;
    });
    await begun.end(returned, codeOf(returned.result)).catch((thrown: unknown) => {
      log.warn(
        { plugin, tool: name, session: turn.sessionKey, error: reasonOf(thrown) },
        "the result of a tool could not be recorded",
      );
    });
    return returned;
  }

  /** Answers without a call if the call was made before, else calls the tool if no owner denies it. */
  async function answer(call: Call): Promise<Answered> {
    const { args, signal } = call;
    const isReading = tool.readOnly === true;
    const known = isReading ? {} : await made.known(tool, args);
    if ("result" in known) return { words, ...known, summarized: false };
    const {
      refused,
      waited,
      key: approval,
    } = await ask(call).catch(
      (thrown: unknown): Asked => ({
        refused: failure(thrown, signal),
        waited: 0,
      }),
    );
    if (refused !== undefined) return { ...ours(refused), waited };
    if (isReading) return { ...(await run(call, made.readingKey(name))), waited };
    const returned = await runRecorded(call, { record: known.record, approval });
    return { ...returned, waited, effect: effectOf(returned.result, codeOf(returned.result)) };
  }

  return {
    name,
    description,
    parameters,
    async run(received, signal, written) {
      const began = now();
      // Taken before the first wait.
      const order = made.nextOrder();
      const { args: given, problem } = exactArguments(received ?? {}, written, tool.exactNumbers === true);
      const checked =
        problem === undefined ? check(given) : { refused: refusal("invalid_arguments", problem, "refused") };
      const answered =
        "refused" in checked ? ours(checked.refused) : await answer({ args: checked.args, signal, order });
      const { result, code = codeOf(result), detail, waited = 0, effect, summarized = true }: Answered = answered;
      const ms = now() - began - waited;
      const facts = {
        code,
        detail,
        effect,
      };
      note(order, { plugin, ms, ...facts, ...(summarized && callNote(given, result, code)) });
      log.debug({ plugin, tool: name, session: turn.sessionKey, ms, code: code ?? "done" }, "a tool was called");
      return inWords(result, { name, words: answered.words });
    },
  };
}
