import { afterAll, beforeAll, describe, expect, test } from "vitest";
import consolePlugin from "../../../plugins/console/index.ts";
import schedule from "../../../plugins/schedule/index.ts";
import { signIn } from "../../support/browser-client.ts";
import { createEngine, createLoopback } from "../../support/gateway.ts";
import { type ConsoleRoom, leftOut, openConsole, shapes } from "./browser.ts";

/** The next request to the model fails. */
const model = { fails: false };
const engine = createEngine(async () => {
  if (model.fails) throw new Error("the server is on fire");
  return "OK";
});

describe.skipIf(leftOut !== "")(`what is operated in the console${leftOut}`, () => {
  const loopback = createLoopback();
  let room: ConsoleRoom;

  beforeAll(async () => {
    room = await openConsole({
      config: {
        gateway: { port: 0, drainSeconds: 2 },
        agents: { defaults: { engine: "scripted", model: "own/small" } },
        models: {
          providers: { own: { baseUrl: "http://127.0.0.1:9/v1", models: { small: { contextTokens: 8000 } } } },
        },
        budget: { perDayTokens: 1000 },
        channels: { loopback: { dmPolicy: "open", allowFrom: ["*"] } },
        schedules: { morning: { cron: "0 7 * * *", kind: "say", message: "Good morning", to: "loopback:7" } },
      },
      plugins: [loopback.plugin, engine, schedule, consolePlugin],
    });
    await room.home.settled(await loopback.say("hello"));
  }, 60_000);

  afterAll(() => room?.close());

  test("a model is tested, and says why it does not answer", async () => {
    const page = await room.open("operate");
    await page.getByRole("link", { name: "Models" }).press("Enter");
    const small = page.getByRole("article", { name: "own/small" });
    expect(await small.textContent()).toContain("8,000 tokens, stated");
    await small.getByRole("button", { name: "Test" }).press("Enter");
    await small.getByText("It answers: the first word after").waitFor();
    model.fails = true;
    await small.getByRole("button", { name: "Test" }).press("Enter");
    await small.getByText("the server is on fire").waitFor();
    model.fails = false;
    const { acts } = (await (await signIn(room.url, room.token)).ask("/gateway/v1/acts")).json;
    expect(acts[0]).toMatchObject({ act: "console_link" });
    expect(acts.find(({ act }: { act: string }) => act === "model_test")).toMatchObject({
      subject: "own/small",
      end: "done",
    });
    await page.context().close();
  });

  test("a budget is raised for today, and one that does not exist is not", async () => {
    const page = await room.open();
    await page.getByRole("link", { name: "Usage" }).press("Enter");
    const more = page.getByLabel("More for budget.perDayTokens, in tokens");
    await more.fill("500");
    await page.getByRole("button", { name: "Add today" }).press("Enter");
    await page.getByText("Added 500 for today.").waitFor();
    await page.getByText("of 1,500 tokens today").waitFor();
    const admin = await signIn(room.url, room.token);
    const add = (body: object) => admin.ask("/gateway/v1/budgets/add", { body });
    expect((await add({ amount: 2, unit: "usd", period: "day" })).json.code).toBe("not_found");
    for (const wrong of [
      { amount: -1 },
      { amount: 0.5 },
      { amount: "5" },
      { unit: "eur" },
      { period: "year" },
      { agent: "x" },
    ])
      expect([wrong, (await add({ amount: 5, unit: "tokens", period: "day", ...wrong })).status]).toEqual([wrong, 400]);
    const operator = await signIn(room.url, room.token, "operate");
    expect((await operator.ask("/gateway/v1/budgets/add", { body: {} })).status).toBe(403);
    await page.context().close();
  });

  test("a schedule runs now, pauses and goes on, by the functions of its commands", async () => {
    const page = await room.open("operate");
    await room.show(page, "plugins");
    const morning = page.getByRole("article", { name: "morning" });
    const sent = loopback.sent.length;
    await morning.getByRole("button", { name: "Run now" }).press("Enter");
    await page.getByText("schedule morning runs now.").waitFor();
    await loopback.sentCount(sent + 1);
    expect(loopback.sent.at(-1)?.text).toBe("Good morning");
    await morning.getByRole("button", { name: "Pause" }).press("Enter");
    await morning.getByText("paused", { exact: true }).waitFor();
    await morning.getByRole("button", { name: "Resume" }).press("Enter");
    await morning.getByText("on", { exact: true }).waitFor();
    expect(await page.getByRole("button", { name: "Switch off" }).count()).toBe(0);
    await page.context().close();
  });

  test("a plugin is switched off in the configuration, which waits for a restart", async () => {
    const page = await room.open();
    await room.show(page, "plugins");
    await page.getByRole("button", { name: "Switch off the plugin schedule" }).press("Enter");
    await page.getByRole("dialog").getByRole("button", { name: "Switch off" }).press("Enter");
    await page.getByText("Takes effect after a restart: plugins").waitFor();
    expect(room.home.gateway.config().plugins.entries.schedule?.enabled).toBe(false);
    await page.getByRole("link", { name: "Configuration", exact: true }).first().press("Enter");
    await page.getByRole("button", { name: "Restart the gateway" }).press("Enter");
    await page.getByRole("dialog").getByRole("button", { name: "Restart the gateway" }).press("Enter");
    // The program around this gateway is a test, which has no way to start it again.
    await page.getByText("cannot be restarted").waitFor();
    room.complaints.splice(0);
    await page.context().close();
  });

  test("lines of the log come by themselves, and wait while the page is paused", async () => {
    const page = await room.open();
    await room.show(page, "logs");
    await page.getByText("the gateway is up").waitFor();
    const lines = page.locator(".log");
    await room.home.settled(await loopback.say("one more"));
    await expect.poll(() => lines.first().textContent()).toContain("channel=loopback");
    const count = await lines.count();
    await page.getByRole("button", { name: "Pause" }).press("Enter");
    await room.home.settled(await loopback.say("while it is paused"));
    await page.getByRole("button", { name: "Go on (1 new)" }).waitFor();
    expect(await lines.count()).toBe(count);
    await page.getByRole("button", { name: "Go on" }).press("Enter");
    await expect.poll(() => lines.count()).toBe(count + 1);
    // Another screen needs no lines, and hears of events as before.
    await room.show(page, "events");
    const event = await loopback.say("after it");
    await room.home.settled(event);
    await page.getByRole("button", { name: /has ended|have ended/ }).waitFor();
    await page.context().close();
  });

  test("nothing is wrong with the accessibility, and nothing of a screen loads before it is visited", async () => {
    for (const shape of shapes) {
      const loaded: string[] = [];
      const page = await room.open("admin", shape);
      page.on("request", (request) => void loaded.push(new URL(request.url()).pathname));
      for (const screen of ["models", "usage", "plugins", "logs", ""]) {
        expect(loaded).not.toContain(`/console/${screen}.js`);
        await room.show(page, screen);
        const judged = await room.judge(page, `operating-${screen || "overview"}`);
        expect([screen, shape.viewport.width, judged]).toEqual([
          screen,
          shape.viewport.width,
          { found: [], isWide: false },
        ]);
      }
      await page.context().close();
    }
    expect(room.complaints).toEqual([]);
  });
});
