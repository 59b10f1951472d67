/**
 * A plugin that records, outside the gateway's own state, which turns began and which ends were reported; the soak
 * compares the state with this record. Each line is written before anything else happens, so a killed process cannot
 * lose one.
 */
import { openSync, writeSync } from "node:fs";
import { definePlugin, Type } from "service-gateway/sdk";

export default definePlugin({
  id: "soak-observer",
  version: "1.0.0",
  host: "^0.2.0",
  options: Type.Object({ file: Type.String({ description: "Where the lines go." }) }),
  setup(host, { file }) {
    const handle = openSync(file, "a");
    const write = (what: string, eventId: string) => void writeSync(handle, `${what} ${eventId} ${host.now()}\n`);
    host.tap("turn", (inbound) => write("turn", inbound.id) as undefined, { order: "early" });
    host.tap("settled", (record) => write(record.outcome, record.eventId));
  },
});
