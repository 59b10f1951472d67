/** What `dev` prints when it is up: the addresses, and four steps that work as printed. */
import { join } from "node:path";
import { programCommand } from "../../contract/command.ts";
import { product } from "../../contract/product.ts";
import type { Terminal } from "../output/terminal.ts";

export interface Welcome {
  /** Addresses, without a trailing slash. There is no page where the configuration has no playground. */
  readonly page?: string;
  readonly gateway: string;
  readonly hooks: string;
  readonly channel: string;
  readonly directory: string;
  /** The flag that other commands need to find this gateway; empty if they find it without one. */
  readonly stateFlag: string;
  /** One sentence for each plugin that is not up. */
  readonly failures: readonly string[];
}

export function welcome({ line, style }: Terminal, at: Welcome): void {
  const say = (texts: readonly string[]) => {
    for (const text of texts) line(text === "" ? "" : `  ${text}`);
  };
  const typed = (text: string) => say(text.split("\n").map((part) => `     ${style("cyan", part)}`));

  const call = { hooks: at.hooks, tokenFile: join(at.directory, "hook-token") };
  const page = at.page === undefined ? "none: the configuration has no playground" : style("cyan", `${at.page}/`);
  say(["", `${style("bold", "Page")}     ${page}`]);
  say([`${style("bold", "Gateway")}  ${at.gateway}`]);
  say([
    `${style("bold", "Config")}   ${join(at.directory, product.configFile)}  ` +
      `${style("dim", "(yours; changes apply at once)")}`,
    "",
  ]);
  if (at.failures.length > 0) say([...at.failures.map((failure) => style("red", failure)), ""]);
  say([
    "1  Open the page and write to the bot. It answers with a pairing code.",
    "2  Approve it on the page, or in another terminal:",
  ]);
  typed(`${programCommand} pairing approve ${at.channel} CODE${at.stateFlag}`);
  say([
    "3  The bot answers: the echo engine repeats your words. Then ask through a webhook, whose answer arrives",
    "   in your chat:",
  ]);
  typed(hookCall(call, "agent", { message: "Say hello.", deliver: true }));
  say(["   Or report an event to the agent:"]);
  typed(hookCall(call, "wake", { text: "The door bell rang.", mode: "now" }));
  say(["4  See what happened to it:"]);
  typed(`${programCommand} why last${at.stateFlag}`);
  say(["", style("dim", "Ctrl+C stops it."), ""]);
}

/** The shell reads the token from its file, so it appears in no terminal, screenshot or history. */
export function hookCall(
  { hooks, tokenFile }: { readonly hooks: string; readonly tokenFile: string },
  path: string,
  body: object,
): string {
  return [
    `curl -X POST ${hooks}/${path} \\`,
    `  -H "Authorization: Bearer $(cat ${quoted(tokenFile)})" \\`,
    `  -H "Content-Type: application/json" \\`,
    `  -d '${JSON.stringify(body)}'`,
  ].join("\n");
}

export const quoted = (path: string): string =>
  /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
