/**
 * Three nodes in processes of their own, which are killed and stopped, and a server that crashes: nothing is lost,
 * repeated or out of order.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { postgres } from "../../../plugins/store-postgres/index.ts";
import { freePort } from "../../support/ports.ts";
import { usePostgres } from "../../support/postgres.ts";

const server = usePostgres();
const leaseMs = 2_000;
const acceptEveryMs = 300;

interface Sent {
  readonly lane: string;
  readonly id: string;
  /** How many earlier sends of the message have an unknown result. */
  readonly doubts: number;
}

interface Platform {
  readonly port: number;
  readonly server: Server;
  /** Resolves when a node has sent the next message, and does not know yet that it arrived. */
  nextMessage(): Promise<unknown>;
}

/** Records each message before it confirms it, as a chat platform does. */
async function openPlatform(sent: Sent[]): Promise<Platform> {
  const platform = createServer((socket) => {
    socket.on("error", () => {});
    const lines = createInterface({ input: socket }).on("error", () => {});
    lines.on("line", (line) => {
      const [lane = "", id = "", doubts = ""] = line.split(" ");
      sent.push({ lane, id, doubts: Number(doubts) });
      platform.emit("message");
      socket.write("ok\n");
    });
  });
  const port = await freePort();
  await new Promise<void>((resolve) => void platform.listen(port, "127.0.0.1", resolve));
  return { port, server: platform, nextMessage: () => once(platform, "message") };
}

interface Nodes {
  kill(name: string): void;
  stop(name: string): Promise<void>;
  end(): void;
}

function startNodes(url: string, port: number): Nodes {
  const names = ["one", "two", "three"];
  const start = (name: string) =>
    spawn(process.execPath, [join(import.meta.dirname, "node-process.ts"), name, url, String(port)], {
      stdio: ["ignore", "inherit", "inherit"],
    });
  const processes = new Map<string, ChildProcess>(names.map((name) => [name, start(name)]));
  const end = (name: string) => processes.get(name)?.kill("SIGKILL");
  return {
    kill(name) {
      end(name);
      processes.set(name, start(name));
    },
    async stop(name) {
      const stopped = processes.get(name);
      stopped?.kill("SIGSTOP");
      await sleep(leaseMs + 1_500);
      stopped?.kill("SIGCONT");
    },
    end: () => names.forEach(end),
  };
}

test("kills, stops longer than a lease and server crashes lose and repeat nothing; lanes keep order", async () => {
  const url = `${server.newUrl()}&lease=${leaseMs / 1_000}`;
  const sent: Sent[] = [];
  const platform = await openPlatform(sent);
  const command = await postgres.open({ url, now: Date.now, owner: false, node: "command" });
  const nodes = startNodes(url, platform.port);
  const accepted: string[] = [];
  let working = true;
  const accept = async (lane: string) => {
    for (let index = 0; working; index += 1) {
      const id = `${lane}.${index}`;
      const event = {
        source: "hooks",
        kind: "agent",
        lane,
        authority: "hook",
        dedupeKey: id,
        body: { text: id },
      } as const;
      for (let attempt = 0; ; attempt += 1) {
        // An attempt that failed may have been stored all the same, as after an answer that a sender never got.
        const stored = await command.accept({ id: `${id}.${attempt}`, at: Date.now(), event }).catch(() => undefined);
        if (stored !== undefined) {
          accepted.push(stored.eventId);
          break;
        }
        await sleep(50);
      }
      await sleep(acceptEveryMs);
    }
  };
  try {
    const accepting = Array.from({ length: 20 }, (_, lane) => accept(`lane${lane}`));
    await expect.poll(() => sent.length).toBeGreaterThan(20);
    await platform.nextMessage();
    nodes.kill("one");
    await sleep(700);
    const stopped = nodes.stop("two");
    await sleep(1_000);
    await platform.nextMessage();
    nodes.kill("three");
    await server.stop();
    await sleep(500);
    await server.start();
    await stopped;
    await platform.nextMessage();
    nodes.kill("two");
    await sleep(300);
    await platform.nextMessage();
    nodes.kill("one");
    await sleep(500);
    working = false;
    await Promise.all(accepting);
    await expect.poll(async () => (await command.stats()).settled.answered, { timeout: 60_000 }).toBe(accepted.length);
    expect(await command.stats()).toMatchObject({ waiting: 0, running: 0, outboxWaiting: 0 });
  } finally {
    nodes.end();
    await command.close();
    platform.server.close();
  }
  expect(accepted.length).toBeGreaterThan(200);
  const firsts = sent.filter(({ id }, index) => sent.findIndex((other) => other.id === id) === index);
  expect(firsts.map(({ id }) => id).sort()).toEqual(accepted.toSorted());
  // A message is sent again only if the result of the first send is unknown, and this is recorded.
  const again = sent.filter((each) => !firsts.includes(each));
  expect(again.filter(({ doubts }) => doubts === 0)).toEqual([]);
  const place = new Map(accepted.map((id) => [id, Number(id.split(".")[1])]));
  for (const lane of new Set(firsts.map((each) => each.lane))) {
    const order = firsts.filter((each) => each.lane === lane).map(({ id }) => place.get(id) ?? -1);
    expect(order, lane).toEqual(order.toSorted((a, b) => a - b));
  }
});
