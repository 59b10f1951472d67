/** `POST <base>/agent`: runs an isolated turn of an agent. */
import { isFullModelName } from "../../config/index.ts";
import type { Json, RawEvent, Thinking, TurnRequest } from "../../contract/index.ts";
import { cleanHookName, wrapExternal } from "../../untrusted/index.ts";
import {
  FieldProblem,
  type Fields,
  readBoolean,
  readChoice,
  readObject,
  readPositive,
  readString,
  readText,
} from "./fields.ts";
import { type AgentPolicy, type Asker, chooseAgent, chooseSession } from "./policy.ts";
import { wakeModes } from "./wake.ts";

export interface AgentDeps extends AgentPolicy {
  readonly channels: AgentPolicy["channels"] & { readonly hasLastRecipient: (channelId: string) => Promise<boolean> };
}

export const thinkingLevels: readonly Thinking[] = ["off", "minimal", "low", "medium", "high", "max"];
const longestRunSeconds = 86_400;

export interface AgentRequest {
  /** The message, unchanged. */
  readonly message: string;
  readonly request: TurnRequest & { readonly name: string; readonly sessionKey: string };
}

/** Validates every field and then the rules about what the caller may request. Throws `HttpProblem` 400. */
export async function parseAgent(fields: Fields, deps: AgentDeps, asker: Asker): Promise<AgentRequest> {
  const message = readText(fields, "message");
  const name = readName(fields);
  const agentId = readString(fields, "agentId", { maxLength: 128, allowBlank: true });
  const sessionKey = readSessionKey(fields);
  const sessionMode = readChoice(fields, "sessionMode", ["isolated", "persistent"]);
  const wakeMode = readChoice(fields, "wakeMode", wakeModes) ?? "now";
  const deliver = readBoolean(fields, "deliver") ?? true;
  const channel = readString(fields, "channel", { maxLength: 64 })?.toLowerCase() ?? "last";
  const to = readString(fields, "to", { maxLength: 256 });
  // What an operator has chosen for the platform, and not a request.
  const platform = asker.by === "mapping" ? readObject(fields, "platform") : undefined;
  const model = readString(fields, "model", { maxLength: 256 });
  const thinking = readChoice(fields, "thinking", thinkingLevels);
  const timeoutSeconds = readPositive(fields, "timeoutSeconds", longestRunSeconds);

  const named = Object.hasOwn(fields, "agentId") ? (agentId ?? "") : undefined;
  const chosen = chooseAgent(named, deps);
  const session = chooseSession({ ...asker, requested: sessionKey, mode: sessionMode }, deps);
  if (model !== undefined && !deps.models.allowed(model, chosen)) {
    const why = isFullModelName(model)
      ? "is not in the list of allowed models, or of a provider that the configuration does not use"
      : "is neither an alias nor of the form provider/model";
    throw new FieldProblem("model_not_allowed", "model", `model ${why}.`);
  }
  await checkDelivery({ channel, to, deliver }, deps);

  return {
    message,
    request: {
      name,
      agentId: chosen,
      ...session,
      wakeMode,
      deliver,
      channel,
      ...(to === undefined ? {} : { to }),
      ...(platform === undefined ? {} : { platform }),
      ...(model === undefined ? {} : { model }),
      ...(thinking === undefined ? {} : { thinking }),
      ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }),
    },
  };
}

/** The name of a run without one. */
const unnamed = "Hook";

function readName(fields: Fields): string {
  const name = cleanHookName(readString(fields, "name", { maxLength: 4_096, allowBlank: true }) ?? "");
  if (name.length > 200) throw new FieldProblem("invalid_payload", "name", "name must have at most 200 characters.");
  return name === "" ? unnamed : name;
}

function readSessionKey(fields: Fields): string | undefined {
  const key = readString(fields, "sessionKey", { maxLength: 256 });
  if (key !== undefined && !/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]+$/u.test(key))
    throw new FieldProblem("invalid_payload", "sessionKey", "sessionKey must have printable characters only.");
  return key;
}

/** The allowed values of `channel` in words: `last, botchat or slack`. */
export function choicesOf({ list }: { readonly list: () => readonly string[] }): string {
  return new Intl.ListFormat("en-GB", { type: "disjunction" }).format(["last", ...list()]);
}

async function checkDelivery(
  ask: { readonly channel: string; readonly to: string | undefined; readonly deliver: boolean },
  { channels }: AgentDeps,
): Promise<void> {
  const { channel, to, deliver } = ask;
  if (channel === "last") return;
  if (!channels.known(channel)) {
    const meant = channels.meant(channel);
    const must = `channel must be ${choicesOf(channels)}.`;
    throw new FieldProblem("channel_unknown", "channel", meant === undefined ? must : `${meant}: ${must}`);
  }
  if (!channels.available(channel)) {
    throw new FieldProblem(
      "channel_unavailable",
      "channel",
      "channel names a channel that is not installed or not enabled on this gateway. It must be " +
        `${choicesOf(channels)}.`,
    );
  }
  if (deliver && to === undefined && !(await channels.hasLastRecipient(channel))) {
    throw new FieldProblem("invalid_payload", "to", "to is required: no message has arrived on this channel yet.");
  }
}

/** Creates the event of a run. External content is wrapped here, once, whatever its session and name. */
export function agentEvent(
  asked: AgentRequest,
  options: {
    readonly dedupeKey?: string | undefined;
    /** False if the operator trusts this source like their own messages, or if the text is sent verbatim. */
    readonly wrapped?: boolean;
    /** The mapping's instructions for the agent. */
    readonly instructions?: string;
    /** Verified facts about the sender, placed before the content and outside its wrapper. */
    readonly origin?: string | undefined;
    /** Further data to store with the run, for the operator. */
    readonly stored?: { readonly [name: string]: Json };
  },
): RawEvent {
  const { message, request } = asked;
  const { dedupeKey, wrapped = true, instructions, origin, stored } = options;
  // The id of its mapping says more than the name of a run that has none.
  const hook = request.name === unnamed && typeof stored?.mapping === "string" ? stored.mapping : request.name;
  const content = wrapped ? wrapExternal({ text: message, source: "webhook", metadata: { Hook: hook } }) : message;
  const event: RawEvent = {
    source: "hooks",
    kind: "agent",
    lane: request.sessionKey,
    authority: "hook",
    body: {
      request: { ...request, ...(instructions === undefined ? {} : { instructions }) },
      message: origin === undefined ? content : `${origin}\n\n${content}`,
      replyName: request.name,
      ...stored,
    },
  };
  return dedupeKey === undefined ? event : { ...event, dedupeKey };
}
