/** Remedies of an event that the console can carry out itself, in place of the command that a hint names. */
import { createPairing } from "../../../access/index.ts";
import { getPath, parsePath, renderPath } from "../../../config/index.ts";
import type { Decision, Json } from "../../../contract/index.ts";
import type { Role } from "../../../http/index.ts";
import { eventData, type Story } from "../../../reports/index.ts";
import type { V1Deps } from "./deps.ts";

/** A button: a call of a route below `/gateway/v1/`. */
export interface Remedy {
  readonly label: string;
  readonly role: Role;
  readonly path: string;
  readonly body: Readonly<Record<string, Json>>;
  /** What is asked before. */
  readonly confirm?: string;
}

type Of = (asked: {
  readonly decision: Decision;
  readonly event: ReturnType<typeof eventData>;
  readonly deps: V1Deps;
}) => Promise<readonly Remedy[]>;

const approveSender: Of = async ({ event: { source, account, sender }, deps }) => {
  if (sender === undefined) return [];
  const pending = await createPairing(deps).pending(source, account);
  return pending
    .filter(({ senderId }) => senderId === sender)
    .map(({ code, senderName, account: of }) => ({
      label: `Approve ${senderName ?? sender}`,
      role: "admin",
      path: "pairing/approve",
      body: { channel: source, account: of, code },
    }));
};

async function setting(
  { editing }: V1Deps,
  {
    path,
    value,
    label,
    confirm,
  }: { readonly path: string; readonly value: Json; readonly label: string; readonly confirm: string },
): Promise<readonly Remedy[]> {
  const { digest } = await (await editing()).read();
  return [{ label, role: "admin", path: "config/set", body: { base: digest, changes: [{ path, value }] }, confirm }];
}

/** The list that decided gets the sender. */
const addSender: Of = async ({ decision: { path = "" }, event: { sender }, deps }) => {
  const segments = parsePath(path);
  if (segments?.at(-1) !== "allowFrom" || sender === undefined || sender === "") return [];
  const list = getPath(deps.written(), segments);
  if (list !== undefined && !Array.isArray(list)) return [];
  const value = [...((list ?? []) as readonly Json[]), sender];
  const confirm = `${path} gets "${sender}". The sender may then write to the bot.`;
  return await setting(deps, { path, value, label: `Add ${sender} to allowFrom`, confirm });
};

const addGroup: Of = async ({ decision: { path = "" }, event: { chat }, deps }) => {
  const segments = parsePath(path);
  if (segments?.at(-1) !== "groups" || chat === undefined) return [];
  const group = renderPath([...segments, chat]);
  const confirm = `${group} is added. The bot then answers in this group as the other settings say.`;
  return await setting(deps, { path: group, value: {}, label: `Add the group ${chat}`, confirm });
};

const noMention: Of = async ({ decision: { path = "" }, deps }) => {
  if (parsePath(path)?.at(-1) !== "requireMention") return [];
  const confirm = `${path} becomes false. The bot then answers each message there.`;
  return await setting(deps, { path, value: false, label: "Require no mention", confirm });
};

const byCode: Readonly<Record<string, readonly Of[]>> = {
  pairing_required: [approveSender],
  pairing_full: [approveSender],
  sender_not_allowed: [addSender],
  group_sender_not_allowed: [addSender],
  press_sender_not_listed: [addSender],
  command_sender_not_listed: [addSender],
  bot_not_listed: [addSender],
  group_not_listed: [addGroup],
  mention_required: [noMention],
};

/** For each decision of the story, in order. */
export async function remediesOf(deps: V1Deps, { report }: Story): Promise<readonly (readonly Remedy[])[]> {
  const event = eventData(report);
  return await Promise.all(
    report.decisions.map(async (decision) => {
      const known = Object.hasOwn(byCode, decision.code) ? (byCode[decision.code] ?? []) : [];
      return (await Promise.all(known.map((of) => of({ decision, event, deps })))).flat();
    }),
  );
}
