/** What is read only while the gateway starts; everything else applies from the next event on. */
import { isDeepStrictEqual } from "node:util";
import { getPath, parsePath } from "../path.ts";
import type { GatewayConfig } from "../schema.ts";

const readAtStart: readonly string[] = ["plugins", "state.dir", "log", "gateway.host", "gateway.port"];

/** Which of these settings differ. */
export function changedAtStart(before: GatewayConfig, after: GatewayConfig): readonly string[] {
  return readAtStart.filter((path) => !isDeepStrictEqual(getPath(before, path.split(".")), getPath(after, path.split("."))));
}

/** Whether a change at this path takes effect after a restart. */
export function waitsForStart(path: string): boolean {
  const segments = parsePath(path)?.map(String) ?? [];
  return readAtStart.some((known) => known.split(".").every((segment, index) => segments[index] === segment));
}
