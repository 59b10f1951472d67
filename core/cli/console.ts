/** `console`: signs a browser in by a link that works once, and lists and revokes the sessions of browsers. */
import { execFile } from "node:child_process";
import { programCommand } from "../contract/command.ts";
import { visibleLine } from "../log/visible.ts";
import type { CommandContext } from "./context.ts";
import { ask, requireGateway } from "./control/asking.ts";
import { renderAgo } from "./output/times.ts";
import type { RunningGateway } from "./running-gateway.ts";

interface Options {
  readonly role: "view" | "operate" | "admin";
  readonly open?: boolean;
  readonly list?: boolean;
  readonly revoke?: string;
  readonly json?: boolean;
}

interface Browser {
  readonly id: string;
  readonly role: string;
  readonly browser: string;
  readonly from: string;
  readonly createdAt: number;
  readonly usedAt: number;
}

export async function openConsole(context: CommandContext, _: readonly [], options: Options): Promise<number> {
  const gateway = await requireGateway(context);
  if (options.list === true) return await list(context, gateway, options);
  if (options.revoke !== undefined) return await revoke(context, gateway, { ...options, revoke: options.revoke });
  const { code, seconds } = (await ask(gateway, "v1/links", { body: { role: options.role } })) as {
    readonly code: string;
    readonly seconds: number;
  };
  // In the fragment, where neither a server nor a log sees it.
  const link = `${gateway.url}/console/#code=${code}`;
  const { terminal } = context;
  if (options.json === true) {
    terminal.json({ link, role: options.role, seconds });
    return 0;
  }
  terminal.line(link);
  terminal.note(`The link works once, within ${seconds} seconds. \`${programCommand} console --list\` shows sessions.`);
  if (options.open !== false && process.stdout.isTTY === true) openBrowser(link);
  return 0;
}

async function list({ terminal, now }: CommandContext, gateway: RunningGateway, { json }: Options): Promise<number> {
  const { browsers } = (await ask(gateway, "v1/browsers", { method: "GET" })) as {
    readonly browsers: readonly Browser[];
  };
  if (json === true) terminal.json({ browsers });
  else if (browsers.length === 0) terminal.line("No browser is signed in.");
  else
    terminal.table([
      ["session", "role", "used", "from", "browser"].map((cell) => terminal.style("dim", cell)),
      ...browsers.map(({ id, role, usedAt, from, browser }) => [
        id,
        role,
        renderAgo(usedAt, now()),
        from,
        visibleLine(browser, 60),
      ]),
    ]);
  return 0;
}

async function revoke(
  { terminal }: CommandContext,
  gateway: RunningGateway,
  { revoke: id, json }: Options & { readonly revoke: string },
): Promise<number> {
  const answer = await ask(gateway, `v1/browsers/${encodeURIComponent(id)}`, { method: "DELETE" });
  if (json === true) terminal.json(answer);
  else terminal.line(`The session ${id} is revoked.`);
  return 0;
}

/** Nothing happens on a machine without a browser: the link is printed in any case. */
function openBrowser(link: string): void {
  const [program, ...args] =
    process.platform === "darwin"
      ? ["open", link]
      : process.platform === "win32"
        ? ["rundll32", "url.dll,FileProtocolHandler", link]
        : ["xdg-open", link];
  execFile(program ?? "", args, () => {}).unref();
}
