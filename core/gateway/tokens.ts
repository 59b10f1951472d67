/**
 * The tokens of the hook endpoints and of the management routes: the current one and, during a replacement, the
 * previous one.
 */
import { type GatewayConfig, resolveGuard, type Secrets } from "../config/index.ts";
import { reasonOf } from "../contract/index.ts";
import { gatewayToken } from "../http/index.ts";
import type { Log } from "../log/index.ts";

export interface Tokens {
  /** `undefined`: every request that needs the token is refused. */
  token(): string | undefined;
  /** `undefined` if there is none, or it has expired. */
  previous(): string | undefined;
}

interface TokensOptions {
  readonly config: () => GatewayConfig;
  readonly secrets: Secrets;
  readonly log: Log;
  readonly now: () => number;
}

interface Read {
  readonly token: string | undefined;
  readonly previous?: { readonly token: string; readonly until: number };
}

/** Read once for each configuration, so that a request reads no file. */
function createTokens(
  { config, now }: TokensOptions,
  read: (config: GatewayConfig, before: Read | undefined) => Read,
): Tokens {
  let known: { readonly config: GatewayConfig; readonly read: Read } | undefined;
  const current = (): Read => {
    const from = config();
    if (known?.config !== from) known = { config: from, read: read(from, known?.read) };
    return known.read;
  };
  return {
    token: () => current().token,
    previous() {
      const { previous } = current();
      return previous === undefined || previous.until <= now() ? undefined : previous.token;
    },
  };
}

/** A token that cannot be read is logged, and authorizes nothing. */
function readPrevious(
  setting: GatewayConfig["hooks"]["previousToken"],
  path: string,
  { secrets, log }: TokensOptions,
): Pick<Read, "previous"> {
  if (setting === undefined) return {};
  try {
    return {
      previous: { token: resolveGuard(secrets, setting.token, `${path}.token`), until: Date.parse(setting.until) },
    };
  } catch (error) {
    log.error({ path }, reasonOf(error));
    return {};
  }
}

export interface HookTokens extends Tokens {
  /** Whether the hook server is on. Without a token, it takes only what needs none. */
  isOn(): boolean;
}

const noHookToken =
  "no hook token is set: wake and agent are off, and so is every mapping without a signature or token of its own";

/** A token that is set but cannot be read switches the hook server off. */
export function createHookTokens(options: TokensOptions): HookTokens {
  const { config, secrets, log } = options;
  let isUnreadable = false;
  let isNoted = false;
  const tokens = createTokens(options, ({ hooks }) => {
    isUnreadable = false;
    const isMissing = hooks.enabled && hooks.token === undefined;
    if (isMissing && !isNoted) log.info({ path: "hooks.token" }, noHookToken);
    isNoted = isMissing;
    if (!hooks.enabled || hooks.token === undefined) return { token: undefined };
    try {
      const token = resolveGuard(secrets, hooks.token, "hooks.token");
      return { token, ...readPrevious(hooks.previousToken, "hooks.previousToken", options) };
    } catch (error) {
      log.error({ path: "hooks.token" }, reasonOf(error));
      isUnreadable = true;
      return { token: undefined };
    }
  });
  tokens.token();
  return {
    ...tokens,
    isOn() {
      tokens.token();
      return config().hooks.enabled && !isUnreadable;
    },
  };
}

/**
 * Throws at the start if there is no token. While the gateway runs, a token that cannot be read leaves the last one
 * valid.
 */
export function createGatewayTokens(options: TokensOptions & { readonly stateDirectory: string }): Tokens {
  const { secrets, log, stateDirectory } = options;
  const tokens = createTokens(options, (config, before) => {
    try {
      const token = gatewayToken(config, stateDirectory, secrets);
      return { token, ...readPrevious(config.gateway.auth.previousToken, "gateway.auth.previousToken", options) };
    } catch (error) {
      if (before === undefined) throw error;
      log.error({ path: "gateway.auth.token" }, `the last token stays valid: ${reasonOf(error)}`);
      return before;
    }
  });
  tokens.token();
  return tokens;
}
