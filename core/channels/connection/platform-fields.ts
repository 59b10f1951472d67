/** What a reply contains of a platform's own, such as a card: checked by the schema of its channel. */
import { isRecord, validateSection } from "../../config/index.ts";
import { type Json, reasonOf } from "../../contract/index.ts";
import type { CalledChannel } from "../../host/index.ts";
import type { LiveAccount } from "../live-account.ts";

/** Each row of the outbox may contain them. */
const mostBytes = 65_536;

export type PlatformFields = { readonly fields?: Json } | { readonly problem: string };

/**
 * The part of `given` that is for the channel of the account, with the defaults of its schema; none if there is nothing
 * for it. The fields of other channels are ignored. `problem` is a sentence that says what is wrong, where, and what to
 * do.
 */
export function readPlatformFields(
  given: unknown,
  { channel, platformFields }: Pick<LiveAccount, "channel" | "platformFields">,
): PlatformFields {
  if (!isRecord(given))
    return { problem: `platform must be an object of fields by channel, such as { "${channel}": { ... } }.` };
  if (!Object.hasOwn(given, channel)) return {};
  const at = `platform.${channel}`;
  if (platformFields === undefined)
    return { problem: `${at}: the channel ${channel} takes no fields of its platform. Remove it.` };
  try {
    const bytes = Buffer.byteLength(JSON.stringify(given[channel]) ?? "");
    if (bytes > mostBytes)
      return { problem: `${at} has ${bytes} bytes as JSON, but at most ${mostBytes} are allowed. Shorten it.` };
    const { value, problems } = validateSection(platformFields, given[channel], at);
    const [first] = problems;
    if (first === undefined) return { fields: value as Json };
    const { path, message, hint, severity } = first;
    const choices = severity === "warning" ? choicesOf(platformFields) : undefined;
    const remedy = hint ?? choices;
    return { problem: `${path} ${message.replace(/^this key /, "")}.${remedy === undefined ? "" : ` ${remedy}`}` };
  } catch (error) {
    // Values that are nested too deeply, and what JSON cannot express.
    return { problem: `${at} cannot be read: ${reasonOf(error)}. Use less nesting.` };
  }
}

/** What is wrong with the fields for a channel; `undefined` if nothing is, or if there is no such channel. */
export function platformProblem(
  channel: Pick<CalledChannel, "id" | "platformFields"> | undefined,
  given: unknown,
): string | undefined {
  if (channel === undefined) return undefined;
  const { id, platformFields } = channel;
  const read = readPlatformFields(given, { channel: id, ...(platformFields !== undefined && { platformFields }) });
  return "problem" in read ? read.problem : undefined;
}

function choicesOf({ properties = {} }: { readonly properties?: object }): string {
  return `The channel takes ${Object.keys(properties).join(", ")}.`;
}
