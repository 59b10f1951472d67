/**
 * The tokens of the hook endpoints and of the management routes: the current one and, during a replacement, the
 * previous one.
 */
import { type GatewayConfig, resolveGuard, type Secrets } from "../config/index.ts";
import { reasonOf } from "../contract/index.ts";
import { gatewayToken } from "../http/index.ts";
import type { Log } from "../log/index.ts";

export interface Tokens {
  /** `undefined`: every request is refused. */
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

/** Without a token the hook server is off. */
export function createHookTokens(options: TokensOptions): Tokens {
  return createTokens(options, ({ hooks }) => {
    if (!hooks.enabled || hooks.token === undefined) return { token: undefined };
    try {
      const token = resolveGuard(options.secrets, hooks.token, "hooks.token");
      return { token, ...readPrevious(hooks.previousToken, "hooks.previousToken", options) };
    } catch (error) {
      options.log.error({ path: "hooks.token" }, reasonOf(error));
      return { token: undefined };
    }
  });
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
