/** What platforms report of messages after they have accepted them: for the trace, and for the person who waits. */
import { createReportSent } from "../../channels/index.ts";
import { noticeEvent } from "../../host/index.ts";
import { lateApology, type Path } from "../../path/index.ts";
import type { Base } from "../base.ts";

export function createLateReports({
  receive,
  ...options
}: Pick<Base, "store" | "log" | "now"> & {
  readonly receive: Path["receive"];
}): ReturnType<typeof createReportSent> {
  return createReportSent({
    ...options,
    async apologize({ unitId, code, address }) {
      const text = lateApology(code, address);
      if (text !== undefined) await receive(noticeEvent({ address, text, dedupeKey: `undelivered:${unitId}` }));
    },
  });
}
