/**
 * Determines the recipient of an action. An operator may choose any; an agent is limited to the chats that the
 * configuration allows.
 */
import { groupKey, type PathOf, parseAllowlist, placeSettings } from "../access/index.ts";
import { impossibleTopic, parseTarget } from "../agents/index.ts";
import type { LiveAccount } from "../channels/index.ts";
import { type Address, ChannelError, type Inbound, type Route } from "../contract/index.ts";
import { type ActionRefusal, isRefusal, refuse, sentences } from "./result.ts";
import type { ActionCall } from "./schema.ts";

/**
 * The caller of an action: an agent during a turn, or an operator with the gateway token or access to the state
 * directory.
 */
export type ActionCaller =
  | { readonly by: "agent"; readonly inbound: Inbound; readonly route: Route; readonly key: string }
  | { readonly by: "operator"; readonly dryRun?: boolean };

export interface RecipientDeps {
  readonly account: (channel: string, account: string) => LiveAccount | undefined;
  /** The open accounts of a channel, in the order of the configuration. */
  readonly accountsOf: (channel: string) => readonly LiveAccount[];
  readonly pathOf: (live: LiveAccount) => PathOf;
  readonly isPaired: (channel: string, account: string, id: string) => Promise<boolean>;
}

/** The current chat: where the message came from or, for an event that no user wrote, where the reply goes. */
export function placeAtHand(caller: ActionCaller): Address | undefined {
  if (caller.by === "operator") return undefined;
  const { inbound, route } = caller;
  if (inbound.authority !== "channel") return route.to ?? undefined;
  const { channel, account, chat } = inbound;
  return { channel, account, chat: chat.id, thread: chat.thread };
}

/** The account that performs the action, in the named channel, else in the current one. */
export function accountFor(call: ActionCall, caller: ActionCaller, deps: RecipientDeps): LiveAccount | ActionRefusal {
  const here = placeAtHand(caller);
  const channel = call.channel ?? here?.channel;
  if (channel === undefined) return refuse("invalid_arguments", "channel is missing: there is no current chat.");
  // An agent uses the account through which it was addressed.
  const named = caller.by === "operator" ? call.account : undefined;
  const account = named ?? (here?.channel === channel ? here.account : undefined);
  const live = account === undefined ? deps.accountsOf(channel)[0] : deps.account(channel, account);
  if (live !== undefined) return live;
  const what =
    account === undefined
      ? `The channel ${channel} has no account that is open`
      : `The account ${account} of ${channel} is not open`;
  return refuse("account_not_open", `${what}: see channels.${channel}, and its status.`);
}

export interface Recipient {
  readonly address: Address;
  readonly kind: "direct" | "group";
}

export async function recipientFor(
  call: ActionCall,
  caller: ActionCaller,
  live: LiveAccount,
  deps: RecipientDeps,
): Promise<Recipient | ActionRefusal> {
  const here = placeAtHand(caller);
  const nearby = here?.channel === live.channel && here.account === live.id ? here : undefined;
  const target = call.to === undefined ? nearby : await readTarget(call.to, live);
  if (target === undefined) return refuse("invalid_arguments", "to is missing: there is no current chat.");
  if (isRefusal(target)) return target;
  const { chat } = target;
  // Models often add the current topic to a target that already has one. For a user or program, two different topics
  // are a mistake.
  if (
    caller.by === "operator" &&
    call.thread !== undefined &&
    target.thread !== undefined &&
    call.thread !== target.thread
  )
    return refuse(
      "invalid_arguments",
      `to: it names topic ${target.thread}, and thread names topic ${call.thread}: leave one out.`,
    );
  const thread = call.thread ?? target.thread ?? (nearby?.chat === chat ? nearby.thread : undefined);
  if (thread !== undefined && !live.capabilities.threads)
    return refuse("not_supported", `The channel ${live.channel} has no topics.`);
  const address: Address = { channel: live.channel, account: live.id, chat, thread };
  const recipient: Recipient = { address, kind: chatKindOf(address, caller, live) };
  return (caller.by === "agent" ? await keepOut(recipient, caller, live, deps) : undefined) ?? recipient;
}

async function readTarget(
  to: string,
  live: LiveAccount,
): Promise<{ readonly chat: string; readonly thread?: string } | ActionRefusal> {
  const { capabilities } = live;
  const target = parseTarget(to, capabilities);
  const impossible = impossibleTopic(target, capabilities);
  if (impossible !== undefined)
    return refuse(
      "invalid_arguments",
      `to: the topic must be ${capabilities.messageIds?.description ?? "an id"}, not "${impossible.slice(0, 64)}".`,
    );
  const { chat, ...topic } = target;
  try {
    return { chat: (await live.connection.resolve?.(chat)) ?? chat, ...topic };
  } catch (error) {
    if (error instanceof ChannelError) return refuse(error.reason, sentences(`to: ${error.message}`, error.hint));
    throw error;
  }
}

/** Guesses the kind of chat. Without further information, an id that begins with a minus belongs to a group. */
export function chatKindOf(
  { channel, account, chat }: Address,
  caller: ActionCaller,
  { access }: LiveAccount,
): Recipient["kind"] {
  if (caller.by === "agent" && caller.inbound.authority === "channel") {
    const { inbound } = caller;
    if (inbound.channel === channel && inbound.account === account && inbound.chat.id === chat)
      return inbound.chat.kind === "direct" ? "direct" : "group";
  }
  return groupKey(access, chat) !== undefined || chat.startsWith("-") ? "group" : "direct";
}

type AgentCaller = Extract<ActionCaller, { readonly by: "agent" }>;

const isSame = (a: Address | null | undefined, b: Address): boolean =>
  a !== null && a !== undefined && a.channel === b.channel && a.account === b.account && a.chat === b.chat;

/**
 * Limits where a turn may write. A turn caused by a webhook may only write where its reply goes, because anyone may
 * have written its content. Any other turn may also write to the current chat, to users named by the configuration or a
 * pairing, and to groups named by the configuration; `*` does not name a group.
 */
async function keepOut(
  { address, kind }: Recipient,
  caller: AgentCaller,
  live: LiveAccount,
  deps: RecipientDeps,
): Promise<ActionRefusal | undefined> {
  const { inbound, route } = caller;
  if (isSame(route.to, address)) return undefined;
  if (inbound.authority === "hook")
    return refuse("recipient_not_allowed", "A turn caused by a hook may only write to the place of its reply.");
  if (isSame(placeAtHand(caller), address)) return undefined;
  const pathOf = deps.pathOf(live);
  return kind === "group" ? groupRefusal(address, live, pathOf) : await personRefusal(address, live, pathOf, deps);
}

function groupRefusal({ chat, thread }: Address, { access }: LiveAccount, pathOf: PathOf): ActionRefusal | undefined {
  if (groupKey(access, chat) === undefined)
    return refuse(
      "recipient_not_allowed",
      `${pathOf(["groups"])} does not name ${chat}: the agent may write to listed groups only.`,
    );
  const place = placeSettings(access, pathOf, { id: chat, kind: "group", thread });
  if (!place.enabled) return refuse("recipient_not_allowed", `${place.pathTo("enabled")} is false.`);
  return place.groupPolicy === "disabled"
    ? refuse("recipient_not_allowed", `${place.pathTo("groupPolicy")} is "disabled".`)
    : undefined;
}

async function personRefusal(
  { channel, account, chat }: Address,
  { access, identity }: LiveAccount,
  pathOf: PathOf,
  deps: RecipientDeps,
): Promise<ActionRefusal | undefined> {
  const policy = access.dmPolicy ?? "pairing";
  if (policy === "disabled") return refuse("recipient_not_allowed", `${pathOf(["dmPolicy"])} is "disabled".`);
  if (parseAllowlist(access.allowFrom ?? [], identity).ids.has(chat)) return undefined;
  if (policy === "pairing" && (await deps.isPaired(channel, account, chat))) return undefined;
  const paired = policy === "pairing" ? ", and the sender is not paired" : "";
  return refuse(
    "recipient_not_allowed",
    `${pathOf(["allowFrom"])} does not name ${chat}${paired}: the agent may not write there.`,
  );
}
