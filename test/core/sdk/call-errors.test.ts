import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { fetchWhole } from "../../../core/media/bounded-fetch.ts";
import { refusedCall, retryAfterOf, unansweredCall } from "../../../core/sdk/call-errors.ts";

const fateOf = (status: number, body: unknown = {}) => {
  const { reason, fate, retryable } = refusedCall({ status, body }, { call: "send" });
  return [reason, fate, retryable];
};

describe("an answer that refuses a call", () => {
  test.each([
    [400, "bad_request", "not-sent", false],
    [401, "unauthorized", "not-sent", false],
    [403, "no_rights", "not-sent", false],
    [404, "chat_not_found", "not-sent", false],
    [408, "timeout", "unknown", true],
    [413, "too_large", "not-sent", false],
    [429, "flood_wait", "not-sent", true],
    [500, "platform_error", "not-sent", true],
    [503, "platform_error", "not-sent", true],
    [504, "platform_error", "unknown", true],
    [524, "platform_error", "unknown", true],
  ])("with status %i is %s, %s, retryable: %s", (status, ...expected) => {
    expect(fateOf(status)).toEqual(expected);
  });

  test("has the reason that the platform's own code means, also with status 200", () => {
    const body = { ok: false, error: "ratelimited" };
    const error = refusedCall(
      { status: 200, headers: new Headers({ "retry-after": "3" }), body },
      { call: "chat.postMessage", reason: "flood_wait", detail: body.error },
    );
    expect(error).toMatchObject({ reason: "flood_wait", fate: "not-sent", retryable: true, retryAfterMs: 3_000 });
    expect(error.message).toBe("chat.postMessage: 200 ratelimited");
  });

  test("that is not the platform's may be the success of the call if its status says so", () => {
    expect(refusedCall({ status: 200 }, { call: "send" })).toMatchObject({
      reason: "bad_answer",
      fate: "unknown",
      retryable: true,
    });
    expect(refusedCall({ status: 404 }, { call: "send" })).toMatchObject({
      reason: "bad_answer",
      fate: "not-sent",
      retryable: false,
    });
    expect(refusedCall({ status: 502 }, { call: "send" })).toMatchObject({
      reason: "platform_error",
      fate: "not-sent",
      retryable: true,
    });
  });
});

describe("the time that a platform asks to wait", () => {
  const date = "Thu, 26 Nov 2026 12:00:00 GMT";
  test.each<readonly [string, Record<string, string>, unknown, number | undefined]>([
    ["seconds in the header", { "retry-after": "7" }, undefined, 7_000],
    ["a date in the header", { "retry-after": "Thu, 26 Nov 2026 12:00:30 GMT" }, undefined, 30_000],
    ["a date that has passed", { "retry-after": "Thu, 26 Nov 2026 11:00:00 GMT" }, undefined, 0],
    ["parts of a second in the answer", { "retry-after": "1" }, { retry_after: 0.25 }, 250],
    ["milliseconds in the answer", {}, { errcode: "M_LIMIT_EXCEEDED", retry_after_ms: 1_500 }, 1_500],
    ["seconds within parameters", {}, { parameters: { retry_after: 4 } }, 4_000],
    ["the rest of the window", { "x-ratelimit-reset-after": "0.7" }, {}, 700],
    ["no time", {}, { message: "slow down" }, undefined],
    ["a header that cannot be read", { "retry-after": "soon" }, "text", undefined],
    ["a negative time", { "retry-after": "-5" }, { retry_after: -1 }, undefined],
  ])("is read from %s", (_, headers, body, ms) => {
    expect(retryAfterOf({ status: 429, headers: new Headers({ date, ...headers }), body })).toBe(ms);
  });
});

describe("a call without an answer", () => {
  const failure = async (url: string, more: { readonly signal?: AbortSignal; readonly timeoutMs?: number } = {}) => {
    const error: unknown = await fetchWhole(url, { maxBytes: 1_000, timeoutMs: 5_000, ...more }).catch(
      (thrown: unknown) => thrown,
    );
    return unansweredCall(error, { call: "send" });
  };
  const listening = async (onRequest: Parameters<typeof createServer>[1]) => {
    const server = createServer(onRequest).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/bot-secret` };
  };

  test("was not sent if the connection was refused", async () => {
    const { server, url } = await listening(() => {});
    await new Promise((resolve) => server.close(resolve));
    const error = await failure(url);
    expect(error).toMatchObject({ reason: "network", fate: "not-sent", retryable: true });
    expect(error.message).toBe("send: no answer (ECONNREFUSED, before the request went out)");
  });

  test("may have been sent if the connection broke, or no answer came in time; the address is not shown", async () => {
    const { server, url } = await listening(
      (request) => void (request.url === "/bot-secret" && request.socket.destroy()),
    );
    const broken = await failure(url);
    expect(broken).toMatchObject({ reason: "network", fate: "unknown", retryable: true });
    expect(broken.message).not.toContain("secret");
    expect(await failure(`${url}/late`, { timeoutMs: 50 })).toMatchObject({ reason: "timeout", fate: "unknown" });
    expect(await failure(`${url}/late`, { signal: AbortSignal.timeout(30) })).toMatchObject({
      fate: "unknown",
      retryable: true,
    });
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 30);
    expect(await failure(`${url}/late`, { signal: stop.signal })).toMatchObject({ reason: "aborted", fate: "unknown" });
    server.closeAllConnections();
    server.close();
  });

  test("has the fate that the client knows", () => {
    expect(unansweredCall({ code: "ECONNRESET" }, { call: "send", sent: false })).toMatchObject({ fate: "not-sent" });
  });
});
