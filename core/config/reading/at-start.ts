/** What is read only while the gateway starts; everything else counts from the next event on. */
import { parsePath } from "../path.ts";

export const readAtStart: readonly string[] = ["plugins", "state.dir", "log", "gateway.host", "gateway.port"];

/** Whether a change at this path waits for the next start. */
export function waitsForStart(path: string): boolean {
  const segments = parsePath(path)?.map(String) ?? [];
  return readAtStart.some((known) => known.split(".").every((segment, index) => segments[index] === segment));
}
