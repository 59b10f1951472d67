/** Options of an account that connects to a server which its operator names. */
import { Type } from "./contract.ts";
import { filePath } from "./marked-options.ts";

/**
 * The options `server`, `port`, `tls` and `caFile`, to be spread into those of a channel. TLS is on unless it is
 * switched off; an account that has a secret and would send it to another machine without TLS is refused. `port` is the
 * default port. `defineLineChannel` connects with them; `connectLines` takes them with `server` as its `host`.
 *
 * @example
 * options: Type.Object({ ...serverOptions({ port: 6697 }), room: Type.String() }),
 */
export function serverOptions({ port }: { readonly port: number }) {
  return {
    server: Type.String({ minLength: 1, description: "Name or address of the server." }),
    port: Type.Integer({ minimum: 1, maximum: 65_535, default: port, description: "Port of the server." }),
    tls: Type.Boolean({ default: true, protectsSecrets: true, description: "Whether the connection is encrypted." }),
    caFile: Type.Optional(
      filePath({
        description:
          "File with the certificate (PEM) that the server's own is checked against. Default: the public authorities.",
      }),
    ),
  };
}

/**
 * The options `burst` and `everyMs`, for `defineLineChannel` or `createTokenBucket`: what the server allows, which its
 * operator may know better than the channel. The values are their defaults. For a server that takes five lines at once,
 * and then one every two seconds, a channel of `defineLineChannel` has the half of it, because each message is followed
 * by a ping.
 *
 * @example
 * options: Type.Object({ ...serverOptions({ port: 6697 }), ...paceOptions({ burst: 2, everyMs: 4_000 }) }),
 */
export function paceOptions({ burst, everyMs }: { readonly burst: number; readonly everyMs: number }) {
  return {
    burst: Type.Integer({ minimum: 1, default: burst, description: "Messages that are sent at once." }),
    everyMs: Type.Integer({
      minimum: 1,
      default: everyMs,
      description: "Milliseconds between the messages after them.",
    }),
  };
}
