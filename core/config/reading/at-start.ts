/** The settings that are read only at the start of the gateway. All others apply from the next event. */
import { isDeepStrictEqual } from "node:util";
import { getPath, parsePath } from "../path.ts";
import type { GatewayConfig } from "../schema.ts";

const readAtStart: readonly string[] = [
  "plugins",
  "state.store",
  "state.url",
  "state.dir",
  "state.config",
  "log",
  "gateway.host",
  "gateway.port",
  "gateway.node",
];

/** The settings among them that differ between two configurations. */
export function changedAtStart(before: GatewayConfig, after: GatewayConfig): readonly string[] {
  return readAtStart.filter(
    (path) => !isDeepStrictEqual(getPath(before, path.split(".")), getPath(after, path.split("."))),
  );
}

/** Whether a change at this path takes effect only after a restart. */
export function waitsForStart(path: string): boolean {
  const segments = parsePath(path)?.map(String) ?? [];
  return readAtStart.some((known) => known.split(".").every((segment, index) => segments[index] === segment));
}
