/** The person that an operator names, and where the configuration names that person. */

import { renderPath, type Segment } from "../../config/path.ts";
import type { GatewayConfig } from "../../config/schema.ts";
import { HostError } from "../../contract/errors.ts";
import { parsePlatformId } from "../../reports/platform-id.ts";
import type { Person } from "../../state/removals.ts";

/** `botchat:1001`; the channel may be omitted if the configuration has only one. Throws `usage`. */
export function parsePerson(text: string, config: GatewayConfig): Person {
  const { channel, id } = parsePlatformId("SENDER", text);
  const channels = Object.keys(config.channels);
  const only = channel ?? (channels.length === 1 ? channels[0] : undefined);
  if (only === undefined)
    throw new HostError("usage", { reason: `"${id}" may be of any channel; write it as CHANNEL:${id}` });
  return { channel: only, id };
}

/** Allowlists, bindings and similar settings. The file belongs to the operator and is never changed here. */
export function settingsNaming(config: GatewayConfig, { channel, id }: Person): readonly string[] {
  const found: string[] = [];
  const names = new Set([id, `${channel}:${id}`]);
  const walk = (value: unknown, at: readonly Segment[]): void => {
    if (typeof value === "string" || typeof value === "number") {
      if (names.has(String(value))) found.push(renderPath(at));
    } else if (Array.isArray(value)) for (const [index, inner] of value.entries()) walk(inner, [...at, index]);
    else if (typeof value === "object" && value !== null) {
      for (const [key, inner] of Object.entries(value)) {
        if (names.has(key)) found.push(renderPath([...at, key]));
        walk(inner, [...at, key]);
      }
    }
  };
  walk(config, []);
  return found;
}
