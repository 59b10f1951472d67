import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import consolePlugin from "../../../plugins/console/index.ts";
import { askAs, signIn } from "../../support/browser-client.ts";
import { createLoopback, repeat } from "../../support/gateway.ts";
import { type ConsoleRoom, leftOut, openConsole, shapes } from "./browser.ts";

const secrets = ["a-hook-token-of-thirty-characters", "a-key-of-a-provider-000001", "an-old-key-in-a-comment-1"];
const [token, key, old] = secrets;
const written = `{
  // The gateway of the family.
  "gateway": { "port": 0, "drainSeconds": 2 },
  "state": { "dir": "state" },
  "agents": { "defaults": { "engine": "scripted" } }, /* echo */
  "channels": { "loopback": { "dmPolicy": "open", "allowFrom": ["*"], } },
  "models": {
    "providers": {
      "own": {
        "baseUrl": "http://127.0.0.1:9/v1",
        // "apiKey": "${old}",
        "apiKey":   "${key}",
        "headers": { "x-team": { "env": "TEAM" } }
      }
    }
  },
  "hooks": { "enabled": true, "token": "${token}" }
}
`;

describe.skipIf(leftOut !== "")(`the configuration, in the console${leftOut}`, () => {
  const loopback = createLoopback();
  let room: ConsoleRoom;
  let file: string;
  const text = () => readFileSync(file, "utf8");
  const answers: string[] = [];

  beforeAll(async () => {
    room = await openConsole({
      config: { gateway: { port: 0, drainSeconds: 2 } },
      plugins: [loopback.plugin, repeat, consolePlugin],
      gateway: { environment: { ...process.env, TEAM: "blue-team-header-value" } },
    });
    file = join(room.home.directory, "config.jsonc");
    writeFileSync(file, written);
    const headers = { authorization: `Bearer ${room.token}`, "content-type": "application/json" };
    expect((await askAs(room.url, "/gateway/reload", { body: {}, headers })).json.ok).toBe(true);
  }, 60_000);

  afterAll(() => room?.close());

  async function open(role?: string) {
    const page = await room.open(role);
    page.on("response", async (response) => {
      if (response.url().includes("/gateway/v1/")) answers.push(await response.text().catch(() => ""));
    });
    return page;
  }

  test("a value is changed in the form by keyboard, and every other byte of the file stays", async () => {
    const page = await open();
    await page.getByRole("link", { name: "Configuration" }).press("Enter");
    await page.getByRole("combobox", { name: "Section" }).selectOption("hooks");
    const field = page.getByLabel("maxBodyBytes", { exact: true });
    await field.fill("70000");
    await field.press("Tab");
    await page.getByText("1 changed: hooks.maxBodyBytes").waitFor();
    await page.getByRole("button", { name: "Save" }).press("Enter");
    await page.getByText("The configuration is saved.").waitFor();
    expect(text()).toBe(written.replace(`"token": "${token}" }`, `"token": "${token}", "maxBodyBytes": 70000 }`));
    expect(room.home.gateway.config().hooks.maxBodyBytes).toBe(70_000);
    // A secret is replaced without being shown.
    await page.getByLabel("hooks.token: how it is given").selectOption("text");
    await page.getByLabel("hooks.token: the secret itself").fill("another-token-of-thirty-characters");
    await page.getByRole("button", { name: "Save" }).press("Enter");
    await expect.poll(text).toContain('"token": "another-token-of-thirty-characters", "maxBodyBytes": 70000');
    await page.getByText("Nothing is changed.").waitFor();
    await page.getByLabel("maxBodyBytes", { exact: true }).fill("");
    await page.getByLabel("maxBodyBytes", { exact: true }).press("Tab");
    await page.getByRole("button", { name: "Save" }).press("Enter");
    await expect.poll(text).toBe(written.replace(String(token), "another-token-of-thirty-characters"));
    await page.context().close();
  });

  test("the text is edited with its comments, and shows what changes before it is saved", async () => {
    const before = text();
    const page = await open();
    await room.show(page, "config?as=text");
    const area = page.getByLabel("Text of the file");
    const shown = await area.inputValue();
    expect(shown).toContain('"apiKey":   "(hidden secret 2)"');
    expect(shown).toContain('// "apiKey": "(hidden secret 1)"');
    expect(shown).toContain('{ "env": "TEAM" }');
    await area.fill(shown.replace("of the family", "of the house"));
    await page.getByRole("button", { name: "Check" }).press("Enter");
    await page.getByText("It can be saved.").waitFor();
    expect(await page.getByLabel("Difference").textContent()).toBe(
      "-   // The gateway of the family.\n+   // The gateway of the house.\n",
    );
    expect(text()).toBe(before);
    await page.getByRole("button", { name: "Save" }).press("Enter");
    await page.getByText("The configuration is saved.").waitFor();
    expect(text()).toBe(before.replace("of the family", "of the house"));
    // With its line, and nothing is written.
    await area.fill(shown.replace('"dmPolicy": "open"', '"dmPolicy": "everyone"'));
    await page.getByRole("button", { name: "Save" }).press("Enter");
    await page.getByRole("alert").getByText("channels.loopback.dmPolicy").waitFor();
    expect(await page.getByRole("alert").textContent()).toContain("(line 6)");
    await area.fill(shown.replace('"hooks": {', '"hooks": '));
    await page.getByRole("button", { name: "Check" }).press("Enter");
    await expect.poll(() => page.getByRole("alert").textContent()).toContain("config.jsonc:17:22: a comma is missing");
    expect(text()).toBe(before.replace("of the family", "of the house"));
    room.complaints.splice(0);
    await page.context().close();
  });

  test("the second of two editors reads about the first, loses nothing, and can save after reading again", async () => {
    const page = await open();
    const other = await signIn(room.url, room.token);
    await room.show(page, "config?section=session");
    await page.getByRole("combobox", { name: "Section" }).selectOption("gateway");
    await page.getByLabel("drainSeconds", { exact: true }).fill("3");
    await page.getByLabel("drainSeconds", { exact: true }).press("Tab");
    const changes = [{ path: "agents.defaults.timezone", value: "Europe/Berlin" }];
    expect((await other.ask("/gateway/v1/config/set", { body: { changes } })).json.changed).toBe(true);
    await page.getByRole("button", { name: "Save" }).press("Enter");
    await page.getByRole("alert").getByText("The configuration was changed since it was read.").waitFor();
    expect(text()).toContain('"drainSeconds": 2');
    await page.getByRole("button", { name: "Read it again" }).press("Enter");
    await page.getByText("1 changed: gateway.drainSeconds").waitFor();
    await page.getByRole("button", { name: "Save" }).press("Enter");
    await page.getByText("The configuration is saved.").waitFor();
    expect(text()).toContain('"drainSeconds": 3');
    expect(text()).toContain('"timezone": "Europe/Berlin"');
    const { acts } = (await other.ask("/gateway/v1/acts")).json;
    expect(acts[0]).toMatchObject({ act: "config_set", subject: "gateway.drainSeconds", end: "done" });
    room.complaints.splice(0);
    await page.context().close();
  });

  test("a file with an error in its syntax shows no secret either, and is repaired in the console", async () => {
    const good = text();
    writeFileSync(file, good.replace('"hooks": {', '"hooks": '));
    const page = await open();
    await room.show(page, "config?as=text");
    const area = page.getByLabel("Text of the file");
    await area.fill((await area.inputValue()).replace('"hooks": ', '"hooks": {'));
    await page.getByRole("button", { name: "Save" }).press("Enter");
    await page.getByText("The configuration is saved.").waitFor();
    expect(text()).toBe(good);
    room.complaints.splice(0);
    await page.context().close();
  });

  test("who may not decide changes nothing, and no answer had a secret", async () => {
    const operator = await signIn(room.url, room.token, "operate");
    const changes = [{ path: "gateway.drainSeconds", value: 4 }];
    expect((await operator.ask("/gateway/v1/config/set", { body: { changes } })).status).toBe(403);
    expect((await operator.ask("/gateway/v1/config", { body: { base: "", text: "{}" } })).status).toBe(403);
    expect((await operator.ask("/gateway/v1/restart", { body: {} })).status).toBe(403);
    const admin = await signIn(room.url, room.token);
    for (const path of ["config", "config/form", "config/form?path=models.providers.own", "hooks/mappings"]) {
      answers.push((await admin.ask(`/gateway/v1/${path}`)).text);
      expect([path, (await operator.ask(`/gateway/v1/${path}`)).status]).toEqual([path, 403]);
    }
    const whole = { changes: [{ path: "", value: {} }] };
    expect((await admin.ask("/gateway/v1/config/set", { body: whole })).json.code).toBe("invalid_payload");
    expect(answers.length).toBeGreaterThan(12);
    const all = [...secrets, "another-token-of-thirty-characters", "blue-team-header-value"];
    expect(answers.filter((answer) => all.some((secret) => answer.includes(secret)))).toEqual([]);
    const page = await open("view");
    expect(await page.getByRole("link", { name: "Configuration" }).count()).toBe(0);
    await room.show(page, "config");
    await page.getByText("this needs the role admin").waitFor();
    room.complaints.splice(0);
    await page.context().close();
  });

  test("nothing is wrong with the accessibility", async () => {
    for (const shape of shapes) {
      const page = await room.open("admin", shape);
      for (const screen of ["config", "config?section=models", "config?section=channels", "config?as=text"]) {
        await room.show(page, screen);
        await page.locator(".form, textarea").first().waitFor();
        await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
        const judged = await room.judge(page, screen.replaceAll(/\W/g, ""));
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
