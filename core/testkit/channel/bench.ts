/** The test setup of one rule: a channel with its platform, account and connection. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFindRoute, type FindRoute, readAccounts } from "../../channels/index.ts";
import { changeMarked, createSecrets, nodeOf } from "../../config/index.ts";
import { type Address, type Json, type Part, reasonOf } from "../../contract/index.ts";
import { type CalledChannel, type CompleteInbound, type CompleteParsed, completeParsed } from "../../host/index.ts";
import type { ChannelCapabilities, ChannelConnection, ChannelDefinition, Reply } from "../../sdk/contract.ts";
import { type PlayedClock, realWait, usePlayedClock } from "../host/played-clock.ts";
import type { ChannelContractOptions, ChannelPlatform, PlatformFailure } from "./options.ts";
import { openPostingPort, type PostingPort } from "./posted.ts";
import { statedCapabilities } from "./stated.ts";
import { createTestAccount, isMessage, type Received, type TestAccount } from "./test-account.ts";

type At = Omit<Received, "raw">;

/** How long a rule waits for an expected event, in real time. */
const usualPatienceMs = 10_000;

/** A signal that is never aborted. */
export const never: AbortSignal = new AbortController().signal;

/** What the rules of one contract have learned so far about the channel and its platform. */
export interface Contact {
  /** A message of the platform was received. */
  met?: true;
  /** Why the first rule that tried did not get so far. */
  failed?: string;
}

/** Functions of a platform that `can` promises. */
type PlatformFunction =
  | "acknowledged"
  | "delete"
  | "edit"
  | "files"
  | "forge"
  | "history"
  | "menu"
  | "others"
  | "press"
  | "reactions"
  | "report"
  | "signIn"
  | "signOut"
  | "typing";

/** What a rule works with. */
export interface Bench {
  readonly definition: ChannelDefinition;
  /** Those of the account. */
  readonly capabilities: ChannelCapabilities;
  /** Those that the rules were chosen by. */
  readonly stated: ChannelCapabilities;
  readonly fixtures: ChannelContractOptions["fixtures"];
  /** The functions that the options list. */
  readonly functions: NonNullable<ChannelContractOptions["functions"]>;
  readonly clock: PlayedClock;
  /** How long a rule waits for an expected event, in real time. */
  readonly patienceMs: number;
  readonly test: TestAccount;
  readonly connection: ChannelConnection;
  /** Values of the options that contain a secret. */
  readonly secrets: readonly string[];
  /** Where the addresses of the account are; empty if the platform does not post there. */
  readonly postingUrl: string;
  /** A platform that posts its events has to know the address of the gateway. */
  postsTo(gateway: string): void;
  /** Throws if the contract was called without a platform. */
  readonly platform: ChannelPlatform;
  /** The configuration section from which the account was created. */
  readonly section: Readonly<Record<string, unknown>>;
  fail(failure: PlatformFailure): Promise<void>;
  /** A method of the platform; throws where it is missing although `can` promises it. */
  able<K extends PlatformFunction>(name: K): NonNullable<ChannelPlatform[K]>;
  textOf(part: Part): string;
  /**
   * Runs what only fails where the channel does not reach its platform. Later rules of the contract then need not wait
   * for it again.
   */
  reach<T>(work: () => Promise<T>): Promise<T>;
  /** Starts the connection, lets the person write, and resolves with the message and the chat to reply in. */
  meet(text: string): Promise<{ readonly inbound: CompleteInbound; readonly address: Address }>;
  /** What was received so far and is a message, oldest first. */
  messages(): readonly (At & { readonly inbound: CompleteInbound })[];
  /** What the channel reads in an event, completed as the host does. */
  parse(raw: Json, more?: readonly Json[]): CompleteParsed;
  /** Sends a text as one message, as the host does. Resolves with the message's id. */
  send(text: string, address: Address, more?: Partial<Part>): Promise<string>;
  render(text: string, address: Address): readonly Part[];
  /** The timers of the process that stay while nothing happens. */
  timersAtRest(): Promise<number>;
  /** Closes the connection as the host does. */
  close(): Promise<void>;
  /** Waits for a condition; throws the sentence if it is not met in time. */
  until(condition: () => boolean | Promise<boolean>, sentence: () => string): Promise<void>;
  /** Waits for a promise. */
  ending<T>(work: Promise<T>): Promise<Ending<T>>;
}

export { isMessage };

/** A reply that contains only a text. */
export function textReply(text: string, more: Partial<Reply> = {}): Reply {
  return { text, media: [], buttons: [], ...more };
}

/** How a promise ended; `late`: it is still pending. */
export type Ending<T> = { readonly value: T } | { readonly error: unknown } | "late";

/** The options of the only account in a section, checked and completed with defaults as at a start. */
export async function readSection(
  definition: ChannelDefinition,
  section: Readonly<Record<string, unknown>>,
  directory: string,
) {
  const from = { secrets: createSecrets({ env: {}, directory }), environment: {} };
  const [account] = await readAccounts(definition, { dmPolicy: "open", allowFrom: ["*"], ...section }, from);
  return account;
}

/** Where a message is answered. */
export function addressOf({ id: channel }: ChannelDefinition, { chat: { id, thread } }: CompleteInbound): Address {
  return { channel, account: "default", chat: id, ...(thread === undefined ? {} : { thread }) };
}

/** The secrets among the options: those that are listed, and those that the schema marks. */
function secretsIn(
  { options, secrets = [] }: ChannelDefinition,
  values: Readonly<Record<string, unknown>>,
): readonly string[] {
  const found: unknown[] = secrets.map((name) => values[name]);
  changeMarked(nodeOf(options), values, [], { mark: "secret", change: (value) => void found.push(value) });
  return found.filter((value) => typeof value === "string");
}

function channelOf({ channel }: ChannelContractOptions): ChannelDefinition {
  if (channel.channel === undefined)
    throw new Error("channelContract requires the result of defineChannel. This plugin declares no channel.");
  return channel.channel;
}

function defaultText({ body }: Part): string {
  if (typeof body === "string") return body;
  const text = typeof body === "object" && body !== null && "text" in body ? body.text : undefined;
  if (typeof text === "string") return text;
  throw new Error("The body of a part is not a text and does not contain one. Set fixtures.textOf to read it.");
}

/** Sets up the channel for one rule, and removes everything afterwards. */
export async function withBench(
  options: ChannelContractOptions,
  run: (bench: Bench) => Promise<void>,
  { patienceMs = usualPatienceMs, contact = {} }: { readonly patienceMs?: number; readonly contact?: Contact } = {},
): Promise<void> {
  const definition = channelOf(options);
  const directory = await mkdtemp(join(tmpdir(), "channel-contract-"));
  const clock = usePlayedClock();
  let platform: ChannelPlatform | undefined;
  let port: PostingPort | undefined;
  try {
    platform = await options.platform?.open();
    const section = { ...options.options, ...platform?.options };
    const account = await readSection(definition, section, directory);
    const settings = account?.settings;
    if (settings === undefined) {
      const problems = (account?.problems ?? []).map(({ path, message }) => `${path}: ${message}`);
      throw new Error(
        `The options of the contract are refused: ${problems.join("; ") || "the account is switched off"}`,
      );
    }
    const { now, elapsed } = clock;
    const test = createTestAccount({ channel: definition.id, options: settings.options, directory, now, elapsed });
    const connection = definition.open(test.account as never);
    if (platform?.postTo !== undefined) port = await openPostingPort(findIn(definition, test));
    const bench = createBench({
      postingUrl: port?.url ?? "",
      definition,
      capabilities: settings.capabilities,
      options,
      clock,
      test,
      connection,
      platform,
      section,
      values: settings.options,
      patienceMs,
      contact,
    });
    try {
      if (port !== undefined) bench.postsTo(port.url);
      await run(bench);
    } finally {
      await bench.ending(bench.close());
    }
  } finally {
    await port?.close();
    await platform?.close();
    clock.release();
    await rm(directory, { recursive: true, force: true });
  }
}

/** As in a gateway with this account alone. */
function findIn(definition: ChannelDefinition, { account, routes }: TestAccount): FindRoute {
  const { id: channel } = definition;
  const open = { live: { channel, id: account.id, plugin: channel }, options: account.options, routes };
  const find = createFindRoute({
    open: { all: () => [open], find: (_: string, id: string) => (id === account.id ? open : undefined) } as never,
    definitionOf: (id) => (id === channel ? (definition as CalledChannel) : undefined),
  });
  return (...at) => (account.signal.aborted ? undefined : find(...at));
}

function createBench({
  definition,
  options,
  platform,
  values,
  patienceMs,
  contact,
  ...parts
}: Pick<Bench, "capabilities" | "postingUrl" | "definition" | "clock" | "test" | "connection" | "section"> & {
  readonly options: ChannelContractOptions;
  readonly platform: ChannelPlatform | undefined;
  readonly values: Readonly<Record<string, unknown>>;
  readonly patienceMs: number;
  readonly contact: Contact;
}): Bench {
  const { test, connection } = parts;
  const { fixtures, functions = [] } = options;
  const bench: Bench = {
    ...parts,
    ...{ definition, fixtures, functions, patienceMs, stated: statedCapabilities(definition, options) },
    secrets: secretsIn(definition, values),
    get platform() {
      if (platform === undefined) throw new Error("This rule requires a platform.");
      return platform;
    },
    postsTo(gateway) {
      const shared = `${gateway}/channels/${definition.id}/`;
      platform?.postTo?.({ own: `${shared}default/`, shared });
    },
    async fail(failure) {
      if (bench.platform.fail === undefined)
        throw new Error(`platform.can lists ${failure}, but the platform has no fail().`);
      await bench.platform.fail(failure);
    },
    able(name) {
      const method = bench.platform[name];
      if (method === undefined)
        throw new Error(`platform.can lists an ability that requires ${name}(), but the platform has no ${name}().`);
      return method.bind(bench.platform) as NonNullable<ChannelPlatform[typeof name]>;
    },
    textOf: (part) => (fixtures.textOf ?? defaultText)(part),
    messages: () =>
      test.received.flatMap(({ raw, ...at }) => {
        const parsed = bench.parse(raw);
        return isMessage(parsed) ? [{ ...at, inbound: parsed }] : [];
      }),
    parse: (raw, more) => completeParsed(connection.parse(raw, more)),
    async reach(work) {
      try {
        return await work();
      } catch (error) {
        if (contact.met === undefined) contact.failed ??= reasonOf(error);
        throw error;
      }
    },
    async meet(text) {
      await bench.reach(async () => {
        await started(bench);
        await bench.platform.write(text);
        await bench.until(
          () => bench.messages().length > 0,
          () => "The person wrote, but no message was received. Call account.receive for each event, and parse it.",
        );
      });
      contact.met = true;
      const [{ inbound }] = [...bench.messages()] as [ReturnType<Bench["messages"]>[number]];
      return { inbound, address: addressOf(definition, inbound) };
    },
    async send(text, address, more = {}) {
      const [part] = bench.render(text, address);
      if (part === undefined) throw new Error("render returns no part for a short text.");
      return (await connection.send({ ...part, ...more }, address, never)).messageId;
    },
    render: (text, address) => connection.render(textReply(text), address),
    async timersAtRest() {
      let least = Number.POSITIVE_INFINITY;
      // A timer of the channel's own comes and goes; one that was left stays.
      for (let look = 0; look < 20; look += 1) {
        await realWait(10);
        least = Math.min(least, bench.clock.timers().size);
      }
      return least;
    },
    async close() {
      test.abort();
      await connection.close();
    },
    async until(condition, sentence) {
      for (const from = performance.now(); !(await condition()); await realWait(5))
        if (performance.now() - from > patienceMs) throw new Error(sentence());
    },
    async ending(work) {
      const ended = work.then(
        (value) => ({ value }),
        (error: unknown) => ({ error }),
      );
      return await Promise.race([ended, realWait(patienceMs).then(() => "late" as const)]);
    },
  };
  test.read = (raw) => {
    try {
      return bench.parse(raw);
    } catch {
      // An event that its channel cannot read is accepted nevertheless.
      return undefined;
    }
  };
  return bench;
}

/** Starts the connection while the platform is available. */
export async function started({ connection, ending }: Bench): Promise<void> {
  const outcome = await ending(connection.start());
  if (outcome === "late") throw new Error("start does not resolve in time, although the platform is available.");
  if ("error" in outcome)
    throw new Error(`start rejects, although the platform is available: ${reasonOf(outcome.error)}.`);
}

/** A short description of a value for an error. Long values are described without their content. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 300 ? `${text.slice(0, 300)}...` : text;
}
