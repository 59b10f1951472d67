/** The progress of a backup, as lines for a person. */
import type { CommandContext } from "../context.ts";

const everyMs = 1_000;

/** Prints at most a line each second, the first after a second, and nothing if no person can see it. */
export function backupProgress(
  { terminal, now }: Pick<CommandContext, "terminal" | "now">,
  isVisible: boolean,
): (what: string, done: number, total?: number) => void {
  if (!isVisible) return () => {};
  let shownAt = now();
  return (what, done, total) => {
    const at = now();
    if (at - shownAt < everyMs) return;
    shownAt = at;
    const part = total === undefined || total === 0 ? `${done}` : `${Math.floor((done / total) * 100)} %`;
    terminal.note(`${what}: ${part}`);
  };
}
