/** The token of the management routes: from the configuration, or generated once and stored in the state directory. */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type GatewayConfig, resolveGuard, type Secrets } from "../config/index.ts";
import { writeWhole } from "../state/index.ts";

const tokenFile = "gateway-token";
const tokenBytes = 32;

/**
 * Returns the token. Throws `secret_unavailable` or `secret_weak`. A configured token is also written to the file (mode
 * 0600), where the command line finds it.
 */
export function gatewayToken(config: GatewayConfig, stateDirectory: string, secrets: Secrets): string {
  const file = join(stateDirectory, tokenFile);
  const configured = config.gateway.auth.token;
  if (configured !== undefined) {
    const token = resolveGuard(secrets, configured, "gateway.auth.token");
    writeWhole(file, `${token}\n`);
    return token;
  }
  return resolveGuard(secrets, readToken(file) ?? generate(file), `gateway.auth.token in ${file}`);
}

/**
 * A file that exists and cannot be read is named by the error of its resolution: another token would shut out all
 * clients.
 */
function readToken(file: string): string | { readonly file: string } | undefined {
  try {
    return readFileSync(file, "utf8").trim() || undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? undefined : { file };
  }
}

function generate(file: string): string {
  const token = randomBytes(tokenBytes).toString("base64url");
  writeWhole(file, `${token}\n`);
  return token;
}
