/** Whether the gateway can listen on an address, and the error that says why not. */
import { once } from "node:events";
import { createServer } from "node:net";
import { HostError, reasonOf } from "../contract/index.ts";

export interface ListenAddress {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
}

const otherPort = "set gateway.port (0 takes any free port)";

/** Listens for a moment. Throws `port_in_use`, whose hint offers `otherwise`, or `listen_failed`. */
export async function checkListening(address: ListenAddress, otherwise = otherPort): Promise<void> {
  const server = createServer();
  try {
    await once(server.listen({ ...address, exclusive: true }), "listening");
  } catch (cause) {
    throw listenError(cause, address, otherwise);
  }
  server.close();
  await once(server, "close");
}

export function listenError(cause: unknown, { host, port }: ListenAddress, otherwise = otherPort): HostError {
  if ((cause as NodeJS.ErrnoException).code === "EADDRINUSE")
    return new HostError("port_in_use", { host, port, otherwise }, { cause });
  return new HostError("listen_failed", { host, port, reason: reasonOf(cause) }, { cause });
}
