/** The first step of `init`: the bot of a chat platform. Its credential is tried before anything is written. */
import { lookAtAccount } from "../../channels/look.ts";
import { isRecord } from "../../config/checking/validate.ts";
import { getPath, renderPath } from "../../config/path.ts";
import { type Problem, renderProblem } from "../../config/problem.ts";
import { HostError } from "../../contract/errors.ts";
import type { ChannelDefinition, ChannelOnboarding } from "../../sdk/contract.ts";
import { createIds } from "../../state/ids.ts";
import { type ConfiguredAccount, configuredAccounts, probeAccounts } from "../accounts.ts";
import { withoutStop } from "../doctor/finding.ts";
import { readyPlugins } from "../plugins/declarations.ts";
import { readSecretInput } from "./secret-input.ts";
import { type Setup, unfinished, type Wanted } from "./setup.ts";

type Onboarded = ChannelDefinition & { readonly onboarding: ChannelOnboarding };

/** One whose credential the operator has. */
type WithCredential = ChannelDefinition & {
  readonly onboarding: ChannelOnboarding & { readonly credential: string };
};

const hasCredential = (channel: Onboarded): channel is WithCredential => channel.onboarding.credential !== undefined;

const rootAccount = "default";

const isOnboarded = (channel: ChannelDefinition | undefined): channel is Onboarded => channel?.onboarding !== undefined;

const platformOf = ({ platform, id }: ChannelDefinition): string => platform ?? id;

export async function setUpBot(setup: Setup): Promise<void> {
  const channels = readyPlugins(setup.declared).flatMap(({ channel }) => (isOnboarded(channel) ? [channel] : []));
  if (await keepsBot(setup, channels)) return;
  const channel = await chooseChannel(setup, channels);
  if (channel === undefined) return;
  const base = addressOf(channel, setup.options.platformAddress);
  if (hasCredential(channel)) await askCredential(setup, channel, base);
  // Without questions, a platform is only set up if it was named or has a credential.
  else if (setup.ask !== undefined || setup.options.channel !== undefined) wantSignIn(setup, channel, base);
}

async function askCredential(setup: Setup, channel: WithCredential, base: readonly Wanted[]): Promise<void> {
  const { ask } = setup;
  const { onboarding } = channel;
  const given = await givenCredential(setup, channel);
  if (given !== undefined) return await accept(setup, channel, [...base, ...given.wanted], given.from);
  if (ask === undefined) return;
  setup.title(`Your bot on ${platformOf(channel)}`);
  for (const step of onboarding.steps) setup.say(step);
  for (;;) {
    const text = await ask.password(`  Paste the ${onboarding.name} (hidden; Enter skips)`);
    if (text === "") {
      setup.say("Skipped: no chat reaches the gateway yet.", { sign: "note" });
      return;
    }
    const wanted = [...base, credential(setup, channel, text)];
    const reason = await tryBot(setup, channel, wanted);
    if (reason === undefined) return;
    setup.say(reason, { sign: "bad" });
  }
}

/** Nothing can be tried before the gateway runs: see `signIn`. */
function wantSignIn(setup: Setup, channel: Onboarded, base: readonly Wanted[]): void {
  setup.title(`Your bot on ${platformOf(channel)}`);
  for (const step of channel.onboarding.steps) setup.say(step);
  setup.want(...base, ...accessOf(setup, channel));
  setup.result.bot = { channel: channel.id, account: rootAccount };
  setup.needsSignIn = true;
}

/** Whether an account of the configuration works already, so that there is nothing to ask. */
async function keepsBot(setup: Setup, channels: readonly Onboarded[]): Promise<boolean> {
  const { context, loaded, declared, options } = setup;
  if (options.tokenFile !== undefined) return false;
  const accounts = (await configuredAccounts(loaded, declared, context.env)).filter(
    ({ channel, state, settings }) =>
      state === "ready" && channels.some(({ id, onboarding }) => id === channel && hasText(settings, onboarding)),
  );
  for (const report of await probeAccounts(context, accounts)) {
    const { channel, account, probe } = report;
    if (probe?.ok === true) {
      found(setup, { channel, account }, probe.identity);
      return true;
    }
    setup.say(
      `The bot of channels.${channel} does not answer: ${withoutStop(probe?.detail ?? "it cannot be asked")}.`,
      {
        sign: "bad",
      },
    );
  }
  return false;
}

const hasText = (settings: ConfiguredAccount["settings"], { credential: option }: ChannelOnboarding): boolean =>
  option === undefined ? settings !== undefined : typeof settings?.options[option] === "string";

async function chooseChannel({ options, ask }: Setup, channels: readonly Onboarded[]): Promise<Onboarded | undefined> {
  const ids = channels.map(({ id }) => id).join(", ");
  if (options.channel !== undefined) {
    const named = channels.find(({ id }) => id === options.channel);
    if (named === undefined)
      throw new HostError("usage", {
        reason: `--channel: no channel ${options.channel} can be set up here; use ${ids}`,
      });
    return named;
  }
  const [first, ...others] = channels;
  if (others.length === 0 || first === undefined) return first;
  if (ask === undefined)
    return channels.find(({ environment = {} }) => Object.values(environment).some(isSet)) ?? first;
  const answer = await ask.ask(`  Which platform? ${ids}`, first.id);
  return channels.find(({ id }) => id === answer) ?? first;
}

const isSet = (variable: string): boolean => (process.env[variable] ?? "") !== "";

/** What an option or a variable of the environment contains. */
async function givenCredential(
  setup: Setup,
  channel: WithCredential,
): Promise<{ readonly wanted: readonly Wanted[]; readonly from: string } | undefined> {
  const { options, context } = setup;
  if (options.tokenFile !== undefined) {
    const text = await readSecretInput("--token-file", options.tokenFile);
    return { wanted: [credential(setup, channel, text)], from: "--token-file" };
  }
  const variable = channel.environment?.[channel.onboarding.credential];
  if (variable === undefined || (context.env[variable] ?? "").trim() === "") return undefined;
  const path = ["channels", channel.id, channel.onboarding.credential];
  const comment = `The bot's ${channel.onboarding.name} is in this environment variable.`;
  return { wanted: [{ path, value: { env: variable }, comment }], from: variable };
}

function credential(setup: Setup, { id, onboarding }: WithCredential, text: string): Wanted {
  const secret = setup.secret(["channels", id, onboarding.credential], { name: `bot-${onboarding.name}`, text });
  return { ...secret, comment: `The bot's ${onboarding.name} is in a file beside this one that only you can read.` };
}

function addressOf({ id, onboarding }: Onboarded, address: string | undefined): readonly Wanted[] {
  if (address === undefined) return [];
  if (onboarding.address === undefined)
    throw new HostError("usage", { reason: `--platform-address: the channel ${id} has no address` });
  return [{ path: ["channels", id, onboarding.address], value: address }];
}

async function accept(setup: Setup, channel: WithCredential, wanted: readonly Wanted[], from: string): Promise<void> {
  const reason = await tryBot(setup, channel, wanted);
  if (reason !== undefined) throw unfinished(`${from}: ${reason}`);
}

/** Asks the platform who the bot is. Resolves with what is wrong; otherwise the values are to be written. */
async function tryBot(setup: Setup, channel: WithCredential, values: readonly Wanted[]): Promise<string | undefined> {
  const { context, declared } = setup;
  const wanted = [...values, ...accessOf(setup, channel)];
  const trial = await setup.tried(wanted);
  const accounts = await configuredAccounts(trial, declared, context.env);
  const account = accounts.find(({ channel: id, account }) => id === channel.id && account === rootAccount);
  if (account?.settings === undefined) return problemsOf(account, channel);
  const stateDirectory = await setup.scratch();
  const look = { stateDirectory, now: context.now, newId: createIds(context.now) };
  const { probe } = await lookAtAccount(account.settings, look);
  if (probe?.ok !== true)
    return `${platformOf(channel)} refuses it: ${withoutStop(probe?.detail ?? "it cannot be asked")}.`;
  setup.want(...wanted);
  found(setup, { channel: channel.id, account: rootAccount }, probe.identity);
  return undefined;
}

/** In a section that does not say who may write, strangers get a code. */
function accessOf({ loaded }: Setup, { id, onboarding, secretFiles = {} }: Onboarded): readonly Wanted[] {
  const section = getPath(loaded.written, ["channels", id]);
  const policy = isRecord(section) ? section.dmPolicy : undefined;
  const isDisabled = isRecord(section) && section.enabled === false;
  const comment = "A stranger gets a code, and the bot answers after you have approved it.";
  // A file would take precedence over the new credential.
  const files = Object.entries(secretFiles).flatMap(([file, option]) =>
    option === onboarding.credential && isRecord(section) && section[file] !== undefined ? [file] : [],
  );
  return [
    ...files.map((file) => ({ path: ["channels", id, file], value: undefined })),
    ...(policy === undefined ? [{ path: ["channels", id, "dmPolicy"], value: "pairing", comment }] : []),
    ...(isDisabled ? [{ path: ["channels", id, "enabled"], value: true }] : []),
  ];
}

/** What was typed is on the screen, so its place in the configuration is not named. */
function problemsOf(account: ConfiguredAccount | undefined, { id, onboarding }: WithCredential): string {
  const typed = renderPath(["channels", id, onboarding.credential]);
  const sentenceOf = (problem: Problem) =>
    problem.path === typed ? `It ${problem.message}. ${problem.hint ?? ""}`.trim() : renderProblem(problem);
  const errors = (account?.problems ?? []).filter(({ severity }) => severity === "error");
  return errors.length === 0 ? "The account cannot be opened." : errors.map(sentenceOf).join(" ");
}

function found(
  setup: Setup,
  at: { readonly channel: string; readonly account: string },
  { username, id, name }: { readonly username?: string; readonly id?: string; readonly name?: string } = {},
): void {
  setup.result.bot = { ...at, ...(username !== undefined && { username }), ...(id !== undefined && { id }) };
  const shown = username === undefined ? (name ?? id ?? at.account) : `@${username}`;
  setup.say(`Your bot is ${shown}${name === undefined || shown === name ? "" : `, ${name}`}.`, { sign: "good" });
}
