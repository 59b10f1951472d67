import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import consolePlugin from "../../../plugins/console/index.ts";
import { askAs, signIn } from "../../support/browser-client.ts";
import { createLoopback, repeat } from "../../support/gateway.ts";
import { type ConsoleRoom, leftOut, openConsole, shapes } from "./browser.ts";

const token = "a-hook-token-of-thirty-characters";
const signing = "a-signing-secret-of-a-sender-1";
const hostile = `<img src=x onerror="document.title='hacked'">`;

const written = `{
  "gateway": { "port": 0, "drainSeconds": 2 }, // as the test started it
  "state": { "dir": "state" },
  "agents": { "defaults": { "engine": "scripted" } },
  "channels": { "loopback": { "dmPolicy": "open", "allowFrom": ["*"] } },
  "hooks": {
    "enabled": true,
    "token": "${token}",
    "mappings": [
      // Issues of the tracker.
      {
        "id": "issues",
        "match": { "path": "issues" },
        /* what the agent reads */
        "messageTemplate": "Issue {{ title }}",
        "transform": { "module": "shorten.mjs" }, // ours
        "deliver": false,
      },
      { "id": "signed", "match": { "path": "signed" }, "messageTemplate": "{{ text }}", "deliver": false,
        "signature": { "scheme": "github", "secret": "${signing}" } },
    ],
  },
}
`;

describe.skipIf(leftOut !== "")(`deliveries and the workbench, in the console${leftOut}`, () => {
  const loopback = createLoopback();
  let room: ConsoleRoom;
  let file: string;

  const post = (path: string, body: object, authorization = `Bearer ${token}`) =>
    askAs(room.url, `/hooks/${path}`, { body, headers: { authorization, "content-type": "application/json" } });
  const text = () => readFileSync(file, "utf8");
  const field = (page: Page, name: string) => page.getByLabel(name, { exact: false });

  beforeAll(async () => {
    room = await openConsole({
      config: { gateway: { port: 0, drainSeconds: 2 } },
      plugins: [loopback.plugin, repeat, consolePlugin],
    });
    file = join(room.home.directory, "config.jsonc");
    mkdirSync(join(room.home.directory, "transforms"), { recursive: true });
    writeFileSync(
      join(room.home.directory, "transforms", "shorten.mjs"),
      'export default ({ payload }) => (payload.skip ? null : { message: "short: " + payload.title });\n',
    );
    writeFileSync(file, written);
    const reloaded = await askAs(room.url, "/gateway/reload", {
      body: {},
      headers: { authorization: `Bearer ${room.token}`, "content-type": "application/json" },
    });
    expect(reloaded.json).toMatchObject({ ok: true, problems: [] });
    const accepted = await post("issues", { title: `It broke ${hostile}` });
    expect(accepted.status).toBe(202);
    await post("issues", { title: "x" }, "Bearer wrong-token-wrong-token-wrong");
  }, 60_000);

  afterAll(() => room?.close());

  test("deliveries and refused requests are listed, and one shows its request and leads to why", async () => {
    const page = await room.open("view");
    await page.getByRole("link", { name: "Deliveries" }).press("Enter");
    await page
      .getByRole("link", { name: /issues/ })
      .first()
      .press("Enter");
    await page.getByRole("heading", { name: "Request" }).waitFor();
    expect(await page.getByLabel("Payload").textContent()).toContain(`It broke ${hostile.replaceAll('"', '\\"')}`);
    expect(await page.locator("main").textContent()).not.toContain(token);
    expect(await page.getByRole("button", { name: "Run through" }).count()).toBe(0);
    await page.getByRole("link", { name: "Why" }).press("Enter");
    await page.getByRole("heading", { name: "What was decided" }).waitFor();
    await room.show(page, "deliveries?view=refused");
    await expect.poll(() => page.locator(".refused").first().textContent()).toContain("401 unauthorized");
    await page.context().close();
  });

  test("a recorded delivery is tried on an edited mapping, which is saved without another change", async () => {
    const page = await room.open();
    await room.show(page, "deliveries");
    await page
      .getByRole("link", { name: /issues/ })
      .first()
      .press("Enter");
    await page.getByRole("link", { name: "Open in the workbench" }).press("Enter");
    await expect.poll(() => field(page, "Payload").inputValue()).toContain("$delivery");
    await page.getByRole("button", { name: "Try" }).press("Enter");
    await page.getByText("One agent run by issues").waitFor();
    expect(await page.locator(".result").textContent()).toContain("shorten.mjs returned");
    await page.getByRole("combobox", { name: "Mapping" }).selectOption("hooks.mappings[0]");
    const mapping = field(page, "Text");
    expect(await mapping.inputValue()).toBe(
      written
        .slice(written.indexOf('{\n        "id": "issues"'), written.indexOf("      },\n") + 7)
        .replaceAll("\n      ", "\n"),
    );
    await mapping.fill((await mapping.inputValue()).replace("Issue {{ title }}", "Look at {{ titel }}"));
    await page.getByRole("button", { name: "Try" }).press("Enter");
    // What the edit changes is beside what it was.
    const changed = page.locator(".result del").first();
    await changed.waitFor();
    expect(await changed.textContent()).toContain("Issue It broke");
    expect(await page.locator(".result").textContent()).toContain("Look at");
    expect(text()).toBe(written);
    await mapping.fill((await mapping.inputValue()).replace("titel", "title"));
    await page.getByRole("button", { name: "Save the mapping" }).press("Enter");
    await page.getByText("hooks.mappings[0] is saved.").waitFor();
    expect(text()).toBe(written.replace("Issue {{ title }}", "Look at {{ title }}"));
    expect(room.home.gateway.config().hooks.mappings[0]?.messageTemplate).toBe("Look at {{ title }}");
    // The next one is added behind the last, with its comments.
    await page.getByRole("combobox", { name: "Mapping" }).selectOption("hooks.mappings[2]");
    await mapping.fill('{\n  // new\n  "match": { "path": "news" },\n  "messageTemplate": "{{ text }}"\n}');
    await page.getByRole("button", { name: "Save the mapping" }).press("Enter");
    await page.getByText("hooks.mappings[2] is saved.").waitFor();
    expect(text()).toContain('"secret": "a-signing-secret-of-a-sender-1" } },\n      {\n        // new\n');
    expect((await post("news", { text: "hello" })).status).toBe(202);
    await page.context().close();
  });

  test("a secret of a mapping never reaches the page, and stays when another value is saved", async () => {
    const before = text();
    const page = await room.open();
    const answers: string[] = [];
    page.on("response", async (response) => {
      if (response.url().includes("/gateway/v1/")) answers.push(await response.text().catch(() => ""));
    });
    await room.show(page, "workbench?mapping=hooks.mappings[1]");
    const mapping = field(page, "Text");
    await expect.poll(() => mapping.inputValue()).toContain('"secret": "(hidden secret 2)"');
    await mapping.fill((await mapping.inputValue()).replace("{{ text }}", "{{ text }}!"));
    await page.getByRole("button", { name: "Save the mapping" }).press("Enter");
    await page.getByText("hooks.mappings[1] is saved.").waitFor();
    expect(text()).toBe(before.replace('"{{ text }}", "deliver"', '"{{ text }}!", "deliver"'));
    // A placeholder in another place would show its secret.
    await mapping.fill((await mapping.inputValue()).replace("{{ text }}!", "(hidden secret 1)"));
    await page.getByRole("button", { name: "Save the mapping" }).press("Enter");
    await page.getByText("a placeholder stands for one secret").waitFor();
    expect(answers.length).toBeGreaterThan(3);
    expect(answers.filter((answer) => answer.includes(signing) || answer.includes(token))).toEqual([]);
    await page.context().close();
  });

  test("the second of two editors reads about the first, and an error in a mapping has its place", async () => {
    const before = text();
    const [page, other] = [await room.open(), await signIn(room.url, room.token)];
    await room.show(page, "workbench?mapping=hooks.mappings[0]");
    const mapping = field(page, "Text");
    await mapping.fill((await mapping.inputValue()).replace('"Look at', '"Mine:'));
    const set = { changes: [{ path: "agents.defaults.timezone", value: "Europe/Berlin" }] };
    expect((await other.ask("/gateway/v1/config/set", { body: set })).json).toMatchObject({ ok: true, changed: true });
    await page.getByRole("button", { name: "Save the mapping" }).press("Enter");
    await page.getByRole("alert").getByText("The configuration was changed since it was read.").waitFor();
    expect(text()).not.toContain("Mine:");
    const { digest, mappings } = (await other.ask("/gateway/v1/hooks/mappings")).json;
    const save = (edited: string) =>
      other.ask("/gateway/v1/hooks/mappings", {
        body: { edited: { base: digest, at: "hooks.mappings[0]", text: edited } },
      });
    const broken = await save(mappings[0].text.replace("shorten.mjs", "../outside.mjs"));
    expect(broken.json).toMatchObject({
      ok: false,
      code: "config_invalid",
      path: expect.stringContaining("hooks.mappings[0].transform"),
    });
    const unread = await save("{ match: 1 }");
    expect(unread.json).toMatchObject({ code: "config_syntax", line: 1 });
    expect((await save('{ "id": "a" }, { "id": "b" }')).json).toMatchObject({ code: "config_syntax" });
    expect(text().length).toBeGreaterThan(before.length);
    room.complaints.splice(0);
    await page.context().close();
  });

  test("who may only look tries nothing, and an operator tries only what is saved", async () => {
    const viewer = await signIn(room.url, room.token, "view");
    const operator = await signIn(room.url, room.token, "operate");
    const body = { path: "issues", delivery: '{ "title": "a", "skip": true }' };
    expect((await viewer.ask("/gateway/v1/hooks/test", { body })).status).toBe(403);
    const tried = await operator.ask("/gateway/v1/hooks/test", { body });
    expect(tried.json.result).toMatchObject({ nothing: "transform_ignored", runs: [] });
    const page = await room.open("operate");
    await room.show(page, "workbench");
    await field(page, "Path").fill("issues");
    await page.getByRole("button", { name: "Try" }).press("Enter");
    await page.getByText("One agent run by issues").waitFor();
    expect(await page.getByRole("combobox", { name: "Mapping" }).count()).toBe(0);
    await page.context().close();
    const edited = { base: "", at: "hooks.mappings[0]", text: "{}" };
    expect((await operator.ask("/gateway/v1/hooks/test", { body: { ...body, edited } })).json.code).toBe(
      "role_too_low",
    );
    expect((await operator.ask("/gateway/v1/hooks/mappings", { body: { edited } })).status).toBe(403);
  });

  test("what strangers send is text, and nothing is wrong with the accessibility", async () => {
    for (const shape of shapes) {
      const page = await room.open("admin", shape);
      await room.show(page, "deliveries");
      await page
        .getByRole("link", { name: /issues/ })
        .first()
        .waitFor();
      const { json } = await (await signIn(room.url, room.token)).ask("/gateway/v1/deliveries");
      const issue = json.deliveries.find(({ hook }: { hook: string }) => hook === "issues");
      for (const screen of [
        "deliveries",
        "deliveries?view=refused",
        `deliveries/${issue.id}`,
        `workbench?delivery=${issue.id}&mapping=hooks.mappings[0]`,
      ]) {
        await room.show(page, screen);
        if (screen.startsWith("workbench")) {
          await expect.poll(() => field(page, "Payload").inputValue()).toContain("$delivery");
          await page.getByRole("button", { name: "Try" }).click();
          await page.locator(".result").waitFor();
        }
        expect(await page.title()).not.toContain("hacked");
        const judged = await room.judge(page, screen.replaceAll(/\W.*/g, "") + screen.length);
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
