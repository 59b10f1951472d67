import { parse } from "jsonc-parser";
import { expect, test } from "vitest";
import { identityRule } from "../../../core/access/identity.ts";
import { type AccountAccess, authorize } from "../../../core/access/policy.ts";
import { read } from "../../house/sources.ts";
import { message } from "../agents/inbound.ts";

const page = read("examples/reference/access.md");

test("the page lists exactly the codes of the access gate", () => {
  const source = ["policy", "refusals"].map((name) => read(`core/access/${name}.ts`)).join("\n");
  const made = [...source.matchAll(/(?:pass\(|code: )"([a-z_]+)"/g)].map(([, code]) => code);
  // Chosen by a condition, or put together from the kind of place.
  const codes = new Set([...made, "authenticated", "operator", "group_disabled", "topic_disabled"]);
  const rows = [...page.matchAll(/^\| ((?:`[a-z_]+`(?:, )?)+) +\| (?:pass|refused|silent) /gm)];
  const told = rows.flatMap(([, cell = ""]) => [...cell.matchAll(/`([a-z_]+)`/g)].map(([, code]) => code));
  expect([...told].sort()).toEqual([...codes].sort());
});

test("the page's example works as the page describes", async () => {
  const [, example = ""] = /```jsonc\n([\s\S]*?)```/.exec(page) ?? [];
  const { channels } = parse(example) as { readonly channels: { readonly botchat: AccountAccess } };
  const verdict = async (sender: string, chat: string, thread: string, mention: boolean) => {
    const inbound = message("hello", { chat: { id: chat, kind: "group", thread }, sender: { id: sender }, mention });
    const rule = identityRule("botchat", { pattern: "\\d+" });
    const path = "channels.botchat";
    return (
      await authorize({ inbound, access: channels.botchat, rule, path, approved: () => true, mentioned: () => false })
    ).pass;
  };
  const group = "-1001000000002";
  expect(await verdict("1002", group, "7", false)).toBe(true);
  expect(await verdict("1002", group, "8", false)).toBe(false);
  expect(await verdict("1002", group, "8", true)).toBe(true);
  expect(await verdict("1002", group, "9", true)).toBe(false);
  expect(await verdict("1002", "-5", "7", true)).toBe(false);
  expect(await verdict("1001", "-5", "7", true)).toBe(true);
});
