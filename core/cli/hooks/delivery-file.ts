/** The input of `hooks test`, `hooks send` and `transforms test`: a file with a payload or a recording, and headers. */
import { readFile } from "node:fs/promises";
import { HostError, reasonOf } from "../../contract/errors.ts";
import { readFixture } from "../../webhooks/mapping/fixture.ts";
import type { HookDelivery } from "../../webhooks/mapping/webhook-delivery.ts";
import type { CommandContext } from "../context.ts";

export async function readDelivery(
  context: CommandContext,
  {
    name,
    file,
    header = [],
  }: { readonly name: string; readonly file: string; readonly header?: readonly string[] | undefined },
): Promise<{ readonly recorded: HookDelivery; readonly headers: Readonly<Record<string, string>> }> {
  const headers = readHeaders(header);
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw new HostError("fixture_invalid", { file, reason: reasonOf(error) });
  });
  return { headers, recorded: readFixture(text, { file, path: name, now: new Date(context.now()).toISOString() }) };
}

/** `NAME: VALUE`, as in other tools. */
function readHeaders(given: readonly string[]): Readonly<Record<string, string>> {
  const pairs = given.map((text) => {
    const [, name, value] = /^([\w!#$%&'*+\-.^`|~]+):\s*(.*)$/.exec(text) ?? [];
    if (name === undefined || value === undefined)
      throw new HostError("usage", { reason: `--header ${text} is not NAME: VALUE` });
    return [name.toLowerCase(), value.trim()] as const;
  });
  return Object.fromEntries(pairs);
}
