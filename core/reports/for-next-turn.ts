import type { EventReport } from "../state/report.ts";

/** Whether the event is a report of a webhook, which waits for the next turn of its session. It is not stuck. */
export const isForNextTurn = ({ state, source, kind }: EventReport): boolean =>
  state === "waiting" && source === "hooks" && (kind === "wake" || kind === "summary");
