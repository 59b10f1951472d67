/**
 * Makes the two pictures of README.md from a gateway that runs: the chat page with a question to the owner, and what
 * `why` prints. Needs Debian's packages chromium, fonts-dejavu-core and fonts-noto-color-emoji. Run it in a clone: `npm
 * run pictures`.
 */
import { execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { chromium, type Page } from "playwright-core";
import { type Answer, callTools, say } from "../test/openai-server/answers.ts";
import { createOpenAiServer } from "../test/openai-server/index.ts";

const root = join(import.meta.dirname, "..");
const pictures = join(root, "examples", "pictures");
const program = join(root, "core", "cli", "main.js");
const token = "7000000001:playground";
const state = mkdtempSync(join(tmpdir(), "pictures-"));

const workshopPlugin = `
import { definePlugin, Type } from "service-gateway/sdk";

export default definePlugin({
  id: "workshop",
  version: "1.0.0",
  host: "^0.2.0",
  setup(host) {
    host.tool({
      name: "set_light",
      description: "Turns a light on or off.",
      parameters: Type.Object({ room: Type.String(), on: Type.Boolean() }),
      needsApproval: true,
      run: ({ args }) => \`The light in the \${args.room} is \${args.on ? "on" : "off"}.\`,
    });
  },
});
`;

/** The directory of the demo, with a model and a tool that asks first. */
function writeDemo(modelUrl: string): void {
  mkdirSync(join(state, "workshop"));
  writeFileSync(join(state, "workshop", "index.ts"), workshopPlugin);
  writeFileSync(join(state, "hook-token"), "0123456789abcdef0123456789abcdef", { mode: 0o600 });
  const config = {
    hooks: { enabled: true, token: { file: "hook-token" } },
    channels: {
      botchat: {
        enabled: true,
        apiRoot: "http://127.0.0.1:18790",
        botToken: token,
        dmPolicy: "allowlist",
        allowFrom: [1001],
      },
    },
    commands: { ownerAllowFrom: [1001] },
    agents: { defaults: { model: "local/llama3.2", heartbeat: { every: "0" } } },
    models: { providers: { local: { api: "openai-compatible", baseUrl: modelUrl } } },
    plugins: {
      load: ["./workshop"],
      entries: { playground: { enabled: true, options: { port: 18790, token } } },
    },
  };
  writeFileSync(join(state, "config.jsonc"), JSON.stringify(config, null, 2));
}

const script: readonly Answer[] = [
  say("Good morning, Ada. I am here."),
  callTools([{ name: "set_light", args: { room: "workshop", on: false } }]),
  say("Done: the light in the workshop is off."),
];

function startDemo(): Promise<{ readonly page: string; stop(): void }> {
  const child = spawn(process.execPath, [program, "dev", "--state", state, "--port", "0", "--page-port", "0"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  return new Promise((resolve, reject) => {
    let out = "";
    child.once("exit", (code) => reject(new Error(`the demo ended with ${code}: ${out}`)));
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      out += text;
      const page = /Page\s+(http\S+)/.exec(out)?.[1];
      if (page !== undefined) resolve({ page, stop: () => void child.kill("SIGTERM") });
    });
  });
}

async function send(page: Page, text: string): Promise<void> {
  await page.getByRole("textbox").first().fill(text);
  await page.keyboard.press("Enter");
}

/** Small enough for a page of text: WebP instead of PNG is a third of the size. */
async function take(page: Page, name: string): Promise<void> {
  await page.waitForTimeout(500);
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: 80 });
  writeFileSync(join(pictures, `${name}.webp`), Buffer.from(data, "base64"));
}

const asHtml = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

async function showOutput(page: Page, command: string, text: string): Promise<void> {
  const style =
    "margin:0;padding:20px 24px;background:#16181d;color:#d6d9e0;font:14px/1.5 'DejaVu Sans " +
    "Mono',monospace;white-space:pre-wrap";
  await page.setContent(
    `<body style="margin:0;background:#16181d"><pre style="${style}"><b>$ ${command}</b>\n${asHtml(text)}</pre></body>`,
  );
  const height = await page.evaluate<number>("document.querySelector('pre').offsetHeight");
  await page.setViewportSize({ width: 900, height });
}

/** What `why last` prints once the newest event has ended with this code. */
async function explanation(code: string): Promise<string> {
  for (let attempt = 0; attempt < 20; attempt += 1) {
    const { stdout } = await promisify(execFile)(process.execPath, [program, "why", "last", "--state", state], {
      env: { ...process.env, COLUMNS: "110", NO_COLOR: "1" },
    });
    if (stdout.includes(code)) return stdout;
  }
  throw new Error(`the newest event did not end with ${code}`);
}

const model = await createOpenAiServer();
model.script(...script);
writeDemo(model.url);
const demo = await startDemo();
const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run", "--disable-sync"],
});
try {
  const look = { viewport: { width: 900, height: 620 }, deviceScaleFactor: 1.5, reducedMotion: "reduce" } as const;
  const page = await browser.newPage(look);
  await page.goto(demo.page);
  const messages = page.getByRole("log");
  await send(page, "Good morning!");
  await messages.getByText("Good morning, Ada.").waitFor();
  await send(page, "Please turn the light in the workshop off.");
  await messages.getByRole("button", { name: "Allow once" }).waitFor();
  await take(page, "approval");
  await page.getByRole("radio", { name: "Bela" }).click();
  await send(page, "Hello, are you there?");
  const stdout = await explanation("sender_not_allowed");
  const terminal = await browser.newPage(look);
  await showOutput(terminal, "service why last", stdout);
  await take(terminal, "why");
} finally {
  await browser.close();
  demo.stop();
  await model.close();
  rmSync(state, { recursive: true, force: true, maxRetries: 5 });
}
