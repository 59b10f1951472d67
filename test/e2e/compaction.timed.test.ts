/** What a long conversation costs the gateway itself: the time of its turns, and time and memory of a start. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { words } from "./compaction-room.ts";
import { hookToken, type Running, restart, startGatewayProcess, stop } from "./room.ts";

const room = 200_000;
/** As many as agents read by default. */
const historyLimit = 100;
const turns = Number(process.env.TURNS_OF_A_CONVERSATION ?? 300);

const mostMoreMs = 5;
const mostRounds = 5;
const starts = 3;

/** A model that answers at once. Notes when the last request arrived, and when it was answered. */
async function openModel() {
  const times = { asked: 0, answered: 0 };
  const summaries = { count: 0 };
  const chunk = { id: "1", object: "chat.completion.chunk", created: 1, model: "small" };
  const server = createServer(async (request, response) => {
    const asked = performance.now();
    const body = await text(request);
    const isSummary = body.includes("You summarize the earlier part of a conversation");
    response.writeHead(200, { "content-type": "text/event-stream" });
    const choice = { index: 0, delta: { content: words(300) }, finish_reason: "stop" };
    const usage = { prompt_tokens: Math.ceil(body.length / 4.5), completion_tokens: 80, total_tokens: 0 };
    response.write(`data: ${JSON.stringify({ ...chunk, choices: [choice] })}\n\n`);
    response.write(`data: ${JSON.stringify({ ...chunk, choices: [], usage })}\n\n`);
    response.end("data: [DONE]\n\n");
    if (isSummary) summaries.count += 1;
    else Object.assign(times, { asked, answered: performance.now() });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close().closeAllConnections());
  return { times, summaries, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` };
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

const megabytesOf = ({ child }: Running): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1]) / 1_024;

test("after hundreds of turns, a turn takes at most 5 ms more than after ten, and a start no more", async () => {
  const model = await openModel();
  const local = { api: "openai-compatible", baseUrl: model.url, models: { small: { contextTokens: room } } };
  const config = {
    hooks: { enabled: true, token: hookToken, exposeReplies: true, allowRequestSessionKey: true, historyLimit },
    models: { providers: { local } },
    agents: { defaults: { model: "local/small", tools: { allow: [] }, heartbeat: { every: "0" } } },
  };
  const gateway = await startGatewayProcess(config);
  /** Milliseconds until the model is asked, and from its answer on. */
  const turn = async (sessionKey: string) => {
    const begun = performance.now();
    const answer = await fetch(`${gateway.url}/hooks/agent`, {
      method: "POST",
      headers: { authorization: `Bearer ${hookToken}`, "content-type": "application/json", prefer: "wait=30" },
      body: JSON.stringify({ message: words(2_200), sessionKey }),
    });
    expect(await answer.json()).toMatchObject({ ok: true, reply: expect.any(String) });
    return model.times.asked - begun + performance.now() - model.times.answered;
  };
  for (let n = 0; n < turns; n += 1) await turn("hook:long");
  expect(model.summaries.count).toBeGreaterThan(0);
  const more: number[] = [];
  // Other work on this machine may spoil a round.
  for (let round = 0; round < mostRounds && !more.some((ms) => ms <= mostMoreMs); round += 1) {
    const [long, short]: [number[], number[]] = [[], []];
    for (let session = 0; session < 6; session += 1) {
      const key = `hook:short-${round}-${session}`;
      for (let n = 0; n < 10; n += 1) await turn(key);
      for (let n = 0; n < 4; n += 1) {
        long.push(await turn("hook:long"));
        short.push(await turn(key));
      }
    }
    more.push(median(long) - median(short));
  }
  expect(Math.min(...more)).toBeLessThanOrEqual(mostMoreMs);
  await stop(gateway);

  const times: { readonly ms: number; readonly megabytes: number; readonly isLong: boolean }[] = [];
  for (let index = 0; index < 2 * starts; index += 1) {
    const isLong = index % 2 === 0;
    const begun = performance.now();
    const { home, file } = gateway;
    const started = await (isLong
      ? restart({ home, file, alone: true })
      : startGatewayProcess(config, { alone: true }));
    times.push({ ms: performance.now() - begun, megabytes: megabytesOf(started), isLong });
    await stop(started);
  }
  const [long, fresh] = [times.filter(({ isLong }) => isLong), times.filter(({ isLong }) => !isLong)];
  const least = (of: typeof times, key: "ms" | "megabytes") => Math.min(...of.map((each) => each[key]));
  expect(least(long, "ms")).toBeLessThan(least(fresh, "ms") * 1.5);
  expect(least(long, "megabytes")).toBeLessThan(least(fresh, "megabytes") * 1.1);
}, 300_000);
