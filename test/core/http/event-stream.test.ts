/** A stream of events whose access is checked again and again. */
import type { AddressInfo } from "node:net";
import fastify from "fastify";
import { expect, onTestFinished, test, vi } from "vitest";
import type { Json } from "../../../core/contract/index.ts";
import { createEventStreams } from "../../../core/http/event-stream.ts";

async function* oneEvent(): AsyncGenerator<Json> {
  yield { name: "first" };
  await new Promise(() => {});
}

test("a check that fails between two events, such as for an unreadable state, ends only its stream", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const app = fastify({ forceCloseConnections: true });
  const errors: unknown[] = [];
  const streams = createEventStreams({ onError: (error) => errors.push(error) });
  let checks = 0;
  const stays = async () => {
    checks += 1;
    if (checks > 1) throw new Error("the database is away");
    return true;
  };
  app.get("/events", (_request, reply) => streams.send(reply, oneEvent(), stays));
  await app.listen({ port: 0, host: "127.0.0.1" });
  onTestFinished(async () => {
    vi.useRealTimers();
    await app.close();
  });
  const answer = await fetch(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}/events`);
  const reading = answer.text();
  await vi.waitFor(() => expect(checks).toBe(1), 60_000);
  vi.advanceTimersByTime(15_000);
  expect(await reading).toBe('data: {"name":"first"}\n\n: keep-alive\n\n');
  expect([checks, errors]).toEqual([2, []]);
});
