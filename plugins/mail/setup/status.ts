/**
 * `webhooks imap status` and `webhooks gmail status`: the state of each mailbox, as reported by the running gateway.
 */
import type { CliAnswer, CliCall, Json } from "service-gateway/sdk";
import { answered, textOf } from "./options.ts";

/** A mailbox as configured, for when no gateway is running. */
export interface ConfiguredMailbox {
  readonly account: string;
  /** Such as `ada@example.org at imap.example.org`. */
  readonly where: string;
  readonly enabled: boolean;
}

/** As the other commands say it: `22 s ago`. */
function ago(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  const [size, unit] = (
    [
      [86_400, "d"],
      [3_600, "h"],
      [60, "min"],
    ] as const
  ).find(([least]) => seconds >= least) ?? [1, "s"];
  return seconds < 2 ? "just now" : `${Math.floor(seconds / size)} ${unit} ago`;
}

export function showStatus(
  call: CliCall,
  source: string,
  configured: readonly ConfiguredMailbox[],
): Promise<CliAnswer> {
  return answered(async () => {
    const account = textOf(call, "account");
    const isAsked = (one: { readonly account: string }) => account === undefined || one.account === account;
    const mailboxes = configured.filter(isAsked);
    const gateway = await call.gateway();
    const watched = (gateway?.watched ?? []).filter((one) => one.source === source && isAsked(one));
    const data: Json = {
      running: gateway !== undefined,
      mailboxes: mailboxes.map(({ account: name, where, enabled }) => {
        const {
          state = null,
          reason = "",
          fix = "",
          last,
          lastSync,
        } = watched.find((one) => one.account === name) ?? {};
        return {
          source,
          account: name,
          where,
          enabled,
          state,
          reason,
          fix,
          lastMail: last?.at ?? null,
          lastSync: lastSync ?? null,
        };
      }),
    };
    if (mailboxes.length === 0) {
      const none =
        account === undefined
          ? `No mailbox is configured: ${call.program} webhooks ${source} setup`
          : `There is no mailbox ${account}.`;
      return { lines: [none], data, ...(account === undefined ? {} : { failed: true }) };
    }
    const now = call.now();
    const time = (at: number | undefined) => (at === undefined ? "" : ago(now - at));
    const rows = mailboxes.map(({ account: name, where, enabled }) => {
      const { state, reason = "", fix = "", last, lastSync } = watched.find((one) => one.account === name) ?? {};
      const shown = state ?? (enabled ? (gateway === undefined ? "configured" : "not read") : "off");
      return [name, where, shown, time(last?.at), time(lastSync), [reason, fix].join(" ").trim()];
    });
    const head = ["account", "mailbox", "state", "last mail", "last read", ""];
    const note =
      gateway === undefined
        ? [`No gateway is running; this is the configuration. Start one: ${call.program} gateway`]
        : [];
    return { lines: [head, ...rows, ...note], data };
  });
}
