/** Validates the token with which an account signs in, as resolved by the host. */
import { ChannelError, type OptionProblem } from "service-gateway/sdk/channel";
import type { AccountOptions } from "./options.ts";
import { messageLimit } from "./send/render.ts";

type TokenOptions = Pick<AccountOptions, "botToken" | "tokenFile" | "webhookUrl" | "webhookSecret">;
type CheckedOptions = TokenOptions & Pick<AccountOptions, "textChunkLimit" | "apiRoot">;

function refuse(detail: string): ChannelError {
  return new ChannelError("token_missing", { detail });
}

/** A shorter secret can be guessed over the network: the account does not start. */
const leastSecretLength = 8;
/** `aaaaaaaaaaaaaaaa` is among the first guesses. */
const leastDifferent = 4;
const goodSecretLength = 16;

const form = /^\d{1,20}:[A-Za-z0-9_-]{1,256}$/;

/**
 * Checks the form of a token: digits, a colon, letters. It becomes part of a URL path, so anything else, such as a
 * newline or slash, is rejected.
 */
export function checkToken(given: string | undefined): string {
  const token = given?.trim();
  if (!token)
    throw refuse("there is no bot token: set botToken or tokenFile, or, for the account default, BOTCHAT_BOT_TOKEN");
  if (!form.test(token)) {
    throw refuse(
      "the bot token is malformed (it must be a number, a colon and letters): copy it exactly from the " +
        "platform's bot maker",
    );
  }
  return token;
}

/**
 * The secret of the webhook, which every way of starting an account needs. Throws without one, and for one that can be
 * guessed.
 */
export function checkWebhookSecret({
  webhookUrl,
  webhookSecret,
}: Pick<TokenOptions, "webhookUrl" | "webhookSecret">): void {
  if (webhookUrl === undefined) return;
  if (webhookSecret === undefined) {
    const detail = "webhookUrl is set but webhookSecret is not: set a secret of letters, digits, _ and -";
    throw new ChannelError("webhook_secret_missing", { detail });
  }
  const few = tooFew(webhookSecret);
  if (few !== undefined)
    throw new ChannelError("webhook_secret_weak", { detail: `webhookSecret has fewer than ${few}` });
}

/** What a secret has too few of, so that it is not used. */
function tooFew(secret: string): string | undefined {
  if (secret.length < leastSecretLength) return `${leastSecretLength} characters`;
  return new Set(secret).size < leastDifferent ? `${leastDifferent} different characters` : undefined;
}

const isGuessable = (secret: string): boolean => secret.length < goodSecretLength || tooFew(secret) !== undefined;

/** The number before the colon is the bot's own id. */
export function botIdOf(token: string): string {
  return token.slice(0, token.indexOf(":"));
}

/** Names and addresses of this machine and of a network of the operator's own, such as that of a container. */
const ownNetwork =
  /^[^.]+$|\.(?:local|lan|internal|localhost)$|^(?:127|10)\.[\d.]+$|^192\.168\.[\d.]+$|^172\.(?:1[6-9]|2\d|3[01])\.[\d.]+$/;

/** The token is a part of every address that is called. */
function sendsTokenInTheClear(apiRoot: string): boolean {
  const address = URL.parse(apiRoot);
  return address?.protocol === "http:" && !ownNetwork.test(address.hostname);
}

/** Checks the options as written. Whether a token exists may depend on the gateway's environment. */
export function checkOptions({
  botToken,
  tokenFile,
  webhookUrl,
  webhookSecret,
  textChunkLimit,
  apiRoot,
}: CheckedOptions): readonly OptionProblem[] {
  const problems: OptionProblem[] = [];
  if (sendsTokenInTheClear(apiRoot)) {
    const message = "sends the token of the bot without encryption to another network";
    problems.push({ option: "apiRoot", message, hint: "Use https, or a server in your own network.", warning: true });
  }
  if (textChunkLimit > messageLimit) {
    const message =
      `is ${textChunkLimit}, and the platform takes at most ${messageLimit} in one message: ` +
      `${messageLimit} is used`;
    problems.push({ option: "textChunkLimit", message, hint: `Set ${messageLimit} or less.`, warning: true });
  }
  if (botToken !== undefined && !form.test(botToken.trim())) {
    const hint = "Copy it exactly from the platform's bot maker.";
    problems.push({
      option: tokenFile === undefined ? "botToken" : "tokenFile",
      message: "does not look like a bot token (a number, a colon and letters)",
      hint,
    });
  }
  if (webhookUrl !== undefined && webhookSecret === undefined) {
    const hint = "Set one of letters, digits, _ and -, at most 256 characters.";
    problems.push({ option: "webhookSecret", message: "is missing, and webhookUrl needs it", hint });
  } else if (webhookUrl !== undefined && webhookSecret !== undefined && isGuessable(webhookSecret)) {
    const few = tooFew(webhookSecret);
    const warning = few === undefined;
    const message = warning
      ? `has fewer than ${goodSecretLength} characters, so it can be guessed`
      : `has fewer than ${few}, so it is not used`;
    const hint = "Use a long random one, such as from `openssl rand -hex 32`.";
    problems.push({ option: "webhookSecret", message, hint, ...(warning && { warning }) });
  }
  return problems;
}

/**
 * The bot id, which identifies the bot even if it has two tokens. Two accounts of one bot would each receive only some
 * of its updates.
 */
export function signsInAs({ botToken }: Pick<TokenOptions, "botToken">): string | undefined {
  const token = botToken?.trim() ?? "";
  return form.test(token) ? botIdOf(token) : undefined;
}
