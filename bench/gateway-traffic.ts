/** What a webhook and a chat turn cost a whole gateway on the wire to PostgreSQL, and what it costs at rest. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createGateway } from "../core/gateway/gateway.ts";
import { createPlatform } from "../plugins/playground/platform/index.ts";
import { countTraffic, type Traffic } from "./wire-traffic.ts";

const botToken = "7000:bench-bot-token";
const hookToken = "a-long-hook-token-for-benchmarks";
const restMs = 8_000;
const events = 50;

type Counts = ReturnType<Traffic["take"]>;

/** Each event is caused when the one before has ended, so the counts are those of one event. */
export async function printGatewayTraffic(url: string): Promise<void> {
  const traffic = await countTraffic(url);
  const address = new URL(url);
  address.port = String(traffic.port);
  const directory = mkdtempSync(join(tmpdir(), "bench-gateway-"));
  const person = { id: 10_001, first_name: "Ada" };
  const platform = await createPlatform({
    bots: [{ token: botToken, username: "bench_bot", name: "Bench" }],
    seed: { people: [person], groups: [] },
  });
  const configFile = join(directory, "config.jsonc");
  const botchat = { botToken, apiRoot: platform.url, dmPolicy: "open", allowFrom: ["*"] };
  writeFileSync(
    configFile,
    JSON.stringify({
      gateway: { port: 0 },
      state: { dir: "state", store: "postgres", url: address.href },
      hooks: { enabled: true, token: hookToken },
      channels: { botchat },
      agents: { defaults: { heartbeat: { every: "0" } } },
    }),
  );
  const gateway = await createGateway({ configFile, environment: {}, home: directory });
  const wake = async () => {
    const response = await fetch(`${gateway.url}/hooks/wake`, {
      method: "POST",
      headers: { authorization: `Bearer ${hookToken}`, "content-type": "application/json" },
      body: JSON.stringify({ text: "x".repeat(1_000), mode: "next-heartbeat" }),
    });
    await response.arrayBuffer();
  };
  let serial = 0;
  const turn = async () => {
    const text = `message ${++serial}`;
    const answered = platform.waitFor(
      (event) => event.type === "message" && event.message.from.is_bot && event.message.text?.includes(text) === true,
    );
    platform.act.say(person.id, person.id, text);
    await answered;
  };
  try {
    for (let index = 0; index < 5; index += 1) {
      await turn();
      await wake();
    }
    await pause(1_000);
    traffic.take();
    await pause(restMs);
    const rest = traffic.take();
    print("at rest, each second", rest, restMs / 1_000);
    for (const [name, cause] of [
      ["a webhook (wake) with 1,000 characters", wake],
      ["a chat turn that echo answers", turn],
    ] as const) {
      const begun = performance.now();
      for (let index = 0; index < events; index += 1) await cause();
      // The end of the last event is stored after its reply.
      await pause(200);
      const share = (performance.now() - begun) / restMs;
      const { results, sent, received } = traffic.take();
      print(
        name,
        {
          results: results - rest.results * share,
          sent: sent - rest.sent * share,
          received: received - rest.received * share,
        },
        events,
      );
    }
  } finally {
    await gateway.close();
    await platform.close();
    traffic.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

function print(name: string, { results, sent, received }: Counts, count: number): void {
  const [trips, there, back] = [results, sent, received].map((all) => all / count);
  console.log(
    `${name}: ${trips?.toFixed(1)} round trips, ${there?.toFixed(0)} bytes to the database, ${back?.toFixed(0)} back`,
  );
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
