/** The gateway's store, in a process that ends itself by SIGKILL right before or right after a write for a mail. */
import { openSqliteStore as open, type SqliteStoreOptions } from "../../../core/state/sqlite/index.ts";
import type { Store } from "../../../core/state/store.ts";

/** `accept`: the mail becomes an event. The others begin the keys that the plugin writes, in the order of their writes. */
export interface MailCrash {
  readonly write: "accept" | "draft:" | "mail:" | "message:" | "mailbox:" | "drafted:";
  readonly when: "before" | "after";
  /** The how many-th of its kind. */
  readonly nth: number;
}

export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const store = await open(options);
  const { write, when, nth } = JSON.parse(process.env.MAIL_CRASH ?? "{}") as Partial<MailCrash>;
  let seen = 0;
  async function at<Result>(concerned: boolean, run: () => Promise<Result>): Promise<Result> {
    if (concerned) seen += 1;
    const here = concerned && seen === nth;
    if (here && when === "before") process.kill(process.pid, "SIGKILL");
    const result = await run();
    if (here) process.kill(process.pid, "SIGKILL");
    return result;
  }
  return {
    ...store,
    accept: (input) => at(write === "accept" && input.event.source === "hooks" && input.event.kind === "agent", () => store.accept(input)),
    set: (namespace, key, value, how) =>
      at(namespace === "plugin:mail" && write !== undefined && key.startsWith(write), () => store.set(namespace, key, value, how)),
  };
}
