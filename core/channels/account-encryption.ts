/** An account that has a secret sends it over an encrypted connection, or to its own machine. */
import { isIP } from "node:net";
import type { PathOf } from "../access/index.ts";
import { changeMarked, nodeOf, type Problem } from "../config/index.ts";
import type { CalledChannel } from "../host/index.ts";

/**
 * The problem of an account whose option for encryption (`serverOptions` of the SDK) is off, although the account has a
 * secret.
 */
export function unencryptedSecret(
  { options: schema, secrets = [] }: CalledChannel,
  options: Readonly<Record<string, unknown>>,
  pathOf: PathOf,
): readonly Problem[] {
  const { properties = {} } = nodeOf(schema);
  const off = Object.keys(properties).find(
    (name) => properties[name]?.protectsSecrets === true && options[name] === false,
  );
  if (off === undefined || isLocal(options.server)) return [];
  let hasSecret = secrets.some((name) => options[name] !== undefined);
  changeMarked(nodeOf(schema), options, [], {
    mark: "secret",
    change(value) {
      hasSecret = true;
      return value;
    },
  });
  if (!hasSecret) return [];
  return [
    {
      severity: "error",
      path: pathOf([off]),
      message: "is false, so the password would be sent unencrypted",
      hint: `Set ${off} to true, or remove the password.`,
    },
  ];
}

const isLocal = (server: unknown): boolean =>
  typeof server === "string" &&
  (server === "localhost" || server === "::1" || (isIP(server) === 4 && server.startsWith("127.")));
