import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { definePlugin } from "../../../core/sdk/contract.ts";
import consolePlugin from "../../../plugins/console/index.ts";
import devicePair from "../../../plugins/device-pair/index.ts";
import { askAs, signIn } from "../../support/browser-client.ts";
import { createLoopback, repeat } from "../../support/gateway.ts";
import { type ConsoleRoom, leftOut, openConsole, shapes } from "./browser.ts";

const hostile = `<img src=x onerror="document.title='hacked'">`;
/** What the panel of a test holds. An act moves the entry on. */
const tools = { version: "1", accepted: [] as string[], fails: false };

const keeper = definePlugin({
  id: "keeper",
  version: "1.0.0",
  host: "^0.2.0",
  setup(host) {
    host.status(() => [
      {
        source: "imap",
        account: "ada",
        state: "needs_login",
        reason: `The password is wrong ${hostile}.`,
        fix: "Set it.",
      },
      { source: "imap", account: "bob", state: "ok", reason: "", fix: "" },
    ]);
    host.panel({
      id: "tools",
      title: "Tools",
      empty: "No tool is there.",
      mayWait: true,
      entries: () => [
        {
          id: "files",
          title: "files",
          state: { word: "ready", tone: "good" },
          text: `read_file is new ${hostile}`,
          version: tools.version,
          ...(tools.accepted.length === 0 && { waits: "A tool must be accepted." }),
          acts: ["accept", "break", "unknown"],
        },
      ],
      acts: {
        accept: {
          label: "Accept the tools",
          role: "admin",
          run: ({ version }) => {
            tools.accepted.push(version ?? "");
            return { ok: true, text: "Accepted: read_file." };
          },
        },
        break: {
          label: "Break",
          role: "operate",
          confirm: "It breaks. Go on?",
          run: () => ({ ok: false, text: "It does not break." }),
        },
      },
    });
  },
});

describe.skipIf(leftOut !== "")(`what waits for a person, in the console${leftOut}`, () => {
  const loopback = createLoopback();
  let room: ConsoleRoom;

  async function pair(name: string): Promise<string> {
    const said = loopback.sent.length;
    await room.home.settled(await loopback.say("/pair"));
    const [, code = ""] =
      /`([A-Z0-9]{8})`/.exec(
        loopback.sent
          .slice(said)
          .map(({ text }) => text)
          .join("\n"),
      ) ?? [];
    const asked = await askAs(room.url, "/devices/pair", {
      body: { code, name },
      headers: { "content-type": "application/json" },
    });
    expect(asked.status).toBe(202);
    return asked.json.id;
  }

  beforeAll(async () => {
    room = await openConsole({
      config: {
        gateway: { port: 0, drainSeconds: 2 },
        agents: { defaults: { engine: "scripted" } },
        channels: { loopback: { dmPolicy: "pairing", allowFrom: ["7"], groups: {} } },
      },
      plugins: [loopback.plugin, repeat, devicePair, keeper, consolePlugin],
    });
  }, 60_000);

  afterAll(() => room?.close());

  test("a device, a changed tool, a mailbox and a sender wait, and each is decided by keyboard", async () => {
    const id = await pair(`Laptop ${hostile}`);
    const question = await loopback.say("let me in", { sender: "8" });
    await room.home.settled(question);
    const page = await room.open();
    await page.getByRole("link", { name: "Waiting for you , 4" }).press("Enter");
    const device = page.getByRole("article", { name: "Laptop" });
    expect(await device.textContent()).toContain(hostile);
    await device.getByRole("button", { name: "Approve" }).press("Enter");
    await page.getByText(`(${id}) is approved.`).waitFor();
    const files = page.getByRole("article", { name: "files" });
    expect(await files.locator("pre").textContent()).toBe(`read_file is new ${hostile}`);
    expect(await page.getByRole("article", { name: "imap:ada needs a new sign-in" }).textContent()).toContain(
      "Set it.",
    );
    // What was shown is what is accepted.
    tools.version = "2";
    await files.getByRole("button", { name: "Accept the tools" }).press("Enter");
    await page.getByText("The entry has changed since it was shown.").waitFor();
    expect(tools.accepted).toEqual([]);
    await page.reload();
    await files.getByRole("button", { name: "Accept the tools" }).press("Enter");
    await page.getByText("Accepted: read_file.").waitFor();
    expect(tools.accepted).toEqual(["2"]);
    tools.accepted.pop();
    // The remedy of a refusal is where it is explained.
    await room.show(page, `events/${question}`);
    await page.getByRole("button", { name: "Approve Person 8" }).press("Enter");
    await page.getByText("Done.").waitFor();
    await room.home.settled(await loopback.say("again", { sender: "8" }));
    expect(loopback.sent.at(-1)?.text).toContain("again");
    // The browser itself notes the refusal of the first acceptance.
    expect(room.complaints.splice(0).filter((text) => !text.includes("409"))).toEqual([]);
    await page.context().close();
  });

  test("a refusal names the setting, and a button changes it once it is confirmed", async () => {
    const event = await loopback.say("hello", { sender: "8", chat: "g1", group: true, mention: true });
    await room.home.settled(event);
    const page = await room.open();
    await room.show(page, `events/${event}`);
    const add = page.getByRole("button", { name: "Add the group g1" });
    await add.press("Enter");
    await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).press("Enter");
    expect(await page.getByRole("dialog").count()).toBe(0);
    await add.press("Enter");
    await page.getByRole("dialog").getByRole("button", { name: "Add the group g1" }).press("Enter");
    await page.getByText("Done.").waitFor();
    expect(room.home.gateway.config().channels.loopback?.groups).toEqual({ g1: {} });
    await page.context().close();
  });

  test("a session that looks sees what waits, and neither codes nor buttons", async () => {
    await room.home.settled(await loopback.say("and me", { sender: "9" }));
    const page = await room.open("view");
    await room.show(page, "waiting");
    const sender = page.getByRole("article", { name: "Person 9 wants to write" });
    expect(await sender.textContent()).not.toContain("code");
    expect(await page.locator("main button").count()).toBe(0);
    const operator = await signIn(room.url, room.token, "operate");
    const { json } = await operator.ask("/gateway/v1/waiting");
    const admin = await signIn(room.url, room.token);
    const [{ code }] = (await admin.ask("/gateway/v1/waiting")).json.pairing;
    expect(code).toMatch(/^[A-Z2-9]{8}$/);
    expect(JSON.stringify(json)).not.toContain(code);
    const accept = { body: { entry: "files", version: "2" } };
    expect((await operator.ask("/gateway/v1/panels/keeper/tools/accept", accept)).json.code).toBe("role_too_low");
    expect((await operator.ask("/gateway/v1/panels/keeper/tools/unknown", accept)).status).toBe(404);
    await page.context().close();
  });

  test("an act that asks first does nothing without its answer, and says what the plugin said", async () => {
    const page = await room.open("operate");
    await room.show(page, "plugins");
    const files = page.getByRole("article", { name: "files" });
    expect(await files.getByRole("button").allTextContents()).toEqual(["Break"]);
    await files.getByRole("button", { name: "Break" }).press("Enter");
    await page.getByRole("dialog").getByRole("button", { name: "Break" }).waitFor();
    await page.keyboard.press("Escape");
    const acts = async () => (await (await signIn(room.url, room.token)).ask("/gateway/v1/acts")).json.acts;
    expect((await acts()).filter(({ act }: { act: string }) => act === "keeper_tools_break")).toEqual([]);
    await files.getByRole("button", { name: "Break" }).press("Enter");
    await page.getByRole("dialog").getByRole("button", { name: "Break" }).press("Enter");
    await page.getByText("It does not break.").waitFor();
    expect((await acts()).find(({ act }: { act: string }) => act.startsWith("keeper"))).toMatchObject({
      act: "keeper_tools_break",
      subject: "files",
      end: "refused",
    });
    room.complaints.splice(0);
    await page.context().close();
  });

  test("what strangers write is text, and nothing is wrong with the accessibility", async () => {
    await pair(hostile);
    for (const shape of shapes) {
      const page = await room.open("admin", shape);
      for (const screen of ["waiting", "plugins"]) {
        await room.show(page, screen);
        await page.getByRole("article").first().waitFor();
        expect(await page.title()).not.toContain("hacked");
        const judged = await room.judge(page, screen);
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
