/**
 * Downloads a public address to a local file. Users can make an agent fetch any address, so nothing is trusted: each
 * address is checked and then connected to without another look-up, also after each redirect. Size, time and pace are
 * limited.
 */
import { constants } from "node:fs";
import { type FileHandle, open, rm } from "node:fs/promises";
import type { IncomingMessage, RequestOptions } from "node:http";
import type { Socket } from "node:net";
import { ChannelError } from "../contract/index.ts";
import { onEvent } from "../listeners/index.ts";
import { parseAddress } from "./address.ts";
import { createPace, type Pace } from "./pace.ts";
import { type Lookup, publicAddresses, systemLookup } from "./public-lookup.ts";
import { parseWebAddress, refused } from "./web-address.ts";

export interface FetchLimits {
  readonly maxBytes: number;
  /** Limit for the whole download including redirects, in milliseconds. */
  readonly totalMs: number;
  /** Limit for connecting, for receiving the headers and for receiving enough bytes, each in milliseconds. */
  readonly quietMs: number;
  readonly leastBytesPerSecond: number;
  readonly redirects: number;
}

export const usualLimits = { totalMs: 60_000, quietMs: 10_000, leastBytesPerSecond: 1_024, redirects: 3 } as const;

export interface Fetched {
  readonly path: string;
  readonly size: number;
  /** The first bytes, for detecting the type. */
  readonly head: Buffer;
  readonly declaredType?: string;
}

export interface FetchTarget {
  /** Path of the file to create. It must not exist yet. A failed download leaves no file. */
  readonly path: string;
  readonly limits: FetchLimits;
  readonly signal: AbortSignal;
}

export type GuardedFetch = (url: string, to: FetchTarget) => Promise<Fetched>;

export interface GuardedFetchOptions {
  /** Returns all addresses of a host. Default: the system's look-up. */
  readonly lookup?: Lookup;
  /** Replaces the network in tests. */
  readonly connect?: (to: { readonly address: string; readonly port: number }) => Socket;
}

export const headBytes = 4_100;

function megabytes(bytes: number): string {
  return bytes < 1_048_576 ? `${Math.ceil(bytes / 1_024)} kB` : `${(bytes / 1_048_576).toFixed(1)} MB`;
}

export function tooLarge(maxBytes: number): ChannelError {
  return new ChannelError("too_large", { detail: `the file is too large: at most ${megabytes(maxBytes)}` });
}

/** Creates the file exclusively: it follows no link, and only this user can read it. */
function create(path: string): Promise<FileHandle> {
  return open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0), 0o600);
}

interface Hop {
  readonly url: URL;
  readonly host: string;
  readonly pace: Pace;
}

export function createGuardedFetch({ lookup = systemLookup, connect }: GuardedFetchOptions = {}): GuardedFetch {
  /** Opens a plain connection to the first address that accepts one. */
  async function connectTo(addresses: readonly string[], { url, pace }: Hop): Promise<Socket> {
    const { connect: connectPlain } = await import("node:net");
    const port = Number(url.port || (url.protocol === "https:" ? 443 : 80));
    let failure: unknown;
    for (const [index, address] of addresses.entries()) {
      const socket = (connect ?? (({ address: host }) => connectPlain({ host, port })))({ address, port });
      try {
        await pace.run(socket, index + 1 < addresses.length ? "try" : "last", () => opened(socket, "connect"));
        return socket;
      } catch (error) {
        socket.destroy();
        failure = error;
        if (pace.isOver()) break;
      }
    }
    throw failure;
  }

  /** Sends the request and returns the response once its headers have arrived. The body has not been read. */
  async function ask(hop: Hop): Promise<IncomingMessage> {
    const { url, host, pace } = hop;
    const addresses = await pace.wait(publicAddresses(host, lookup));
    const plain = await connectTo(addresses, hop);
    const secure = url.protocol === "https:";
    try {
      const socket = secure ? await encrypted(plain, hop) : plain;
      const { request } = await import("node:http");
      const options: RequestOptions = {
        method: "GET",
        path: `${url.pathname}${url.search}`,
        // The request contains no cookies or credentials and uses no proxy from the environment.
        headers: { host: url.host, accept: "*/*", "user-agent": "service-gateway", connection: "close" },
        createConnection: () => socket,
      };
      return await pace.run(
        socket,
        "last",
        () =>
          new Promise<IncomingMessage>((resolve, reject) => {
            const asking = request(options, resolve);
            onEvent(asking, "error", { source: host, handle: reject });
            asking.end();
          }),
      );
    } catch (error) {
      plain.destroy();
      throw error;
    }
  }

  async function encrypted(socket: Socket, { host, pace }: Hop): Promise<Socket> {
    const { connect: connectSecure } = await import("node:tls");
    const name = parseAddress(host) === undefined ? { servername: host } : { host };
    const secure = connectSecure({ socket, ALPNProtocols: ["http/1.1"], ...name });
    await pace.run(socket, "last", () => opened(secure, "secureConnect"));
    return secure;
  }

  return async (address, { path, limits, signal }) => {
    const pace = createPace(limits, signal);
    try {
      let hop: Hop = { ...parseWebAddress(address), pace };
      for (let redirected = 0; ; redirected += 1) {
        const answer = await ask(hop);
        const location = redirectOf(answer);
        if (location === undefined) return await keep(answer, { path, limits, pace });
        answer.destroy();
        if (redirected >= limits.redirects) throw refused(`${hop.host} leads on more than ${limits.redirects} times`);
        hop = { ...parseWebAddress(location, hop.url), pace };
      }
    } catch (error) {
      throw fetchFault(error, pace);
    } finally {
      pace.end();
    }
  };
}

function opened(socket: Socket, event: "connect" | "secureConnect"): Promise<void> {
  return new Promise((resolve, reject) => {
    const source = "a server of media";
    onEvent(socket, event, { source, handle: () => resolve(), once: true });
    // This listener is never removed, because a late error must not end the process.
    onEvent(socket, "error", { source, handle: reject });
    onEvent(socket, "close", { source, handle: () => reject(new Error("the connection was closed")), once: true });
  });
}

function redirectOf({ statusCode = 0, headers }: IncomingMessage): string | undefined {
  return [301, 302, 303, 307, 308].includes(statusCode) ? headers.location : undefined;
}

function checkAnswer({ statusCode, headers }: IncomingMessage, maxBytes: number): void {
  if (statusCode !== 200) throw refused(`the server answered ${statusCode}`);
  const encoding = headers["content-encoding"] ?? "identity";
  if (encoding !== "identity") throw refused("the server sent it compressed, which it was not asked for");
  if (Number(headers["content-length"]) > maxBytes) throw tooLarge(maxBytes);
}

/** Writes the body to disk piece by piece. On any failure the file is removed. */
async function keep(
  answer: IncomingMessage,
  { path, limits, pace }: { readonly path: string; readonly limits: FetchLimits; readonly pace: Pace },
): Promise<Fetched> {
  let file: FileHandle | undefined;
  let size = 0;
  let head = Buffer.alloc(0);
  try {
    checkAnswer(answer, limits.maxBytes);
    file = await create(path);
    pace.watch(answer);
    for await (const piece of answer as AsyncIterable<Buffer>) {
      size += piece.length;
      pace.add(piece.length);
      if (size > limits.maxBytes) throw tooLarge(limits.maxBytes);
      if (head.length < headBytes) head = Buffer.concat([head, piece.subarray(0, headBytes - head.length)]);
      await file.writeFile(piece);
    }
    if (size === 0) throw refused("the file is empty");
    await file.close();
    const declaredType = answer.headers["content-type"]?.split(";")[0]?.trim().toLowerCase();
    return { path, size, head, declaredType };
  } catch (error) {
    answer.destroy();
    if (file !== undefined) {
      await file.close().catch(() => {});
      await rm(path, { force: true });
    }
    throw error;
  }
}

/** Converts an error for reports. Only the host of an address is mentioned, because the rest may be secret. */
function fetchFault(thrown: unknown, pace: Pace): ChannelError {
  const error = pace.reason() ?? thrown;
  if (error instanceof ChannelError) return error;
  const { code } = error as { code?: unknown };
  if (code === "ENOSPC" || code === "EDQUOT")
    return new ChannelError("no_room", { detail: "there is no room on the disk", cause: error });
  const why = typeof code === "string" ? ` (${code})` : "";
  const detail = `the server could not be reached, or closed the connection${why}`;
  return new ChannelError("media_unreachable", { detail, cause: error });
}
