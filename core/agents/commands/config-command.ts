/** `/config` lets owners read and change the configuration from a chat, if `commands.config` allows it. */

import { type ConfigEditor, isJson, renderProblem, waitsForStart } from "../../config/index.ts";
import { HostError } from "../../contract/index.ts";
import { escapeMarkdown } from "../../reply/index.ts";
import type { CommandCall, CommandDefinition } from "../../sdk/contract.ts";

export interface ConfigCommandOptions {
  readonly editor: ConfigEditor;
  /** `commands.config`. */
  readonly enabled: () => boolean;
  /** The configuration path that forbids changes from this chat; `undefined` when changes are allowed. */
  readonly forbidden: (call: CommandCall) => string | undefined;
}

const usage = "Use `/config get PATH`, `/config set PATH VALUE` or `/config unset PATH`.";
/** Most characters shown; longer values do not fit a chat message. */
const longest = 3_000;

export function configCommand({ editor, enabled, forbidden }: ConfigCommandOptions): CommandDefinition {
  function show(path: string): string {
    const value = editor.get(path);
    if (value === undefined) return `\`${path}\` is not set.`;
    const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
    if (text.length <= longest) return fenced(text);
    const keys = typeof value === "object" && value !== null ? Object.keys(value) : [];
    return (
      "The value is long. Ask for a part of it: " +
      `${keys.map((key) => `\`${path === "" ? "" : `${path}.`}${key}\``).join(", ")}`
    ).slice(0, longest);
  }

  async function change(call: CommandCall, path: string, text: string | undefined): Promise<string> {
    const { inbound } = call;
    const forbids = forbidden(call);
    if (forbids !== undefined) return `Changes from this chat are switched off, by \`${forbids}\`.`;
    const { changed, problems } =
      text === undefined ? await editor.unset(path, inbound) : await editor.set(path, text, inbound);
    if (!changed)
      return text === undefined ? `\`${path}\` is not set in the file.` : `\`${path}\` already has this value.`;
    const later = waitsForStart(path);
    const done =
      text === undefined ? `\`${path}\` is removed${later ? "." : "; its default applies."}` : `\`${path}\` is set.`;
    return [
      later ? `${done} It takes effect after a restart.` : done,
      ...problems.map((problem) => `- ${escapeMarkdown(renderProblem(problem))}`),
    ].join("\n");
  }

  async function run(call: CommandCall): Promise<string> {
    if (!enabled())
      return "`/config` is switched off. `commands.config: true` in the configuration file switches it on.";
    const [word = "", rest] = split(call.args);
    const [path, text] = split(rest);
    switch (word.toLowerCase()) {
      case "":
        return usage;
      case "get":
        return text === "" ? show(pathIn(path)) : usage;
      case "set":
        return path === "" || text === "" ? usage : await change(call, pathIn(path), valueIn(text));
      case "unset":
        return path === "" || text !== "" ? usage : await change(call, pathIn(path), undefined);
      default:
        return usage;
    }
  }

  return {
    name: "config",
    summary: "show or change the configuration",
    args: "[get PATH|set PATH VALUE|unset PATH]",
    role: "owner",
    control: true,
    async run(call) {
      try {
        return await run(call);
      } catch (thrown) {
        // The input is wrong, not the gateway. The error names the path, the value and what is allowed.
        if (thrown instanceof HostError) return escapeMarkdown(`${thrown.message} ${thrown.hint}`.trim());
        throw thrown;
      }
    },
  };
}

/** Splits off the first word. */
function split(text: string): readonly [word: string, rest: string] {
  const [, word = "", rest = ""] = /^\s*(\S*)\s*([\s\S]*)$/.exec(text) ?? [];
  return [word, rest.trim()];
}

/** Removes the backticks of a code span around the text. */
function plain(text: string): string {
  return /^(`+)([^`]+)\1$/.exec(text)?.[2]?.trim() ?? text;
}

/** Straightens curly quotes, which apps insert while a user types. */
const straight = (text: string): string => text.replace(/[\u201c\u201d\u201e\u00ab\u00bb]/g, '"');

const pathIn = (text: string): string => straight(plain(text));

/** Straightens quotes in lists and objects only. In a plain text the user may want curly quotes. */
function valueIn(text: string): string {
  const typed = plain(text);
  if (!/^[[{]/.test(typed) || isJson(typed)) return typed;
  return isJson(straight(typed)) ? straight(typed) : typed;
}

function fenced(text: string): string {
  const ticks = "`".repeat(Math.max(3, ...(text.match(/`+/g) ?? []).map((run) => run.length + 1)));
  return `${ticks}json\n${text}\n${ticks}`;
}
