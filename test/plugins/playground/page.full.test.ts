import { existsSync } from "node:fs";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ada, kitchen, openPlatform, pause, png, type TestPlatform, workshop } from "./client.ts";

const chrome = "/usr/bin/chromium";
const reason = existsSync(chrome) ? "" : ` (left out: ${chrome} is not installed)`;
if (reason !== "") console.log(`the chat page in a browser is not tested${reason}`);

const args = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--no-first-run",
  "--disable-component-update",
  "--disable-sync",
];

/** A bot of a few lines: grows an answer by edits, puts buttons below it, notices presses. */
function runBot(home: TestPlatform, signal: AbortSignal): Promise<void> {
  const answer = async (chat_id: number, text: string) => {
    await home.call("sendChatAction", { chat_id, action: "typing" });
    const { message_id } = (await home.call("sendMessage", { chat_id, text: "You" })).result;
    for (const grown of ["You said", `You said <b>${text}</b>`]) {
      await pause(30);
      await home.call("editMessageText", { chat_id, message_id, text: grown, parse_mode: "HTML" });
    }
    const reply_markup = { inline_keyboard: [[{ text: "Again", callback_data: "again" }]] };
    await home.call("editMessageReplyMarkup", { chat_id, message_id, reply_markup });
  };
  return (async () => {
    let offset = 0;
    while (!signal.aborted) {
      for (const update of (await home.call("getUpdates", { offset, timeout: 1 })).result ?? []) {
        offset = update.update_id + 1;
        if (update.message?.text) await answer(update.message.chat.id, update.message.text);
        const press = update.callback_query;
        if (press)
          await home.call("answerCallbackQuery", { callback_query_id: press.id, text: `Pressed ${press.data}` });
      }
    }
  })();
}

/** Runs in the page, where the types of this project do not reach. */
const audit = `(() => {
  const all = [...document.querySelectorAll("button, a[href], input, select, textarea, [role=tab], [role=option], [role=radio]")];
  const named = (node) =>
    [node.getAttribute("aria-label"), node.textContent, node.getAttribute("title")].some((text) => (text ?? "").trim() !== "") ||
    (node.labels?.length ?? 0) > 0;
  const ids = [...document.querySelectorAll("[id]")].map((node) => node.id);
  const names = ["aria-labelledby", "aria-controls", "for"];
  const points = [...document.querySelectorAll("[aria-labelledby], [aria-controls], label[for]")].flatMap((node) =>
    names.map((name) => node.getAttribute(name)).filter(Boolean),
  );
  return [
    ...all.filter((node) => !named(node)).map((node) => "no name: " + node.outerHTML.slice(0, 120)),
    ...ids.filter((id, index) => ids.indexOf(id) !== index).map((id) => "twice: " + id),
    ...points.filter((id) => document.getElementById(id) === null).map((id) => "points nowhere: " + id),
    ...[...document.querySelectorAll("img:not([alt])")].map(() => "img without alt"),
  ];
})()`;

describe.skipIf(reason !== "")(`the chat page${reason}`, () => {
  let browser: Browser;
  let home: TestPlatform;
  let page: Page;
  let running: Promise<void>;
  const stop = new AbortController();
  const complaints: string[] = [];

  const watch = (opened: Page): void => {
    opened.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
    });
    opened.on("pageerror", (error) => complaints.push(error.message));
    opened.on("request", (request) => {
      if (!request.url().startsWith(home.platform.url) && !request.url().startsWith("blob:"))
        complaints.push(`request to ${request.url()}`);
    });
  };
  const last = (text: string | RegExp) => page.locator("article").filter({ hasText: text }).last();
  const focused = () => page.evaluate<string>("document.activeElement?.getAttribute('aria-label') ?? ''");

  beforeAll(async () => {
    home = await openPlatform();
    await home.call("setMyCommands", {
      commands: [
        { command: "help", description: "Shows help" },
        { command: "status", description: "Shows what runs" },
      ],
    });
    running = runBot(home, stop.signal);
    browser = await chromium.launch({ executablePath: chrome, args });
    page = await (await browser.newContext({ viewport: { width: 1200, height: 800 } })).newPage();
    watch(page);
    await page.goto(home.platform.url);
    await page.getByText("Connected").waitFor();
  }, 60_000);

  afterAll(async () => {
    await browser?.close();
    stop.abort();
    await home?.platform.close();
    await running?.catch(() => undefined);
  });

  test("Ada writes by keyboard and sees a formatted answer grow", async () => {
    const entry = page.getByLabel("Message", { exact: true });
    await entry.focus();
    await page.keyboard.type("first line");
    await page.keyboard.press("Shift+Enter");
    await page.keyboard.type("second line");
    await page.keyboard.press("Enter");
    await last("You said").waitFor();
    const answer = page.locator("article.theirs").filter({ hasText: "first line" }).last();
    await answer.waitFor();
    expect(await answer.locator("strong").textContent()).toBe("first line\nsecond line");
    await expect.poll(() => answer.locator(".meta").textContent()).toMatch(/^edited/);
    expect(await entry.inputValue()).toBe("");
  });

  test("a pressed button reaches the bot, and its notice is shown", async () => {
    const button = page.getByRole("button", { name: "Again" }).last();
    await button.click();
    await page.getByText("Pressed again").waitFor();
    await expect.poll(() => button.getAttribute("aria-busy")).toBeNull();
  });

  test("a slash opens the commands, arrows select one, and Enter inserts and sends it", async () => {
    await page.getByLabel("Message", { exact: true }).focus();
    await page.keyboard.type("/");
    expect(await page.getByRole("option").allTextContents()).toEqual(["/helpShows help", "/statusShows what runs"]);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    expect(await page.getByLabel("Message", { exact: true }).inputValue()).toBe("/status ");
    await page.keyboard.press("Enter");
    await last(/^You said \/status/).waitFor();
  });

  test("arrow up edits the latest own message, and Escape cancels the edit", async () => {
    const entry = page.getByLabel("Message", { exact: true });
    await entry.focus();
    await page.keyboard.press("ArrowUp");
    expect(await entry.inputValue()).toBe("/status");
    await page.keyboard.press("Escape");
    expect(await entry.inputValue()).toBe("");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.type(" now");
    await page.keyboard.press("Enter");
    await page.locator("article.mine").filter({ hasText: "/status now" }).waitFor();
  });

  test("reactions can be set by keyboard and are shown, including the bot's", async () => {
    const answer = page.locator("article.theirs").first();
    await answer.focus();
    for (let steps = 0; steps < 9 && !(await focused()).startsWith("React"); steps += 1)
      await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Enter");
    await answer.getByRole("group", { name: "Reactions" }).getByRole("button").waitFor();
    await home.call("setMessageReaction", { chat_id: ada, message_id: 1, reaction: [{ type: "emoji", emoji: "👀" }] });
    await page.getByRole("button", { name: "👀 by House" }).waitFor();
  });

  test("the log is one Tab stop; arrows select a message and its controls, and Escape goes back one step", async () => {
    const entry = page.getByLabel("Message", { exact: true });
    const stops = () =>
      page.evaluate<number>("[...document.querySelectorAll('#log *')].filter((node) => node.tabIndex === 0).length");
    expect(await stops()).toBe(1);
    await page.locator("article").last().focus();
    await page.keyboard.press("ArrowUp");
    const place = await focused();
    expect(place).toMatch(/^(?:You|House), /);
    await page.keyboard.press("ArrowRight");
    expect(await focused()).not.toBe(place);
    expect(await stops()).toBe(1);
    await page.keyboard.press("Escape");
    expect(await focused()).toBe(place);
    await page.keyboard.press("Escape");
    expect(await focused()).toBe("Message");
    await page.keyboard.press("Shift+Tab");
    while (!(await page.evaluate<boolean>("document.getElementById('log').contains(document.activeElement)")))
      await page.keyboard.press("Shift+Tab");
    expect(await focused(), "Tab comes back to the message that was chosen").toBe(place);
    await entry.focus();
  });

  test("a picture fills its bubble with any caption, and an album is one message with a grid", async () => {
    const send = (chat_id: number, caption: string, width: number) =>
      home.form("sendPhoto", {
        chat_id: String(chat_id),
        caption,
        photo: new File([new Uint8Array(png(width, 200))], "a.png", { type: "image/png" }),
      });
    await send(ada, "short", 300);
    await send(ada, "a caption that is much longer than the picture above it is wide, and wraps", 300);
    const shown = page.locator("article.theirs img.photo");
    await shown.nth(1).waitFor();
    for (const index of [0, 1]) {
      const widths = await page.evaluate<readonly number[]>(
        `(() => { const node = document.querySelectorAll("article.theirs img.photo")[${index}]; return ` +
          "[node.parentElement.clientWidth, node.clientWidth]; })()",
      );
      const gap = (widths[0] ?? 0) - (widths[1] ?? 0);
      expect(gap).toBeLessThan(20);
    }
    const media = [1, 2, 3].map((part) => ({
      type: "photo",
      media: `attach://p${part}`,
      ...(part === 1 ? { caption: "three" } : {}),
    }));
    const files = Object.fromEntries(
      [1, 2, 3].map((part) => [
        `p${part}`,
        new File([new Uint8Array(png(300, 200))], `${part}.png`, { type: "image/png" }),
      ]),
    );
    expect(
      (await home.form("sendMediaGroup", { chat_id: String(ada), media: JSON.stringify(media), ...files })).ok,
    ).toBe(true);
    const album = page.locator("article").filter({ hasText: "three" });
    await expect.poll(() => album.locator(".album img").count()).toBe(3);
    const tops = await page.evaluate<readonly number[]>(
      "[...document.querySelectorAll('.album img')].map((one) => one.getBoundingClientRect().top)",
    );
    expect(new Set(tops).size, "beside each other").toBe(1);
  });

  test("the controls of a long answer stay visible, and the quote of a reply leads to its message", async () => {
    const text = Array.from({ length: 90 }, (_, line) => `line ${line}`).join("\n");
    const asked = home.platform.act.say(ada, ada, "a long one, please");
    await home.call("sendMessage", { chat_id: ada, text, reply_parameters: { message_id: asked.message_id } });
    const long = page.locator("article.theirs").filter({ hasText: "line 89" });
    await long.waitFor();
    await page.evaluate("document.getElementById('scroll').scrollTop = 1e9");
    await long.focus();
    const box = await long.locator(".tools").boundingBox();
    expect(box?.y).toBeGreaterThan(0);
    expect(box?.y).toBeLessThan(800);
    await long.getByRole("button", { name: "Answers Ada" }).click();
    await expect.poll(() => page.locator("article.mine.found").textContent()).toContain("a long one, please");
  });

  test("a reply shows the message that it answers", async () => {
    const answer = page.locator("article.theirs").first();
    await answer.hover();
    await answer.getByRole("button", { name: "Reply" }).click();
    await page.keyboard.type("to that");
    await page.keyboard.press("Enter");
    const mine = page.locator("article.mine").filter({ hasText: "to that" });
    expect(await mine.getByRole("button", { name: "Answers House" }).textContent()).toContain("You said");
  });

  test("files can be sent from the page, and received ones are shown", async () => {
    await page.locator("#file").setInputFiles({ name: "dot.png", mimeType: "image/png", buffer: png(20, 10) });
    await page.getByText("dot.png").waitFor();
    await page.getByRole("button", { name: "Send" }).click();
    await page.locator("article.mine img.photo").waitFor();
    const document = new File(["hello"], "note.txt", { type: "text/plain" });
    await home.form("sendDocument", { chat_id: String(ada), document });
    expect(await page.getByRole("link", { name: /note\.txt/ }).getAttribute("download")).toBe("note.txt");
  });

  test("arrows select another chat, and unread messages are marked", async () => {
    home.platform.act.say(1002, kitchen, "bread?");
    await page.getByLabel("1 unread").first().waitFor();
    await page.locator(".chat[aria-current]").focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Kitchen table" }).waitFor();
    await last("bread?").waitFor();
    expect(await page.locator(".chat[aria-current] .badge").count()).toBe(0);
  });

  test("arrows change the current person, and each has their own direct chat", async () => {
    await page.getByRole("radio", { name: "Ada" }).focus();
    await page.keyboard.press("ArrowRight");
    expect(await page.getByRole("radio", { name: "Bela" }).getAttribute("aria-checked")).toBe("true");
    await page.locator(".chat").first().click();
    await page.getByText(/^This is a chat platform for trying the gateway/).waitFor();
    await page.getByRole("button", { name: "Send /start" }).click();
    await last("You said /start").waitFor();
  });

  test("a forum shows its topics as tabs, and a message stays in its own", async () => {
    await page.locator(".chat").filter({ hasText: "Workshop" }).click();
    await page.getByRole("tab", { name: "Ideas" }).click();
    await page.keyboard.type("@house_bot in ideas");
    await page.keyboard.press("Enter");
    await last("You said @house_bot in ideas").waitFor({ state: "detached" });
    await page.locator("article.mine").filter({ hasText: "in ideas" }).waitFor();
    await page.getByRole("tab", { name: /^General/ }).click();
    await last("You said @house_bot in ideas").waitFor();
    expect(
      [...(home.platform.world.group(workshop)?.messages.values() ?? [])].some((message) => message.is_topic_message),
    ).toBe(true);
  });

  test("the developer drawer shows calls and injects faults", async () => {
    await page.getByRole("button", { name: "Developer drawer" }).click();
    const group = page.locator("details.group").filter({ hasText: "Bela: @house_bot in ideas" });
    const sent = group.locator("details.call").filter({ hasText: "sendMessage" });
    await sent.first().waitFor();
    await sent.first().click();
    expect(await sent.first().getByLabel("Answer of sendMessage").textContent()).toContain('"ok": true');
    await page.getByRole("tab", { name: "Faults" }).click();
    await page.getByLabel("Method").selectOption("sendPhoto");
    await page.getByLabel("What happens").selectOption("flood");
    await page.getByLabel("Seconds to wait").fill("9");
    await page.getByRole("button", { name: "Add fault" }).click();
    await page.getByText("sendPhoto · 1 left").waitFor();
    expect(home.platform.faults.list()).toEqual([{ method: "sendPhoto", kind: "flood", times: 1, retryAfter: 9 }]);
    await page.getByRole("button", { name: "Clear all" }).click();
    await page.getByText("No fault is set").waitFor();
    await page.keyboard.press("Escape");
    expect(await page.locator("#drawer").isHidden()).toBe(true);
    expect(await focused(), "where the drawer was opened").toBe("Developer drawer");
    await page.keyboard.press("Enter");
    await page.getByLabel("Message", { exact: true }).focus();
    await page.keyboard.press("Escape");
    expect(await page.locator("#drawer").isHidden()).toBe(true);
    expect(await focused(), "who writes goes on writing").toBe("Message");
  });

  test("markup in a message is shown as text", async () => {
    await page.locator(".chat").first().click();
    await home.call("sendMessage", { chat_id: 1002, text: '<img src=x onerror="document.title=1"><script>1</script>' });
    await page.locator("#log").getByText("<script>1</script>").waitFor();
    expect(await page.locator("#log img, #log script").count()).toBe(0);
  });

  test("every control has a name, every id is unique, and every label refers to a control", async () => {
    const faults = await page.evaluate<readonly string[]>(audit);
    expect(faults).toEqual([]);
  });

  test("a phone shows one column with the list, then the chat, and can go back", async () => {
    const phone = await (
      await browser.newContext({ viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true })
    ).newPage();
    watch(phone);
    await phone.goto(home.platform.url);
    await phone.locator(".chat").first().tap();
    expect(await phone.locator(".side").isHidden()).toBe(true);
    expect(await phone.evaluate<boolean>("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    await phone.getByRole("button", { name: "Back to the chats" }).tap();
    expect(await phone.locator(".room").isHidden()).toBe(true);
    await phone.context().close();
  });

  test("the page reconnects with the new state after the platform was down", async () => {
    const first = await openPlatform();
    const { port } = new URL(first.platform.url);
    const other = await (await browser.newContext()).newPage();
    await other.goto(first.platform.url);
    await other.getByText("Connected").waitFor();
    await first.platform.close();
    await other.getByText("Connecting…").waitFor();
    await using second = await openPlatform({ port: Number(port) });
    second.platform.act.say(ada, ada, "while you were away");
    await other.locator("article.mine").filter({ hasText: "while you were away" }).waitFor();
    await other.context().close();
  });

  test("text typed before the chats load is preserved and sent by the next Enter", async () => {
    const early = await (await browser.newContext()).newPage();
    watch(early);
    const loaded = Promise.withResolvers<void>();
    await early.route("**/_playground/state", async (route) => {
      await loaded.promise;
      await route.continue();
    });
    await early.goto(home.platform.url);
    const entry = early.getByLabel("Message", { exact: true });
    await entry.fill("an early word");
    for (const key of ["Enter", "ArrowUp"]) await entry.press(key);
    expect(await early.getByText("Connected", { exact: true }).count()).toBe(0);
    loaded.resolve();
    await early.getByText("Connected", { exact: true }).waitFor();
    expect(await entry.inputValue()).toBe("an early word");
    await entry.press("Enter");
    await early.locator("article").filter({ hasText: "You said an early word" }).last().waitFor();
  });

  test("the browser reports no error, no policy violation and no request to another host", () => {
    expect(complaints).toEqual([]);
  });
});
