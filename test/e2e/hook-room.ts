/** What the black-box tests of the hook endpoints share: a test host, and requests as they go over the wire. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { EngineTurn } from "../../core/sdk/contract.ts";
import { createTestHost, type TestHost } from "../../core/testkit/index.ts";
import { removeDirectory, temporaryDirectory } from "../support/directory.ts";
import { createWire, type Post, renderRequest, type Wire, type WireAnswer } from "../support/wire.ts";

export const hookToken = "black-box-hook-token-0123456789";
export const bearer = ["authorization", `Bearer ${hookToken}`] as const;
export const jsonType = ["content-type", "application/json"] as const;

export interface HookGateway {
  readonly host: TestHost;
  readonly directory: string;
  readonly stateDirectory: string;
  readonly port: number;
  /** Every turn that an engine was asked for, oldest first. */
  readonly turns: readonly EngineTurn[];
  readonly wire: Wire;
  /** Sends a request with token and JSON type, unless it brings headers of its own. */
  send(request: Post): Promise<WireAnswer>;
  post(subPath: string, body: unknown, headers?: readonly (readonly [string, string])[]): Promise<WireAnswer>;
  /** Resolves with the first turn that `is` holds for. */
  turn(is: (turn: EngineTurn) => boolean): Promise<EngineTurn>;
  /** Closes it and removes its files, which closing the host leaves. */
  close(): Promise<void>;
}

const open = new Set<HookGateway>();

/** Closes and removes every gateway of the file, for its `afterAll`. */
export async function closeHookGateways(): Promise<void> {
  for (const room of open) await room.close();
}

/** A file that starts one has `afterAll(closeHookGateways)`. `transforms`: files of the transforms root. */
export async function startHookGateway(options: {
  readonly hooks?: object;
  readonly config?: object;
  readonly transforms?: Readonly<Record<string, string>>;
  readonly answer?: (turn: EngineTurn) => string | Promise<string>;
  readonly allowErrors?: readonly RegExp[];
}): Promise<HookGateway> {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, "transforms"));
  for (const [name, source] of Object.entries(options.transforms ?? {}))
    writeFileSync(join(directory, "transforms", name), source);
  const turns: EngineTurn[] = [];
  const host = await createTestHost({
    directory,
    config: {
      // The address of a client is what `X-Forwarded-For` says, so that each row has a client of its own.
      gateway: { trustedProxies: ["127.0.0.1"] },
      log: undefined,
      ...options.config,
      hooks: { token: hookToken, ...options.hooks },
    },
    answer(turn) {
      turns.push(turn);
      return (
        options.answer?.(turn) ??
        (turn.inbound.request?.heartbeat === undefined ? `did: ${turn.inbound.text}` : "HEARTBEAT_OK")
      );
    },
    ...(options.allowErrors !== undefined && { allowErrors: options.allowErrors }),
  });
  const port = Number(new URL(host.url).port);
  const wire = createWire(port);
  const send = (request: Post) => wire.exchange(renderRequest({ headers: [bearer, jsonType], ...request }));
  const room: HookGateway = {
    host,
    directory,
    stateDirectory: join(directory, "state"),
    port,
    turns,
    wire,
    send,
    post: (subPath, body, headers = []) =>
      send({
        target: `/hooks/${subPath}`,
        headers: [bearer, jsonType, ...headers],
        body: typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body),
      }),
    async turn(is) {
      for (const end = performance.now() + 10_000; performance.now() < end; ) {
        const found = turns.find(is);
        if (found !== undefined) return found;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      throw new Error(`no such turn among ${turns.length}`);
    },
    async close() {
      open.delete(room);
      wire.close();
      await host.close();
      removeDirectory(directory);
    },
  };
  open.add(room);
  return room;
}

let clients = 0;
/** The header that makes a request one of a client that nobody has seen before. */
export function anotherClient(): readonly [string, string] {
  clients += 1;
  return ["x-forwarded-for", `10.${(clients >> 16) & 255}.${(clients >> 8) & 255}.${clients & 255}`];
}
