/** The state of a mailbox, with its reason and the remedy. Each change is logged. */
import type { PluginHost } from "service-gateway/sdk";

export type MailboxState = "ok" | "standby" | "retrying" | "paused" | "needs_login" | "needs_setup";

export interface Condition {
  readonly state: MailboxState;
  /** One sentence; empty if all is well. */
  readonly reason: string;
  readonly fix: string;
  /** Set if the mailbox is read nevertheless, such as without one of its folders. */
  readonly isRead?: true;
}

export interface Health {
  current(): Condition;
  set(next: Condition): void;
}

export const well: Condition = { state: "ok", reason: "", fix: "" };

export function createHealth(
  { log }: Pick<PluginHost, "log">,
  mailbox: { readonly source: string; readonly account: string },
): Health {
  let condition: Condition = { state: "retrying", reason: "It is being connected.", fix: "" };
  return {
    current: () => condition,
    set(next) {
      const changed = next.state !== condition.state || next.reason !== condition.reason;
      condition = next;
      if (!changed) return;
      const { state, reason, fix, isRead } = next;
      if (state === "ok") log.info(mailbox, "the mailbox is watched");
      else if (state === "standby") log.info(mailbox, "another gateway reads the mailbox");
      else
        log[state === "needs_login" || state === "needs_setup" ? "error" : "warn"](
          { ...mailbox, state, hint: fix },
          `a mailbox ${isRead === true ? "needs attention" : "is not read"}: ${reason}`,
        );
    },
  };
}
