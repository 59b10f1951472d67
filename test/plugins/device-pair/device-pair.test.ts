import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { scopedStore } from "../../../core/host/scope.ts";
import type { CliCall, RouteRequest } from "../../../core/sdk/contract.ts";
import { openSqliteStore } from "../../../core/state/sqlite/index.ts";
import { devicesCli } from "../../../plugins/device-pair/cli.ts";
import type { Asked, Devices } from "../../../plugins/device-pair/devices.ts";
import { deviceRoutes } from "../../../plugins/device-pair/routes.ts";
import { openRoom } from "./room.ts";

describe("pairing a device", () => {
  test("takes an owner's code, a request and an approval, and gives a token for the management routes", async () => {
    const room = await openRoom();
    const answer = await room.say("/pair");
    expect(answer).toContain(`${room.gateway.url}/devices/pair`);
    expect(answer).toContain("10 minutes");
    const asked = await room.ask(/`([A-Z2-9]{8})`/.exec(answer)?.[1] ?? "");
    expect(asked).toMatchObject({
      status: 202,
      body: { ok: true, status: "pending", id: expect.stringMatching(/^[A-Z2-9]{8}$/) },
    });
    const { id, secret } = asked.body;
    expect(room.chat.sent.at(-1)).toMatchObject({
      chat: "7",
      text: [
        `A device asks to use the gateway, from \`127.0.0.1\`. \`/pair approve ${id}\` approves it, \`/pair ` +
          `revoke ${id}\` denies it.`,
        'The name it gives: `"Laptop"`',
      ].join("\n"),
    });
    expect(await room.collect(id, secret)).toMatchObject({ status: 202, body: { status: "pending" } });

    expect(await room.say("/pair approve")).toMatch(/^Approved: `Laptop` \(`[A-Z2-9]{8}`\)/);
    const collected = await room.collect(id, secret);
    expect(collected).toMatchObject({ status: 200, body: { ok: true, status: "approved", token: expect.any(String) } });
    expect(collected.headers.get("cache-control")).toBe("no-store");
    expect(await room.describe(collected.body.token)).toBe(200);
    expect(await room.say("/pair status")).toMatch(/\*\*Paired\*\*\n- `Laptop` \(`[A-Z2-9]{8}`\), last used 20/);
  });

  test("approves by id if several wait, and the latest without an id", async () => {
    const room = await openRoom();
    const first = await room.ask(await room.code(), "Phone");
    const second = await room.ask(await room.code(), "Tablet");
    expect(await room.say("/pair status")).toMatch(/\*\*Waiting\*\*\n- `Phone` .*\n- `Tablet` .*from `127/);
    expect(await room.say(`/pair approve ${String(first.body.id).toLowerCase()}`)).toContain("Approved: `Phone`");
    expect(await room.collect(second.body.id, second.body.secret)).toMatchObject({ body: { status: "pending" } });
    expect(await room.say("/pair approve")).toContain("Approved: `Tablet`");
    expect(await room.say("/pair approve")).toContain("No device waits for approval");
    expect(await room.say("/pair approve NOSUCHID")).toContain("No waiting device has this id");
  });

  test("lets a device fetch its token again after a lost response until it has used one", async () => {
    const room = await openRoom();
    const { body } = await room.ask(await room.code());
    await room.say("/pair approve");
    const lost = (await room.collect(body.id, body.secret)).body.token;
    const { token } = (await room.collect(body.id, body.secret)).body;
    expect(await room.describe(lost)).toBe(401);
    expect(await room.describe(token)).toBe(200);
    expect(await room.collect(body.id, body.secret)).toMatchObject({ status: 404 });
    expect(await room.describe(token)).toBe(200);
  });

  test("survives a restart of the gateway", async () => {
    const room = await openRoom();
    const { token } = await room.pair();
    await room.gateway.close();
    const again = await openRoom({ directory: room.directory });
    expect(await again.describe(token)).toBe(200);
  });
});

test("a device token opens every management route, and none opens without it", async () => {
  const room = await openRoom();
  const { token } = await room.pair();
  const status = async (path: string, authorization: string) => {
    const headers = { authorization, "content-type": "application/json" };
    return (await fetch(`${room.gateway.url}${path}`, { method: "POST", headers, body: "{}" })).status;
  };
  for (const [path, opened] of [
    ["/gateway/poke", 200],
    ["/gateway/probe", 200],
    ["/gateway/checks", 200],
    ["/gateway/hooks/replay", 400],
  ] as const) {
    expect(await status(path, `Bearer ${token}`), path).toBe(opened);
    expect(await status(path, "Bearer another"), path).toBe(401);
  }
});

describe("a setup code", () => {
  test("works once, typed in any case and with dashes", async () => {
    const room = await openRoom();
    const code = await room.code();
    const typed = `${code.slice(0, 4)}-${code.slice(4)}`.toLowerCase();
    const both = await Promise.all([room.ask(typed), room.ask(code)]);
    expect(both.map(({ status }) => status).sort()).toEqual([202, 403]);
    expect(await room.ask(code)).toMatchObject({ status: 403, body: { ok: false, code: "code_invalid" } });
  });

  test("expires after its time, and so does an unapproved request", async () => {
    const room = await openRoom({ plugin: { codeTtlSeconds: 60, requestTtlSeconds: 120 } });
    const code = await room.code();
    room.wait(61);
    expect(await room.ask(code)).toMatchObject({ status: 403 });
    const { body } = await room.ask(await room.code());
    room.wait(121);
    expect(await room.collect(body.id, body.secret)).toMatchObject({ status: 404 });
    expect(await room.say("/pair approve")).toContain("No device waits");
  });

  test("is given only to an owner, and not in a group", async () => {
    const room = await openRoom();
    const inGroup = await room.say("/pair", { chat: "-100", group: true });
    expect(inGroup).toMatch(/direct chat/);
    expect(inGroup).not.toMatch(/[A-Z2-9]{8}/);
    expect(await room.say("/pair", { sender: "8" })).toContain("Only the owner");
    expect(await room.say("/pair approve", { sender: "8" })).toContain("Only the owner");
  });

  test("cannot be guessed: after ten wrong attempts a client must wait and learns how long", async () => {
    const room = await openRoom();
    const code = await room.code();
    for (let attempt = 0; attempt < 10; attempt += 1) expect((await room.ask("WRONG234")).status).toBe(403);
    const limited = await room.ask(code);
    expect(limited).toMatchObject({ status: 429, body: { code: "rate_limited" } });
    expect(Number(limited.headers.get("retry-after"))).toBeGreaterThan(500);
    expect((await room.collect("AAAAAAAA", "x")).status).toBe(429);
    for (const seconds of [-7_200, 86_400]) {
      room.setClock(seconds);
      expect((await room.ask(code)).status, `the clock was set by ${seconds} s`).toBe(429);
    }
    room.wait(601);
    expect((await room.ask(await room.code())).status).toBe(202);
  });

  test("guessed wrong does not lock out a device that polls with its correct secret", async () => {
    const room = await openRoom();
    const { body } = await room.ask(await room.code());
    for (let attempt = 0; attempt < 15; attempt += 1) await room.ask("WRONG234");
    for (let attempt = 0; attempt < 15; attempt += 1) await room.collect(body.id, "wrong");
    expect((await room.collect(body.id, "wrong")).status).toBe(429);
    expect(await room.collect(body.id, body.secret)).toMatchObject({ status: 202, body: { status: "pending" } });
    await room.say("/pair approve");
    expect(await room.collect(body.id, body.secret)).toMatchObject({ status: 200, body: { status: "approved" } });
  });

  test("guessed wrong counts for an IPv6 subscriber network rather than for each address", async () => {
    const room = await openRoom({ trustedProxies: ["127.0.0.1"] });
    const from = (network: number, host: number) => `2001:db8:0:${network}::${host}`;
    for (let host = 1; host <= 10; host += 1)
      expect((await room.ask("WRONG234", "Laptop", from(7, host))).status).toBe(403);
    expect((await room.ask("WRONG234", "Laptop", from(7, 99))).status).toBe(429);
    expect((await room.ask("WRONG234", "Laptop", from(8, 1))).status).toBe(403);
  });

  test("is valid only among the newest three", async () => {
    const room = await openRoom();
    const codes = [];
    for (let count = 0; count < 4; count += 1) {
      codes.push(await room.code());
      room.wait(1);
    }
    expect((await room.ask(codes[0] ?? "")).status).toBe(403);
    expect((await room.ask(codes[1] ?? "")).status).toBe(202);
  });
});

test("a device approved on the command line can fetch its token for the time that the options set", async () => {
  const room = await openRoom({ plugin: { requestTtlSeconds: 86_400 } });
  const { body } = await room.ask(await room.code());
  const store = await openSqliteStore({ directory: room.gateway.stateDirectory, now: Date.now });
  const kept = scopedStore(store, "plugin:device-pair", Date.now);
  const run = async (command: string, id: unknown) => {
    const call = { args: [id], store: kept, now: Date.now } as unknown as CliCall;
    return (await devicesCli.commands.find(({ name }) => name === command)?.run(call))?.lines;
  };
  expect(await run("approve", undefined)).toEqual([`Laptop (${body.id}) is approved.`]);
  const other = (await room.ask(await room.code(), "Phone")).body.id;
  expect(await run("revoke", other), "it never had a token").toEqual([`The request of Phone (${other}) is denied.`]);
  await store.close();
  room.wait(80_000);
  expect(await room.collect(body.id, body.secret)).toMatchObject({ status: 200 });
});

describe("a device is locked out", () => {
  test("from the next request after it is revoked, or when its request is denied", async () => {
    const room = await openRoom();
    const { id, token } = await room.pair();
    expect(await room.describe(token)).toBe(200);
    expect(await room.say(`/pair revoke ${id}`)).toContain("Revoked: `Laptop`");
    expect(await room.describe(token)).toBe(401);
    const { body } = await room.ask(await room.code(), "Phone");
    expect(await room.say(`/pair revoke ${body.id}`)).toContain("Turned down: `Phone`");
    expect(await room.collect(body.id, body.secret)).toMatchObject({ status: 404, body: { code: "request_unknown" } });
    expect(await room.say("/pair revoke")).toContain("Which one?");
    expect(await room.say("/pair revoke NOSUCHID")).toContain("no device with this id");
  });

  test("without the secret of its request, and before it is approved", async () => {
    const room = await openRoom();
    const { body } = await room.ask(await room.code());
    expect(await room.collect(body.id, "another")).toMatchObject({ status: 404, body: { code: "request_unknown" } });
    expect(await room.collect(body.id, "")).toMatchObject({ status: 404 });
    expect(await room.describe(`${body.id}.${body.secret}`)).toBe(401);
    expect(await room.describe(body.secret)).toBe(401);
  });

  test("when too many devices wait, but the code stays valid", async () => {
    const room = await openRoom();
    for (let count = 0; count < 10; count += 1) expect((await room.ask(await room.code())).status).toBe(202);
    const code = await room.code();
    expect(await room.ask(code)).toMatchObject({ status: 503, body: { code: "requests_full" } });
    await room.say("/pair approve");
    expect((await room.ask(code)).status).toBe(202);
  });
});

test("a device's own name is shown as one line of plain text in the chat", async () => {
  const room = await openRoom();
  await room.ask(await room.code(), "`x`\n**Paired**\u202e");
  expect(await room.say("/pair status")).toContain("- `'x' **Paired**` (");
});

test("a request without a code or with a long name is rejected before the code is checked", async () => {
  const room = await openRoom();
  const code = await room.code();
  expect(await room.ask(code, "n".repeat(65))).toMatchObject({ status: 400, body: { code: "invalid_payload" } });
  expect(await room.ask("")).toMatchObject({ status: 400 });
  expect((await room.ask(code)).status).toBe(202);
});

test("`/pair` shows the configured address; without one, it warns the owner if the address is local only", async () => {
  expect(await (await openRoom()).say("/pair")).toContain("plugins.entries.device-pair.options.address");
  const answer = await (await openRoom({ plugin: { address: "https://gateway.example.org/" } })).say("/pair");
  expect(answer).toContain("`https://gateway.example.org/devices/pair`");
  expect(answer).not.toContain("options.address");
});

test.each(["http://0.0.0.0:18789", "http://[::]:18789"])(
  "%s is a listen address that a device cannot open, so the owner is warned",
  async (address) => {
    expect(await (await openRoom({ plugin: { address } })).say("/pair")).toContain(
      "plugins.entries.device-pair.options.address",
    );
  },
);

test("`/pair` with unknown words shows its usage", async () => {
  const room = await openRoom();
  for (const text of ["/pair nonsense", "/pair approve A B", "/pair status now"])
    expect(await room.say(text)).toContain("Use `/pair`");
});

test("no token, secret or code, nor the gateway token, appears in a log, the state or the chat", async () => {
  const room = await openRoom();
  const code = await room.code();
  const { body } = await room.ask(code);
  await room.say("/pair approve");
  const { token } = (await room.collect(body.id, body.secret)).body;
  await room.describe(token);
  const state = room.gateway.stateDirectory;
  const gatewayToken = readFileSync(join(state, "gateway-token"), "utf8").trim();
  const said = room.chat.sent.map(({ text }) => text).join("\n");
  for (const secret of [token, body.secret, gatewayToken]) expect(said).not.toContain(secret);
  const log = readFileSync(join(state, "logs", "gateway.log"), "utf8");
  for (const what of ["asks to be paired", "is approved"])
    expect(log).toMatch(new RegExp(`"device":"${body.id}".*a device ${what}`));
  await room.gateway.close();
  const files = readdirSync(state, { recursive: true, encoding: "utf8" }).filter((file) =>
    statSync(join(state, file)).isFile(),
  );
  expect(files.length).toBeGreaterThan(2);
  for (const file of files) {
    const content = readFileSync(join(state, file), "latin1");
    for (const secret of [token, body.secret])
      expect(content.includes(String(secret)), `${file} holds ${secret}`).toBe(false);
    if (file !== "gateway-token") expect(content.includes(gatewayToken)).toBe(false);
  }
});

test("the pairing page loads nothing external, and its policy allows only its own script", async () => {
  const room = await openRoom();
  const response = await fetch(`${room.gateway.url}/devices/pair`);
  const text = await response.text();
  expect(response.headers.get("content-type")).toContain("text/html");
  expect(response.headers.get("content-security-policy")).toMatch(
    /default-src 'none'; style-src 'sha256-.*script-src 'sha256-.*connect-src 'self'/,
  );
  expect(text).not.toMatch(/https?:/);
});

test("the pairing page asks, waits for approval and shows the token, also behind a proxy with a prefix", async () => {
  const room = await openRoom();
  const { url } = room.gateway;
  const html = await (await fetch(`${url}/devices/pair`)).text();
  const script = /<script>([\s\S]*)<\/script>/.exec(html)?.[1] ?? "";
  const state = { textContent: "" };
  const output = { textContent: "" };
  let submit: (event: object) => Promise<void> = async () => {};
  const button = { disabled: false };
  const form = {
    addEventListener: (_: string, listener: typeof submit) => {
      submit = listener;
    },
    querySelector: () => button,
  };
  const elements: Readonly<Record<string, object>> = { form, "#state": state, output };
  const fields = { code: await room.code(), name: "Browser" };
  runInNewContext(script, {
    document: { querySelector: (selector: string) => elements[selector] },
    FormData: function FormData() {
      return Object.entries(fields);
    },
    location: { pathname: "/gateway-of-ada/devices/pair" },
    fetch: (path: string, init: RequestInit) => {
      expect(path).toMatch(/^\/gateway-of-ada\/devices\/pair/);
      return fetch(url + path.replace("/gateway-of-ada", ""), init);
    },
    setTimeout: (done: () => void) => setTimeout(done, 20),
  });
  const submitted = submit({ preventDefault() {} });
  await expect
    .poll(() => state.textContent)
    .toMatch(/^Asked as [A-Z2-9]{8}\. The owner approves it in the chat: \/pair approve /);
  await room.say("/pair approve");
  await submitted;
  expect(state.textContent).toContain("This device is paired");
  expect(await room.describe(output.textContent)).toBe(200);
  // The code is used up; the page says so, and can be used again.
  button.disabled = true;
  await submit({ preventDefault() {} });
  expect(state.textContent).toContain("The code is wrong, used or too old");
  expect(button.disabled).toBe(false);
});

test("simultaneous setup codes are all counted before one is compared, even with a slow remote store", async () => {
  let compared = 0;
  const ask = async (): Promise<Asked> => {
    compared += 1;
    await new Promise(setImmediate);
    return { ok: false, reason: "code" };
  };
  const routes = deviceRoutes({ devices: { ask } as unknown as Devices, elapsed: () => 0, onAsked: async () => {} });
  const post = routes.find(({ method }) => method === "POST");
  const guess = {
    body: { code: "WRONG234", name: "Laptop" },
    clientAddress: "192.0.2.1",
    client: "192.0.2.1",
  } as unknown as RouteRequest;
  const answers = await Promise.all(Array.from({ length: 30 }, async () => await post?.handler(guess)));
  expect(answers.map((answer) => answer?.status)).toEqual([...Array(10).fill(403), ...Array(20).fill(429)]);
  expect(compared).toBe(10);
});
