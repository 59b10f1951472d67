import type { IncomingMessage } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { sessionCookie, sessionSecret, takeSessionCookie } from "../../../core/http/browsers/cookie.ts";
import { createLinks } from "../../../core/http/browsers/links.ts";
import { createSessions } from "../../../core/http/browsers/sessions.ts";
import { openSqliteStore } from "../../../core/state/sqlite/index.ts";
import { askAs, ofPage } from "../../support/browser-client.ts";
import { removeDirectory, temporaryDirectory } from "../../support/directory.ts";
import { startServer } from "./fixture.ts";

const hour = 3_600_000;

async function openSessions() {
  const directory = temporaryDirectory();
  const clock = { at: 1_700_000_000_000, token: "the gateway's token" };
  const store = await openSqliteStore({ directory, now: () => clock.at, writerThread: false });
  await store.begin(clock.at);
  onTestFinished(async () => {
    await store.close();
    removeDirectory(directory);
  });
  const sessions = createSessions({ store, now: () => clock.at, gatewayToken: () => clock.token });
  return { clock, store, sessions };
}

const who = { role: "view", browser: "Test", from: "127.0.0.1" } as const;

test("a session ends after 12 hours without a request, and after 30 days in any case", async () => {
  const { clock, sessions } = await openSessions();
  const { secret } = await sessions.begin(who);
  for (let day = 0; day < 59; day += 1) {
    clock.at += 12 * hour - 1;
    expect(await sessions.find(secret)).toMatchObject(who);
  }
  clock.at += 12 * hour;
  expect(await sessions.find(secret)).toBeNull();
  const other = await sessions.begin(who);
  clock.at += 12 * hour;
  expect(await sessions.find(other.secret)).toBeNull();
});

test("another gateway token ends all sessions, and the store contains no secret", async () => {
  const { clock, store, sessions } = await openSessions();
  const { secret, session } = await sessions.begin(who);
  const stored = JSON.stringify(await store.list("browser-sessions"));
  expect([stored.includes(secret), stored.includes(clock.token), stored.includes(session.id)]).toEqual([
    ...[false, false, true],
  ]);
  clock.token = "another token";
  const ending = sessions.ending(session.id);
  expect([await sessions.find(secret), await sessions.list()]).toEqual([null, []]);
  expect(ending.aborted).toBe(true);
});

test("a gateway token that is set again opens no session of the time before", async () => {
  const { clock, sessions } = await openSessions();
  const { secret, session } = await sessions.begin(who);
  const first = clock.token;
  clock.token = "another token";
  const ending = sessions.ending(session.id);
  const other = await sessions.begin(who);
  await sessions.endOfOtherTokens();
  expect(ending.aborted).toBe(true);
  expect(await sessions.find(other.secret)).toMatchObject(who);
  clock.token = first;
  expect(await sessions.find(secret)).toBeNull();
});

test("the cookie is for https alone where browsers come by https, also with the port that a proxy adds", async () => {
  const { sessions } = await openSessions();
  const { url, close } = await startServer({
    gateway: { publicUrl: "https://gateway.example" },
    browsers: { sessions, links: { take: () => "view" }, onSignIn: () => {} },
  });
  onTestFinished(close);
  const cookieFor = async (host: string) => {
    const options = { body: { code: "right" }, headers: { ...ofPage, host } };
    return String((await askAs(url, "/gateway/v1/session", options)).headers["set-cookie"]);
  };
  for (const host of ["gateway.example", "gateway.example:443", "Gateway.Example"])
    expect(await cookieFor(host)).toMatch(/^__Host-service_session=.*; Secure$/);
  expect(await cookieFor("127.0.0.1")).toMatch(/^service_session=/);
});

test("a link's code ends after a minute, and the oldest of too many gives way", () => {
  let at = 0;
  const links = createLinks(() => at);
  const first = links.make("view");
  at += 59_999;
  expect(links.take(first)).toBe("view");
  expect(links.take(first)).toBeUndefined();
  const late = links.make("admin");
  at += 60_000;
  expect(links.take(late)).toBeUndefined();
  const many = Array.from({ length: 21 }, () => links.make("operate"));
  expect([links.take(many[0] ?? ""), links.take(many[1] ?? "")]).toEqual([undefined, "operate"]);
});

test("the cookie is taken out of the headers, others stay, and two sessions at once are none", () => {
  const requestWith = (cookie: string) => {
    const request = { headers: { cookie } } as IncomingMessage;
    takeSessionCookie(request);
    return [sessionSecret(request), request.headers.cookie];
  };
  expect(requestWith("theme=dark; service_session=abc; lang=en")).toEqual(["abc", "theme=dark; lang=en"]);
  expect(requestWith("__Host-service_session=abc")).toEqual(["abc", undefined]);
  expect(requestWith("service_session=abc; service_session=def")).toEqual([undefined, undefined]);
  // A visit on plain http left the other one.
  expect(requestWith("service_session=abc; __Host-service_session=def")).toEqual(["def", undefined]);
  expect(sessionCookie("abc", { secure: true, maxAgeSeconds: 5 })).toBe(
    "__Host-service_session=abc; Path=/; HttpOnly; SameSite=Strict; Max-Age=5; Secure",
  );
});
