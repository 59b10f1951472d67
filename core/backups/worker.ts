/** The thread in which a gateway makes a backup, so that its own thread never waits for one. */
import { parentPort, workerData } from "node:worker_threads";
import { HostError, reasonOf } from "../contract/index.ts";
import { createBackup } from "./create.ts";
import type { BackupPlan } from "./plan.ts";
import type { ThreadAnswer } from "./thread.ts";

const { plan, file } = workerData as { readonly plan: BackupPlan; readonly file: string };

const answer: ThreadAnswer = await createBackup(plan, { file, now: Date.now }).then(
  ({ bytes, files, torn, skipped, unsafeNames }): ThreadAnswer => ({
    ...{ type: "done", bytes, files },
    ...{ torn: torn.length, skipped: skipped + unsafeNames.length },
  }),
  (error: unknown): ThreadAnswer => ({
    type: "failed",
    reason: error instanceof HostError ? error.message : reasonOf(error),
  }),
);
parentPort?.postMessage(answer);
