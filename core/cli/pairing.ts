/**
 * `pairing`: who may write to the agent in direct chats. Works on the store, and makes a running gateway look for the
 * changes.
 */
import { namesOwner, welcome } from "../access/approving.ts";
import {
  createPairing,
  type PairedSender,
  type Pairing,
  type PairingRequest,
  pairingLifetimeMs,
} from "../access/pairing.ts";
import { withdrawGrants } from "../agents/tools/tool-grants.ts";
import { channelAccounts, normalizeAccountId } from "../config/checking/merge.ts";
import { nearestOf } from "../config/checking/suggest.ts";
import type { GatewayConfig } from "../config/schema.ts";
import { programCommand } from "../contract/command.ts";
import { HostError } from "../contract/errors.ts";
import { noticeEvent } from "../host/notice.ts";
import { visibleLine } from "../log/visible.ts";
import { createIds } from "../state/ids.ts";
import type { Store } from "../state/store.ts";
import type { CommandContext } from "./context.ts";
import { renderAgo } from "./output/times.ts";

interface PairingOptions {
  readonly account?: string;
  readonly owner?: boolean;
  /** Absent: yes. */
  readonly notify?: boolean;
  readonly json?: boolean;
}

interface ChannelPairing {
  readonly channel: string;
  readonly waiting: readonly PairingRequest[];
  readonly approved: readonly (PairedSender & { readonly owner: boolean })[];
}

async function withPairing<T>(
  context: CommandContext,
  run: (pairing: Pairing, store: Store) => Promise<T>,
): Promise<T> {
  const store = await context.openState();
  try {
    return await run(createPairing({ store, now: context.now }), store);
  } finally {
    await store.close();
  }
}

/** As the id is written in the file. Ids are lower-case; an invalid one will not be found. */
const accountOf = ({ account }: PairingOptions): string | undefined =>
  account === undefined ? undefined : (normalizeAccountId(account) ?? account);

/**
 * A mistyped name finds no request, which would look as if there were none. Leftovers of a removed channel can still be
 * listed.
 */
function warnUnknown(
  { terminal }: CommandContext,
  config: GatewayConfig,
  channel: string,
  options: PairingOptions,
): void {
  const channels = Object.keys(config.channels);
  if (channels.length > 0 && !channels.includes(channel)) {
    // A similar name is mentioned for every command.
    if (nearestOf(channel, channels) !== undefined) return;
    terminal.note(
      `There is no channel ${visibleLine(channel, 80)} in the configuration. Configured channels: ` +
        `${channels.join(", ")}.`,
    );
    return;
  }
  const account = accountOf(options);
  const accounts = channelAccounts(config.channels[channel]).map(({ id }) => id);
  // Root keys can configure the account `default` in addition to the named accounts.
  if (account === undefined || account === "default" || accounts.length === 0 || accounts.includes(account)) return;
  terminal.note(`${channel} has no account ${visibleLine(account, 80)}; configured accounts: ${accounts.join(", ")}.`);
}

export async function listPairing(
  context: CommandContext,
  [channel]: readonly [string | undefined],
  options: PairingOptions,
): Promise<number> {
  const { config } = await context.load();
  const channels = channel === undefined ? Object.keys(config.channels) : [channel];
  const found = await withPairing(context, (pairing) =>
    Promise.all(channels.map((one) => look(pairing, one, accountOf(options)))),
  );
  if (channel !== undefined) warnUnknown(context, config, channel, options);
  if (options.json === true) context.terminal.json(channel === undefined ? found : found[0]);
  else if (found.length === 0)
    context.terminal.line(`No channel is configured. \`${programCommand} init\` asks for a bot.`);
  else for (const one of found) show(one, context);
  return 0;
}

async function look(pairing: Pairing, channel: string, account: string | undefined): Promise<ChannelPairing> {
  const [waiting, approved] = await Promise.all([pairing.pending(channel, account), pairing.paired(channel, account)]);
  const isOwner = async (sender: PairedSender) =>
    (await pairing.owners(channel, sender.account)).includes(sender.senderId);
  return {
    channel,
    waiting,
    approved: await Promise.all(approved.map(async (sender) => ({ ...sender, owner: await isOwner(sender) }))),
  };
}

function show({ channel, waiting, approved }: ChannelPairing, { terminal, now }: CommandContext): void {
  const { style } = terminal;
  const head = (cells: readonly string[]) => cells.map((cell) => style("dim", cell));
  terminal.line(style("bold", channel));
  if (waiting.length === 0) terminal.line("  No sender is waiting for approval.");
  else {
    terminal.table(
      [
        head(["code", "sender", "id", "account", "asked", "ends"]),
        ...waiting.map((one) => [
          style("cyan", one.code),
          visibleLine(one.senderName ?? "", 80),
          one.senderId,
          one.account,
          renderAgo(one.createdAt, now()),
          renderAgo(one.createdAt + pairingLifetimeMs, now()),
        ]),
      ],
      { indent: "  " },
    );
    terminal.line(
      `  ${style("dim", "to approve")}  ${programCommand} pairing approve ${channel} ${waiting[0]?.code ?? "CODE"}`,
    );
  }
  terminal.line();
  if (approved.length === 0) {
    terminal.line("  No sender is approved.");
    return;
  }
  terminal.table(
    [
      head(["approved", "id", "account", "since", ""]),
      ...approved.map((one) => [
        visibleLine(one.senderName ?? "", 80),
        one.senderId,
        one.account,
        renderAgo(one.approvedAt, now()),
        one.owner ? "owner" : one.expiresAt === undefined ? "" : `ends ${renderAgo(one.expiresAt, now())}`,
      ]),
    ],
    { indent: "  " },
  );
}

export async function approvePairing(
  context: CommandContext,
  [channel, code]: readonly [string, string],
  options: PairingOptions,
): Promise<number> {
  const { config } = await context.load();
  if (options.owner === true && config.commands.ownerAllowFrom !== undefined) {
    const reason = "commands.ownerAllowFrom is set and lists all owners: add the sender's id there, and omit --owner";
    throw new HostError("usage", { reason });
  }
  const notify = options.notify !== false;
  const account = accountOf(options);
  const { request, madeOwner, expiresAt } = await withPairing(context, async (pairing, store) => {
    const result = await pairing.approve(channel, code, {
      account,
      owner: options.owner === true,
      ownerNamed: (of) => namesOwner(config, channel, of),
    });
    if (!result.ok) {
      warnUnknown(context, config, channel, options);
      throw new HostError(result.reason === "locked" ? "pairing_locked" : "pairing_code_unknown", { channel, code });
    }
    if (!notify) return result;
    // The gateway delivers it through the account that received the request, through the outbox like any reply.
    const { address } = result.request;
    const say = (text: string) =>
      store.accept({ id: createIds(context.now)(), at: context.now(), event: noticeEvent({ address, text }) });
    await welcome(result.request, { store, now: context.now, say });
    return result;
  });
  const notified = notify && (await (await context.gateway())?.poke()) === true;
  const { senderId, senderName } = request;
  if (options.json === true) {
    context.terminal.json({
      approved: { channel, account: request.account, senderId, senderName, owner: madeOwner, expiresAt },
      told: notified,
    });
    return 0;
  }
  const owner = madeOwner ? ", and is an owner now" : "";
  context.terminal.line(`${nameOf(request)} may write to ${channel} (account ${request.account})${owner}.`);
  if (expiresAt !== undefined)
    context.terminal.line(
      "The approval expires after 24 hours and makes no owner, because another person can take this id over.",
    );
  if (!notify) context.terminal.line("They are not notified.");
  else
    context.terminal.line(notified ? "The bot notifies them." : "The bot notifies them when the gateway runs again.");
  return 0;
}

export async function denyPairing(
  context: CommandContext,
  [channel, code]: readonly [string, string],
  options: PairingOptions,
): Promise<number> {
  const request = await withPairing(context, (pairing) => pairing.deny(channel, code, accountOf(options)));
  if (request === null) {
    warnUnknown(context, (await context.load()).config, channel, options);
    throw new HostError("pairing_code_unknown", { channel, code });
  }
  if (options.json === true)
    context.terminal.json({ denied: { channel, account: request.account, senderId: request.senderId } });
  else context.terminal.line(`The request of ${nameOf(request)} was denied. They can ask again.`);
  return 0;
}

export async function revokePairing(
  context: CommandContext,
  [channel, id]: readonly [string, string],
  options: PairingOptions,
): Promise<number> {
  const account = accountOf(options);
  const revoked = await withPairing(context, async (pairing, store) => {
    // An approval that is given again later does not bring back what the person was allowed before.
    await withdrawGrants(
      store,
      (grant) => grant.channel === channel && grant.senderId === id && (account ?? grant.account) === grant.account,
    );
    return await pairing.revoke(channel, id, account);
  });
  if (!revoked) {
    warnUnknown(context, (await context.load()).config, channel, options);
    throw new HostError("pairing_sender_unknown", { channel, id });
  }
  if (options.json === true) context.terminal.json({ revoked: { channel, senderId: id } });
  else context.terminal.line(`${id} is no longer approved. This applies from the next message on.`);
  return 0;
}

const nameOf = ({ senderName, senderId }: Pick<PairingRequest, "senderName" | "senderId">): string =>
  senderName === undefined ? senderId : `${visibleLine(senderName, 80)} (${senderId})`;
