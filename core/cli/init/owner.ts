/**
 * The third step of `init`: who the owner is. The gateway runs while this command waits, so the first message of the
 * owner is answered as soon as the person at the terminal says who it is from.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { namesOwner } from "../../access/approving.ts";
import { createPairing, type PairingRequest } from "../../access/pairing.ts";
import { getPath } from "../../config/path.ts";
import { programCommand } from "../../contract/command.ts";
import { HostError } from "../../contract/errors.ts";
import { visibleLine } from "../../log/visible.ts";
import type { Questions } from "../output/questions.ts";
import { approvePairing } from "../pairing.ts";
import { runningGateway } from "./own-gateway.ts";
import type { Setup } from "./setup.ts";

const pollMs = 400;
/** An answer that comes sooner was typed before the name was read. */
const readMs = 500;
/** A local model may have to be loaded first. */
const answerMs = 120_000;

/** An owner whom the options name is written with the rest. */
export function wantOwner(setup: Setup): void {
  const { options, loaded, result } = setup;
  if (options.owner === undefined) return;
  const { channel = "", account = "" } = result.bot ?? {};
  if (channel === "") throw new HostError("usage", { reason: "--owner needs a bot: add --token-file" });
  const path = ["channels", channel, ...(account === "default" ? [] : ["accounts", account]), "allowFrom"];
  const before = getPath(loaded.written, path);
  const list: readonly unknown[] = Array.isArray(before) ? before : [];
  result.owner = { channel, senderId: options.owner };
  if (list.some((entry) => String(entry) === options.owner)) return;
  setup.want({ path, value: [...list, options.owner], comment: "Who may write without a code. These are the owners." });
}

export async function findOwner(setup: Setup): Promise<void> {
  const { context, ask, result } = setup;
  const { bot } = result;
  if (ask === undefined || bot === undefined || result.owner !== undefined) return;
  const { config } = await context.load();
  if (namesOwner(config, bot.channel, bot.account)) {
    setup.say("The configuration names the owners.", { sign: "good" });
    return;
  }
  if (await hasOwner(setup)) {
    setup.say("Your bot has an owner already.", { sign: "good" });
    return;
  }
  setup.title("Who is the owner?");
  await runningGateway(setup);
  const name = bot.username === undefined ? "your bot" : `@${bot.username}`;
  setup.say(
    `Write anything to ${name} now. It replies with a code, which you do not need here. The owner may change ` +
      "settings from the chat, and is asked before a tool runs that needs a permission.",
  );
  const refused = new Set<string>();
  for (;;) {
    const request = await nextRequest(setup, refused);
    if (request === undefined) {
      setup.say(`Skipped: the first person you approve with \`${programCommand} pairing approve\` is the owner.`, {
        sign: "note",
      });
      return;
    }
    const { senderId, senderName, code, newest } = request;
    const who = `${senderName === undefined ? "" : `${visibleLine(senderName, 80)}, `}id ${senderId}`;
    setup.say(`${who} has written.`);
    if (!(await isOwner(setup, ask))) {
      refused.add(senderId);
      continue;
    }
    const quiet = { ...context, terminal: { ...context.terminal, line() {} } };
    await approvePairing(quiet, [bot.channel, code], { account: bot.account, owner: true });
    result.owner = { channel: bot.channel, senderId };
    setup.say(`${visibleLine(senderName ?? senderId, 80)} is the owner.`, { sign: "good" });
    if (newest !== undefined) await awaitAnswer(setup, newest);
    return;
  }
}

/** An Enter that was meant to skip must not make a stranger the owner who writes in the same moment. */
async function isOwner({ context }: Setup, ask: Questions): Promise<boolean> {
  for (;;) {
    const shownAt = context.now();
    const answer = await ask.agree("  Is this you, the owner?");
    if (!answer || context.now() - shownAt >= readMs) return answer;
  }
}

async function withStore<T>(
  { context }: Setup,
  use: (store: Awaited<ReturnType<Setup["context"]["openState"]>>) => Promise<T>,
) {
  const store = await context.openState();
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

async function hasOwner(setup: Setup): Promise<boolean> {
  const { context, result } = setup;
  const { channel = "", account = "" } = result.bot ?? {};
  if (!(await context.hasState())) return false;
  return await withStore(setup, async (store) => {
    const owners = await createPairing({ store, now: context.now }).owners(channel, account);
    return owners.length > 0;
  });
}

/** The newest request of a sender who was not refused; `undefined` if the operator skips. */
async function nextRequest(setup: Setup, refused: ReadonlySet<string>): Promise<PairingRequest | undefined> {
  const { context, ask, result } = setup;
  const { channel = "", account = "" } = result.bot ?? {};
  const found = new AbortController();
  const skipped = new AbortController();
  // An interrupted question ends the step, when the last look at the store is over.
  const question = ask?.until("  Waiting (Enter skips)", found.signal).finally(() => skipped.abort());
  question?.catch(() => {});
  try {
    return await withStore(setup, async (store) => {
      const pairing = createPairing({ store, now: context.now });
      while (!skipped.signal.aborted) {
        const waiting = await pairing.pending(channel, account);
        const newest = waiting.filter(({ senderId }) => !refused.has(senderId)).at(-1);
        if (newest !== undefined) return newest;
        await sleep(pollMs, undefined, { signal: skipped.signal }).catch(() => {});
      }
      return undefined;
    });
  } finally {
    found.abort();
    await question;
  }
}

/** The approval runs the message that the owner has written. */
async function awaitAnswer(setup: Setup, event: string): Promise<void> {
  const { context } = setup;
  setup.say("The bot answers this message now ...");
  const until = context.now() + answerMs;
  const outcome = await withStore(setup, async (store) => {
    while (context.now() < until) {
      const report = await store.event(event);
      // Until it is replayed, it is settled as refused.
      if (report?.state === "settled" && report.outcome !== "refused") return report;
      await sleep(pollMs);
    }
    return undefined;
  });
  if (outcome?.outcome === "answered") setup.say("It has answered: look at your chat.", { sign: "good" });
  else
    setup.say(
      `There is no answer yet${outcome?.reason === undefined ? "" : ` (${outcome.reason})`}: ` +
        `\`${programCommand} why last\` explains it.`,
      { sign: "bad" },
    );
}
