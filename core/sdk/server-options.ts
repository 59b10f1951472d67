/** Options of an account that connects to a server which its operator names. */
import { isIP } from "node:net";
import { type OptionProblem, Type } from "./contract.ts";
import { filePath } from "./marked-options.ts";

/**
 * The options `server`, `port`, `tls` and `caFile`, to be spread into those of a channel. TLS is on unless it is switched off. `port` is the default
 * port. `createLineChannel` connects with them; `connectLines` takes them with `server` as its `host`.
 *
 * @example
 * options: Type.Object({ ...serverOptions({ port: 6697 }), room: Type.String() }),
 */
export function serverOptions({ port }: { readonly port: number }) {
  return {
    server: Type.String({ minLength: 1, description: "Name or address of the server." }),
    port: Type.Integer({ minimum: 1, maximum: 65_535, default: port, description: "Port of the server." }),
    tls: Type.Boolean({ default: true, description: "Whether the connection is encrypted." }),
    caFile: Type.Optional(
      filePath({
        description: "File with the certificate (PEM) that the server's own is checked against. Default: the public authorities.",
      }),
    ),
  };
}

/**
 * For `check`: the problem of a password that would be sent to another machine without TLS. `secrets` are the account's passwords; those that are
 * not set are `undefined`.
 *
 * @example
 * check: (options) => checkEncryption(options, [options.password]),
 */
export function checkEncryption(
  { server, tls }: { readonly server: string; readonly tls: boolean },
  secrets: readonly (string | undefined)[],
): readonly OptionProblem[] {
  const isLocal = server === "localhost" || server === "::1" || (isIP(server) === 4 && server.startsWith("127."));
  if (tls || isLocal || secrets.every((secret) => secret === undefined)) return [];
  return [
    { option: "tls", message: "is false, so the password would be sent unencrypted", hint: "Set tls to true, or remove the password." },
  ];
}
