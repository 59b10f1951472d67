/** `message`: runs an action in the running gateway, or here as far as that is possible without one. */
import { readAction } from "../../actions/read.ts";
import { type ActionResult, isRefusal } from "../../actions/result.ts";
import { type ActionName, schemaOf } from "../../actions/schema.ts";
import { HostError } from "../../contract/errors.ts";
import { product } from "../../contract/product.ts";
import type { Json } from "../../contract/types.ts";
import type { CommandContext } from "../context.ts";
import { checkFile, keepFile } from "./file.ts";
import { runWithoutGateway, type Stored } from "./offline.ts";
import { printResult } from "./render.ts";

export interface MessageOptions {
  readonly channel?: string;
  readonly account?: string;
  readonly target?: string;
  readonly message?: string;
  readonly messageId?: string;
  readonly emoji?: string;
  /** JSON text. */
  readonly buttons?: string;
  /** JSON text. */
  readonly platform?: string;
  readonly media?: string;
  readonly replyTo?: string;
  readonly thread?: string;
  readonly silent?: boolean;
  readonly asVoice?: boolean;
  readonly asVideoNote?: boolean;
  readonly fileId?: string;
  readonly query?: string;
  readonly limit?: number;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

/** Longer than the gateway lets a caller wait. */
const patienceMs = 75_000;
const progressAfterMs = 1_000;

type Command = (context: CommandContext, args: readonly [], options: MessageOptions) => Promise<number>;

const command =
  (action: ActionName): Command =>
  (context, _, options) =>
    run(action, context, options);

export const runSend = command("send");
export const runEdit = command("edit");
export const runDelete = command("delete");
export const runReact = command("react");
export const runSticker = command("sticker");
export const runStickerSearch = command("sticker-search");

async function run(action: ActionName, context: CommandContext, options: MessageOptions): Promise<number> {
  const dryRun = options.dryRun === true;
  const given = argumentsOf(action, options, await channelFor(context, options));
  const wrong = readAction(action, given);
  if (isRefusal(wrong)) throw new HostError("usage", { reason: wrong.error.replace(/\.$/, "") });
  const args = { ...given, ...(await fileOf(options, { context, ...place(given) })) };
  const progress = setTimeout(() => context.terminal.note("Waiting for the platform ..."), progressAfterMs);
  const result = await perform(action, args, { context, dryRun }).finally(() => clearTimeout(progress));
  if (options.json === true) context.terminal.json(result);
  else if (isRefusal(result)) context.terminal.error(new Error(inFlags(result.error).replace(/\.$/, "")));
  else printResult(action, result, context.terminal);
  if (!isRefusal(result)) return 0;
  return result.code === "invalid_arguments" ? 2 : 1;
}

/** Copies the file to where the gateway finds it; a dry run copies nothing. */
async function fileOf(
  { media, dryRun }: MessageOptions,
  at: Parameters<typeof keepFile>[1],
): Promise<{ readonly [name: string]: Json }> {
  if (media === undefined) return {};
  if (dryRun !== true) return await keepFile(media, at);
  await checkFile(media);
  return {};
}

async function perform(
  action: ActionName,
  args: { readonly [name: string]: Json },
  { context, dryRun }: { readonly context: CommandContext; readonly dryRun: boolean },
): Promise<ActionResult | Stored> {
  const gateway = await context.gateway();
  if (gateway === null) return await runWithoutGateway(action, args, { context, dryRun });
  const answer = await gateway.call("POST", "/gateway/actions", { body: { action, dryRun, ...args }, patienceMs });
  if (answer === null) throw new HostError("gateway_silent", { url: gateway.url, reason: "it did not answer in time" });
  return answer.body as ActionResult;
}

/** An error about an argument begins with the argument's name, which is a flag here. */
const inFlags = (error: string): string =>
  error.replace(/^to: /, "--target: ").replace(/, and thread names /, ", and --thread names ");

const place = ({ channel, account }: { readonly [name: string]: Json }) => ({
  channel: String(channel),
  account: account === undefined ? "default" : String(account),
});

/** The channel that was named, otherwise the only configured one. */
async function channelFor(context: CommandContext, { channel }: MessageOptions): Promise<string> {
  if (channel !== undefined) return channel;
  const configured = Object.keys((await context.load()).config.channels);
  const [only] = configured;
  if (only !== undefined && configured.length === 1) return only;
  const reason =
    only === undefined ? "no channel is configured" : `--channel is missing: there are ${configured.join(", ")}`;
  throw new HostError("usage", { reason });
}

/** The arguments of the action, without those that were not given. */
function argumentsOf(action: ActionName, options: MessageOptions, channel: string): { readonly [name: string]: Json } {
  const { target, message, messageId, emoji, buttons, replyTo, thread, silent, account } = options;
  const all: { readonly [key: string]: Json | undefined } = {
    channel,
    account,
    to: target,
    text: message,
    messageId,
    emoji,
    buttons: buttons === undefined ? undefined : parseJson(buttons, rowsExpected),
    platform: options.platform === undefined ? undefined : parseJson(options.platform, fieldsExpected(channel)),
    media: options.media,
    replyTo,
    thread,
    silent,
    asVoice: options.asVoice,
    asVideoNote: options.asVideoNote,
    fileId: options.fileId,
    query: options.query,
    limit: options.limit,
  };
  const fields = schemaOf(action)?.fields ?? [];
  return Object.fromEntries(
    fields.flatMap(({ key, names: [name = key] }) => {
      const value = all[key];
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
}

/** A flag whose value is JSON, and what it contains, for the error. */
interface Expected {
  readonly flag: string;
  readonly what: string;
}

const rowsExpected: Expected = {
  flag: "--buttons",
  what: `rows of buttons such as [[{ "text": "Yes", "callback_data": "yes" }]]`,
};

const fieldsExpected = (channel: string): Expected => ({
  flag: "--platform",
  what: `fields by channel such as { "${channel}": { ... } }`,
});

function parseJson(text: string, { flag, what }: Expected): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw new HostError("usage", { reason: `${flag} is not JSON: ${product.name} expects ${what}` });
  }
}
