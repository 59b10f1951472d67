/** A misspelled name of a hook: it may be a path without a mapping, so it is only mentioned. */
import { nearestOf } from "../../config/checking/suggest.ts";
import type { GatewayConfig } from "../../config/schema.ts";
import { visibleLine } from "../../log/visible.ts";
import { trimSlashes } from "../../webhooks/mapping/address.ts";
import type { CommandContext } from "../context.ts";

export function noteSimilar({ terminal }: CommandContext, { hooks }: GatewayConfig, given: string): void {
  const name = trimSlashes(given);
  const known = [...hooks.mappings.flatMap(({ id, match }) => [id ?? [], match?.path ?? []].flat()), ...hooks.presets];
  const meant = known.includes(name) ? undefined : nearestOf(name, known);
  if (meant !== undefined) terminal.note(`No mapping has the name ${visibleLine(name, 80)}. Did you mean ${meant}?`);
}
