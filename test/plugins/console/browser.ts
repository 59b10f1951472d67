/** A console in Debian's Chromium, on a gateway of its own. What a page complains of is noted. */
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { expect } from "vitest";
import { askAs } from "../../support/browser-client.ts";
import { removeDirectory } from "../../support/directory.ts";
import { startGateway, type TestGateway } from "../../support/gateway.ts";

const chrome = "/usr/bin/chromium";
/** Empty, or why the browser's tests are left out. */
export const leftOut = existsSync(chrome) ? "" : ` (left out: ${chrome} is not installed)`;

const axe = readFileSync(new URL("../../../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const args = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"];
/** Where pictures of the screens are written for people to look at; by default, none are. */
const pictures = process.env.SERVICE_TEST_PICTURES;

export const shapes = [
  { colorScheme: "light", viewport: { width: 1280, height: 800 } },
  { colorScheme: "dark", viewport: { width: 360, height: 740 } },
] as const;

export interface ConsoleRoom {
  readonly home: TestGateway;
  readonly browser: Browser;
  readonly url: string;
  readonly token: string;
  /** Errors and warnings of pages, and requests to other hosts. */
  readonly complaints: string[];
  link(role?: string): Promise<string>;
  /** A signed-in page. */
  open(role?: string, options?: Parameters<Browser["newContext"]>[0]): Promise<Page>;
  watch(page: Page): void;
  show(page: Page, screen: string): Promise<void>;
  /** What axe finds on the page, and whether it is wider than the window. */
  judge(page: Page, name: string): Promise<{ readonly found: readonly string[]; readonly isWide: boolean }>;
  close(): Promise<void>;
}

export async function openConsole(
  options: Parameters<typeof startGateway>[0],
  { hostRules = "" }: { readonly hostRules?: string } = {},
): Promise<ConsoleRoom> {
  const home = await startGateway(options);
  const { url } = home.gateway;
  const token = readFileSync(join(home.gateway.stateDirectory, "gateway-token"), "utf8").trim();
  const rules = hostRules === "" ? [] : [`--host-resolver-rules=${hostRules}`];
  const browser = await chromium.launch({ executablePath: chrome, args: [...args, ...rules] });
  const complaints: string[] = [];
  const room: ConsoleRoom = {
    ...{ home, browser, url, token, complaints },
    async link(role = "admin") {
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const { json } = await askAs(url, "/gateway/v1/links", { body: { role }, headers });
      return `${url}/console/#code=${json.code}`;
    },
    async open(role, shape = {}) {
      const page = await (await browser.newContext(shape)).newPage();
      room.watch(page);
      await page.goto(await room.link(role));
      await page.getByText("Live", { exact: true }).waitFor();
      return page;
    },
    watch(page) {
      page.on("console", (message) => {
        if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
      });
      page.on("pageerror", (error) => complaints.push(error.message));
      page.on("request", (request) => {
        if (!request.url().startsWith(url)) complaints.push(`request to ${request.url()}`);
      });
    },
    async show(page, screen) {
      await page.goto(`${url}/console/#/${screen}`);
      await page.locator("h1").first().waitFor();
      await expect.poll(() => page.getByText("Loading …").count()).toBe(0);
    },
    async judge(page, name) {
      if (pictures !== undefined) {
        mkdirSync(pictures, { recursive: true });
        const { width } = page.viewportSize() ?? { width: 0 };
        await page.screenshot({ path: join(pictures, `${name}-${width}.png`), fullPage: true });
      }
      await page.evaluate(axe);
      const found = await page.evaluate<readonly string[]>(
        "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ' ' + nodes[0].html))",
      );
      const wide =
        "[document.documentElement, document.querySelector('main')]" +
        ".some((node) => node.scrollWidth > node.clientWidth)";
      return { found, isWide: await page.evaluate<boolean>(wide) };
    },
    async close() {
      await browser.close();
      await home.gateway.close();
      removeDirectory(home.directory);
    },
  };
  return room;
}
