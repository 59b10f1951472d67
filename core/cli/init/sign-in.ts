/** A step of `init`: a person signs the bot in, such as with their phone, while the gateway runs. */
import { setTimeout as sleep } from "node:timers/promises";
import { programCommand } from "../../contract/command.ts";
import type { GatewayDescription } from "../../gateway/gateway.ts";
import { visibleLine } from "../../log/visible.ts";
import type { ChannelStatus } from "../../sdk/contract.ts";
import { showSignIn } from "../output/sign-in.ts";
import type { RunningGateway } from "../running-gateway.ts";
import { runningGateway } from "./own-gateway.ts";
import type { Setup } from "./setup.ts";

const pollMs = 500;

export async function signIn(setup: Setup): Promise<void> {
  const { ask, result, context } = setup;
  const { bot } = result;
  if (bot === undefined || setup.needsSignIn !== true) return;
  const later = `\`${programCommand} channels status\` shows how, while the gateway runs`;
  if (ask === undefined) return setup.say(`A person has to sign the bot in: ${later}.`, { sign: "note" });
  setup.title("Sign the bot in");
  const gateway = await runningGateway(setup);
  let shown: string | undefined;
  for (;;) {
    // A code is renewed after a while, and shown again.
    const status = await nextStatus(setup, gateway, shown);
    if (status === undefined) return setup.say(`Skipped: ${later}.`, { sign: "note" });
    if (status.state === "connected") {
      const { username, id, name } = status.identity ?? {};
      setup.result.bot = { ...bot, ...(username !== undefined && { username }), ...(id !== undefined && { id }) };
      return setup.say(`Your bot is ${visibleLine(name ?? username ?? id ?? bot.account, 80)}.`, { sign: "good" });
    }
    if (status.action === undefined) {
      setup.say(visibleLine([status.detail, status.hint].filter(Boolean).join(" ") || "The bot cannot sign in.", 500), {
        sign: "bad",
      });
      return setup.say(`When it is mended, ${later}.`, { sign: "note" });
    }
    shown = JSON.stringify(status.action);
    await showSignIn(context.terminal, `${bot.channel}:${bot.account}`, status.action);
  }
}

/**
 * The next state of the account that is worth showing: connected, failed, or with another action than the one that was
 * shown. `undefined` if the operator skips.
 */
async function nextStatus(
  { ask, result }: Setup,
  gateway: RunningGateway,
  shown: string | undefined,
): Promise<ChannelStatus | undefined> {
  const { channel, account } = result.bot ?? {};
  const found = new AbortController();
  const skipped = new AbortController();
  const question = ask?.until("  Waiting (Enter skips)", found.signal).finally(() => skipped.abort());
  question?.catch(() => {});
  try {
    while (!skipped.signal.aborted) {
      const description = ((await gateway.describe()) ?? undefined) as GatewayDescription | undefined;
      const one = description?.accounts.find((each) => each.channel === channel && each.account === account);
      if (one?.status.state === "connected" || one?.status.state === "failed") return one.status;
      const { action } = one?.status ?? {};
      if (action !== undefined && JSON.stringify(action) !== shown) return one?.status;
      await sleep(pollMs, undefined, { signal: skipped.signal }).catch(() => {});
    }
    return undefined;
  } finally {
    found.abort();
    await question;
  }
}
