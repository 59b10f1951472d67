import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { decodeQR } from "qr/decode.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ChannelAccount, defineChannel, definePlugin, Type } from "../../../core/sdk/contract.ts";
import consolePlugin from "../../../plugins/console/index.ts";
import { signIn } from "../../support/browser-client.ts";
import { createEngine, createLoopback, type TestGateway } from "../../support/gateway.ts";
import { type ConsoleRoom, leftOut, openConsole, shapes } from "./browser.ts";

if (leftOut !== "") console.log(`the console in a browser is not tested${leftOut}`);

/** Browsers treat it as a machine of the network, not as this one. */
const far = "gateway.test";
const hostile = `<img src=x onerror="document.title='hacked'"><script>document.title='hacked'</script>\u202Eevil`;
const calls: string[] = [];

const engine = createEngine(async ({ inbound, tools }) => {
  if (inbound.text === "break") throw new Error(`broken ${hostile}`);
  const tool = tools.find(({ name }) => name === "open_door");
  if (inbound.text !== "use" || tool === undefined) return `heard: ${inbound.text}`;
  return JSON.stringify(await tool.run({ door: hostile }, new AbortController().signal));
});

const door = definePlugin({
  id: "door",
  version: "1.0.0",
  host: "^0.2.0",
  setup(host) {
    host.tool({
      name: "open_door",
      description: "Opens a door.",
      parameters: Type.Object({ door: Type.String() }),
      needsApproval: true,
      run({ args: { door: which } }) {
        calls.push(which);
        return "open";
      },
    });
  },
});

/** A channel that a person links with a phone. */
let report: ChannelAccount["status"] = () => {};
const phone = defineChannel({
  id: "phone",
  version: "1.0.0",
  host: "^0.2.0",
  options: Type.Object({}),
  capabilities: { maxChars: 100 },
  open: ({ status }) => ({
    async start() {
      report = status;
    },
    parse: () => null,
    render: () => [],
    send: async () => ({ messageId: "1" }),
    close: async () => {},
  }),
});

describe.skipIf(leftOut !== "")(`the console${leftOut}`, () => {
  const loopback = createLoopback();
  let room: ConsoleRoom;
  let home: TestGateway;
  let browser: Browser;
  let url: string;
  let failed: string;
  const link = (role?: string) => room.link(role);
  const open: ConsoleRoom["open"] = (role, options) => room.open(role, options);
  const watch = (page: Page) => room.watch(page);

  const close = (page: Page) => page.context().close();

  beforeAll(async () => {
    room = await openConsole(
      {
        config: {
          gateway: { port: 0, drainSeconds: 2, allowedHosts: [far] },
          channels: { loopback: { dmPolicy: "pairing", allowFrom: ["7"] }, phone: {} },
        },
        plugins: [loopback.plugin, engine, door, phone, consolePlugin],
      },
      { hostRules: `MAP ${far} 127.0.0.1` },
    );
    ({ home, browser, url } = room);
    await home.settled(await loopback.say(hostile));
    failed = await loopback.say("break");
    await home.settled(failed);
  }, 60_000);

  afterAll(() => room?.close());

  test("a browser without a session shows the command and takes the code, which no address keeps", async () => {
    const page = await (await browser.newContext()).newPage();
    watch(page);
    await page.goto(`${url}/console/`);
    await page.getByRole("heading", { name: "This browser is not signed in" }).waitFor();
    expect(await page.locator("main").textContent()).toContain("run service console and open the link");
    const [, code = ""] = (await link()).split("#code=");
    await page.getByLabel("Code").fill(code);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    expect(await page.evaluate("document.cookie + JSON.stringify({ ...localStorage, ...sessionStorage })")).toBe("{}");
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByText("This browser is not signed in").waitFor();
    await page.reload();
    await page.getByText("This browser is not signed in").waitFor();
    await page.goto("about:blank");
    await page.goto(`${url}/console/#code=${code}`);
    await page.getByRole("alert").getByText("The code is wrong, used, or older than a minute.").waitFor();
    expect(page.url()).toBe(`${url}/console/#/`);
    // The browser itself notes each answer that is no success.
    expect(room.complaints.splice(0).filter((text) => !text.includes("401"))).toEqual([]);
    await close(page);
  });

  test("what a person has to do for an account is shown, with each new code, until it is connected", async () => {
    const page = await open();
    /** What a phone would see. */
    const scan = async () => {
      const [path, box] = [page.locator(".qr path"), page.locator(".qr")];
      const [squares, view] = [(await path.getAttribute("d")) ?? "", (await box.getAttribute("viewBox")) ?? ""];
      const [size, scale] = [Number(view.split(" ")[2]), 6];
      const data = new Uint8Array((size * scale) ** 2 * 3).fill(255);
      for (const [, x, y] of squares.matchAll(/M(\d+) (\d+)h/g))
        for (let row = 0; row < scale; row += 1) {
          const from = ((Number(y) * scale + row) * size * scale + Number(x) * scale) * 3;
          data.fill(0, from, from + scale * 3);
        }
      return decodeQR({ width: size * scale, height: size * scale, data });
    };
    const text = `Scan it ${hostile}`;
    report({
      state: "waiting",
      action: { text, url: "https://platform.example/link", code: "AB-12", qr: "phone://1" },
    });
    await page.getByText("Scan it <img").waitFor();
    expect(await page.getByRole("link", { name: "https://platform.example/link" }).getAttribute("rel")).toContain(
      "noopener",
    );
    expect([await page.getByText("Code: AB-12").count(), await scan()]).toEqual([1, "phone://1"]);
    // A code that is scanned elsewhere would link another phone.
    const overview = (await (await signIn(url, room.token, "operate")).ask("/gateway/v1/overview")).text;
    expect(overview).toContain("Scan it");
    for (const code of ["AB-12", "phone://1", "platform.example"]) expect(overview).not.toContain(code);
    report({ state: "waiting", action: { text, qr: "phone://2" } });
    await expect.poll(scan).toBe("phone://2");
    // A page that would run a script is not one to open.
    report({ state: "waiting", action: { text, url: "javascript:alert(1)" } });
    await page.locator(".sign-in").waitFor({ state: "detached" });
    report({ state: "connected" });
    await expect.poll(() => page.locator("#accounts ~ ul").textContent()).toContain("connected");
    expect([await page.title(), room.complaints.splice(0)]).toEqual(["Overview · Console", []]);
    await close(page);
  });

  test("a link that is pasted into an open page signs in, and is not in its address any more", async () => {
    const page = await (await browser.newContext()).newPage();
    watch(page);
    await page.goto(`${url}/console/`);
    await page.getByText("This browser is not signed in").waitFor();
    await page.goto(await link("view"));
    await page.getByText("Role view").waitFor();
    expect(page.url()).toBe(`${url}/console/#/`);
    await page.goto(`${url}/console/#code=wrong`);
    await expect.poll(() => page.url()).toBe(`${url}/console/#/`);
    await page.getByText("Role view").waitFor();
    await expect.poll(() => room.complaints.splice(0).filter((text) => text.includes("401")).length).toBe(1);
    await close(page);
  });

  test("on plain http off this machine, the page warns that others can read it", async () => {
    const page = await (await browser.newContext()).newPage();
    const warning = page.getByRole("note").getByText("This page came without encryption");
    await page.goto((await link()).replace("127.0.0.1", far));
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await warning.waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByText("This browser is not signed in").waitFor();
    await warning.waitFor();
    await page.goto(await link());
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    expect(await warning.count()).toBe(0);
    await close(page);
  });

  test("an event ends while the list is open, and its page explains it by keyboard alone", async () => {
    const page = await open();
    await page.goto(`${url}/console/#/events?outcome=failed`);
    const row = page.getByRole("link", { name: /loopback.*failed/ });
    await row.first().waitFor();
    const before = await row.count();
    const again = await loopback.say("break");
    await page.getByRole("button", { name: "1 event has ended: show" }).press("Enter");
    await expect.poll(() => row.count()).toBe(before + 1);
    await row.first().press("Enter");
    await page.getByRole("heading", { name: "What was decided" }).waitFor();
    expect(page.url()).toContain(again);
    const turn = page.getByRole("listitem").filter({ hasText: "engine_failed" });
    expect(await turn.textContent()).toContain("to change");
    await page.getByRole("button", { name: "Run again" }).press("Enter");
    await expect.poll(async () => (await page.locator("h1").textContent())?.includes("failed")).toBe(true);
    await close(page);
  });

  test("the copied text is that of `service why`", async () => {
    const page = await open("view", { permissions: ["clipboard-read", "clipboard-write"] });
    await page.goto(`${url}/console/#/events/${failed}`);
    await page.getByRole("button", { name: "Copy as text" }).click();
    await page.getByText("Copied.").waitFor();
    const copied = await page.evaluate<string>("navigator.clipboard.readText()");
    expect(copied).toMatch(/^failed \(engine_failed\) after .*\n\n {2}event +\w+\n/);
    expect(await page.getByRole("button", { name: "Run again" }).count()).toBe(0);
    await close(page);
  });

  test("a sender and a tool are decided on, and the badge follows", async () => {
    await home.settled(await loopback.say("let me in", { sender: "8" }));
    const event = await loopback.say("use");
    const page = await open();
    const nav = page.getByRole("navigation");
    await nav.getByRole("link", { name: "Waiting for you , 2" }).click();
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByText("Person 8 may write.").waitFor();
    // What an owner cannot see is written out.
    const tool = page.getByRole("article", { name: /open_door/ });
    expect(await tool.locator("pre").textContent()).toContain("\\u202eevil");
    await tool.getByRole("button", { name: "Allow once" }).click();
    await page.getByText("Nothing waits for you.").waitFor();
    await home.settled(event);
    expect(calls).toEqual([hostile]);
    await expect.poll(() => nav.locator(".badge").count()).toBe(0);
    await close(page);
  });

  test("what strangers write is text on every screen, and nothing is wrong with its accessibility", async () => {
    for (const shape of shapes) {
      const page = await open("admin", shape);
      const screens = ["", "events", `events/${failed}`, "waiting", "failed", "sessions", "usage", "plugins", "logs"];
      for (const screen of [...screens, "sessions/agent%3Amain%3Amain"]) {
        await room.show(page, screen);
        expect(await page.title()).not.toContain("hacked");
        const { found, isWide } = await room.judge(page, screen.replaceAll(/\W+/g, "-") || "overview");
        expect([screen, shape.viewport.width, found, isWide]).toEqual([screen, shape.viewport.width, [], false]);
      }
      await close(page);
    }
  }, 60_000);

  test("a page at another port of this machine cannot use the session, nor frame the console", async () => {
    const page = await open();
    const context: BrowserContext = page.context();
    const attack = `<!doctype html><iframe src="${url}/console/"></iframe>
      <form method="post" enctype="text/plain" action="${url}/gateway/v1/failed/retry"><input name="{" value="}"></form>`;
    const server = createServer((_, response) => response.setHeader("content-type", "text/html").end(attack));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const other = await context.newPage();
    await other.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    await expect.poll(() => other.frames()[1]?.url()).toMatch(/^chrome-error:/);
    const [answer] = await Promise.all([
      other.waitForResponse(/failed\/retry/),
      other.evaluate("document.querySelector('form').submit()"),
    ]);
    expect(answer.status()).toBe(403);
    server.close().closeAllConnections();
    // After a refused frame, Chromium may never report the end of the context; the end of the browser ends it.
    void close(page).catch(() => {});
  });

  test("an address that was cut off or typed wrongly shows a screen, not an empty page", async () => {
    // The browser itself reports the 404 of an unknown event, so this page is not watched.
    const page = await (await open()).context().newPage();
    for (const [address, heading] of [
      ["#/overview", "Overview"],
      ["#/events/%", "There is no such event"],
    ] as const) {
      await page.goto("about:blank");
      await page.goto(`${url}/console/${address}`);
      await page.getByText(heading, { exact: false }).first().waitFor();
    }
    await close(page);
  });

  test("no page complained, and none asked another host", () => {
    expect(room.complaints).toEqual([]);
  });
});
