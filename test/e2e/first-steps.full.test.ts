/** What a newcomer does with `npm start`, in a real browser, with the commands that the program prints. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { temporaryHome } from "../core/cli/command.ts";
import { run } from "../core/cli/command-runner.ts";
import { startGateway } from "../core/cli/gateway-runner.ts";

const browserPath = process.env.CHROMIUM_PATH ?? "/usr/bin/chromium";
const available = existsSync(browserPath);
if (!available) console.warn(`left out: no browser at ${browserPath}; set CHROMIUM_PATH or install chromium`);

const chromiumFlags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

let browser: Browser;

beforeAll(async () => {
  if (available) browser = await chromium.launch({ executablePath: browserPath, args: chromiumFlags });
});

afterAll(async () => {
  await browser?.close();
});

async function write(page: Page, text: string): Promise<void> {
  await page.getByRole("textbox", { name: "Message" }).fill(text);
  await page.keyboard.press("Enter");
}

/**
 * Runs in the page: notes how long the bot's last message is, each time that it is longer, and begins anew with each
 * message.
 */
const noteLengths = `
  globalThis.lengths = [];
  let noted = 0;
  new MutationObserver(() => {
    const messages = [...document.querySelectorAll("article.theirs")];
    const length = messages.at(-1)?.textContent.length ?? 0;
    if (messages.length !== noted) globalThis.lengths = [];
    if (messages.length !== noted || length > globalThis.lengths.at(-1)) globalThis.lengths.push(length);
    noted = messages.length;
  }).observe(document.body, { subtree: true, childList: true, characterData: true });
`;

/** The commands of the welcome text, as they would be copied from the terminal. */
function printedCurl(welcome: string): readonly string[] {
  return [...welcome.matchAll(/curl -X POST (?:.*\\\n)+.*/g)].map(([command]) => command.trim());
}

describe.runIf(available)("the first steps of a new user", () => {
  test("open the page, pair there, chat in a group and forum, watch the preview grow, run the webhook, and ask why", {
    timeout: 150_000,
  }, async () => {
    const home = temporaryHome();
    const state = join(home, "dev");
    const why = async () => (await run(["why", "last", "--state", state], { home })).out;
    const dev = startGateway(["dev", "--state", state, "--port", "0", "--page-port", "0"], { home });
    const welcome = await dev.until(/channel connected/);
    const address = /Page\s+(http:\S+)/.exec(welcome)?.[1] ?? "";
    const page = await browser.newPage();
    const problems: string[] = [];
    page.on("console", (message) => {
      if (message.type() === "error") problems.push(message.text());
    });
    page.on("pageerror", (error) => problems.push(error.message));
    await page.goto(address);
    await page.getByText(/^You are Ada\. Bela and Chen are other people/).waitFor();
    const log = page.getByRole("log");
    const shown = async () => (await log.textContent()) ?? "";

    await page.getByRole("navigation", { name: "Chats" }).getByText("Playground bot").first().click();
    await write(page, "Hello, bot!");
    await expect.poll(shown).toMatch(/Pairing code: [A-Z2-9]{8}/);
    expect(await shown(), "the command that works in this clone").toMatch(
      /npm run -s service -- pairing approve botchat [A-Z2-9]{8}/,
    );
    await expect.poll(why, { interval: 100 }).toContain("pairing_required");

    // No terminal is needed from here on.
    await page.getByRole("button", { name: "Approve this code" }).click();
    await expect.poll(shown).toContain("You are approved");
    await page.reload();
    expect(
      await page.getByRole("button", { name: "Approved", exact: true }).isDisabled(),
      "a used code is not offered again",
    ).toBe(true);
    await write(page, "Who are you?");
    await page.getByRole("button", { name: "show album" }).click();
    await expect.poll(() => log.locator(".album img").count()).toBe(3);
    const chats = page.getByRole("navigation", { name: "Chats" });
    for (const name of ["Kitchen table", "Workshop"]) {
      await chats.getByText(name).click();
      await write(page, "/status@playground_bot");
      await expect.poll(shown).toContain("Session:");
      await write(page, "@playground_bot show reply");
      await log.getByRole("button", { name: "Answers Ada" }).waitFor();
    }
    await chats.getByText("Playground bot").first().click();
    await page.evaluate(noteLengths);
    // A preview is edited once a second: a machine that is too busy for that is asked again, for a longer answer.
    let lengths: readonly number[] = [];
    for (let times = 1; times <= 3 && lengths.length < 3; times += 1) {
      const places = Array.from({ length: 16 * times }, (_, index) => `in place ${index + 1} and by the sea`);
      await write(page, `Tell me about the weather ${places.join(", ")}, in as many words as you like: ${times}.`);
      await expect
        .poll(async () => (await shown()).split(`in as many words as you like: ${times}.`).length - 1)
        .toBeGreaterThanOrEqual(2);
      lengths = await page.evaluate<number[]>("globalThis.lengths");
    }
    expect(lengths.length, "the answer grew in steps").toBeGreaterThanOrEqual(3);

    const [agentCurl = "", wakeCurl = ""] = printedCurl(welcome);
    expect(wakeCurl).toContain("/hooks/wake");
    const before = await shown();
    const called = await promisify(execFile)("sh", ["-c", agentCurl], { encoding: "utf8" });
    expect(JSON.parse(called.stdout)).toMatchObject({ ok: true });
    await expect.poll(async () => (await shown()).slice(before.length)).toMatch(/Say hello/);

    // The text is shown before the end of its event is on disk.
    await expect.poll(why, { interval: 100 }).toMatch(/answered/);
    expect(problems).toEqual([]);
    dev.child.kill("SIGTERM");
    expect((await dev.finished).code).toBe(0);
  });
});
