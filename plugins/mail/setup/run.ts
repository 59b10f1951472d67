/**
 * `webhooks imap run` and `webhooks gmail run`: watches a mailbox in the foreground, and submits its mail to a gateway
 * over HTTP.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { CliAnswer, CliCall, PluginHost, PluginLog } from "service-gateway/sdk";
import { fetchWhole } from "service-gateway/sdk/reading";
import type { MailboxName } from "../handover.ts";
import { createLease } from "../lease.ts";
import { watchMailbox } from "../mailbox.ts";
import type { MailboxSettings } from "../settings.ts";
import { type MailSource, SourceError } from "../source.ts";
import { textOf, UsageError } from "./options.ts";

type Host = Parameters<typeof watchMailbox>[0];

const answerMs = 30_000;
/** A gateway answers a webhook in one short object. */
const maxAnswerBytes = 1_048_576;

export async function runMailbox(
  call: CliCall,
  mailbox: MailboxName,
  settings: MailboxSettings,
  source: MailSource,
): Promise<CliAnswer> {
  const { url, token } = await destinationOf(call, mailbox.source);
  const lease = createLease(call, mailbox, "run");
  const lost = await lease.hold();
  call.say(`Watching ${mailbox.account}; mail goes to ${url.href}. Ctrl-C ends it.`);
  const watched = watchMailbox(hostOf(call, { url, token }), mailbox, settings, source);
  await ended(AbortSignal.any([call.signal, lost]));
  await watched.close();
  await lease.release();
  if (call.signal.aborted)
    return { lines: ["Ended; the next start continues from here."], data: { ok: true, account: mailbox.account } };
  return { lines: ["Another process reads this mailbox now."], data: null, failed: true };
}

async function ended(signal: AbortSignal): Promise<void> {
  // A timer keeps the process alive when nothing else does, such as between two looks.
  while (!signal.aborted) await sleep(60_000, undefined, { signal }).catch(() => {});
}

async function destinationOf(call: CliCall, source: string): Promise<{ readonly url: URL; readonly token: string }> {
  const preset = call.preset(source);
  const given = textOf(call, "url");
  const token = await preset.token();
  if (given !== undefined) {
    if (!URL.canParse(given) || !/^https?:$/.test(new URL(given).protocol))
      throw new UsageError(
        `--url is the full URL of the webhook, such as https://gateway.example.org/hooks/${source}, not "${given}".`,
      );
    return { url: new URL(given), token };
  }
  const gateway = await call.gateway();
  if (gateway === undefined)
    throw new SourceError(
      "setup",
      "No gateway is running on this state.",
      `Start one with \`${call.program} gateway\`, or give --url.`,
    );
  return { url: new URL((await preset.hooks()).path, gateway.url), token };
}

/** The part of a gateway that the watcher uses, implemented by calls to the gateway's webhook. */
function hostOf(call: CliCall, to: { readonly url: URL; readonly token: string }): Host {
  return {
    store: call.store,
    now: call.now,
    log: logOf(call),
    // Only the gateway that runs elsewhere knows its owner; this process has only the terminal.
    notifyOwner: async () => false,
    async receive({ body }) {
      const { detail = "", code = "" } = (body ?? {}) as { readonly detail?: string; readonly code?: string };
      call.say(`A mail started no run (${code}). ${detail}`);
      return { eventId: "", duplicate: false };
    },
    // Over HTTP there is no separate field for it, so the preset begins the message with it.
    hook: (_, payload, { key, origin = "" }) => post(to, { ...(payload as object), origin: `${origin}\n\n` }, key),
    // Only the gateway that accepted the mail knows the agent's reply.
    hookResult: async () => undefined,
  };
}

async function post(
  { url, token }: { readonly url: URL; readonly token: string },
  payload: Parameters<PluginHost["hook"]>[1],
  key: string,
): ReturnType<PluginHost["hook"]> {
  const response = await fetchWhole(url, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", "idempotency-key": key },
    body: JSON.stringify(payload),
    maxBytes: maxAnswerBytes,
    timeoutMs: answerMs,
  });
  const answer = parsed(response.text) as {
    readonly eventId?: string;
    readonly error?: string;
    readonly code?: string;
    readonly duplicate?: boolean;
  };
  // The mail was accepted before, in part or in another form.
  if (answer.code === "idempotency_conflict") return { eventId: "", duplicate: true };
  if (!response.ok)
    throw Object.assign(new Error(answer.error ?? `${url.host} answered ${response.status}.`), {
      status: response.status,
      code: answer.code,
    });
  return { eventId: answer.eventId ?? "", duplicate: answer.duplicate === true };
}

function parsed(text: string): object {
  try {
    return Object(JSON.parse(text)) as object;
  } catch {
    return {};
  }
}

/** Log lines that matter to the person at the terminal. None contains text of a mail. */
function logOf(call: CliCall): PluginLog {
  const line = (fields: object, message: string): void => {
    const { hint } = fields as { readonly hint?: string };
    call.say(
      `${new Date(call.now()).toISOString().slice(11, 19)} ` +
        `${message}${hint === undefined || hint === "" ? "" : ` ${hint}`}`,
    );
  };
  const silent = (): void => {};
  return { trace: silent, debug: silent, info: line, warn: line, error: line };
}
