/**
 * How a mailbox is notified of new mail, by its `mode`: from a subscription, by posts to the gateway, or not at all.
 */

import type { GmailSettings } from "../settings.ts";
import { type NoticeStatus, SourceError } from "../source.ts";
import { createNotices, type Notices } from "./notices.ts";
import { createPush, type Push } from "./push.ts";

interface Doorbell {
  /** Absent if the mailbox is polled. */
  readonly notices?: Notices;
  readonly push?: Push;
}

type Parts = Omit<Parameters<typeof createNotices>[0], "account" | "topic" | "subscription"> & { readonly at: string };

/** Missing settings are a fault of the notifications; the mailbox is still polled. */
export function createDoorbell(account: string, settings: GmailSettings, { at, ...parts }: Parts): Doorbell {
  const { mode, push, certificates } = settings;
  if (mode === "poll") return {};
  const topic = nameOf("topics", settings.topic, settings.project);
  const subscription = nameOf("subscriptions", settings.subscription, settings.project);
  if (topic === undefined) return { notices: without(`hooks.gmail.${at}topic`, "projects/my-project/topics/mail") };
  if (mode === "pull") {
    if (subscription === undefined)
      return { notices: without(`hooks.gmail.${at}subscription`, "projects/my-project/subscriptions/mail") };
    return { notices: createNotices({ account, topic, subscription, ...parts }) };
  }
  if (push === undefined)
    return { notices: without(`hooks.gmail.${at}push`, "audience and serviceAccount of the subscription") };
  const { now, signal, onNotice } = parts;
  return {
    notices: createNotices({ account, topic, ...parts }),
    push: createPush({
      expected: { audience: push.audience, email: push.serviceAccount },
      certificates,
      now,
      signal,
      onNotice,
    }),
  };
}

/** A full name, or the last part of one in the project of the settings. */
function nameOf(kind: string, name: string | undefined, project: string | undefined): string | undefined {
  if (name === undefined || name.includes("/")) return name;
  return project === undefined ? undefined : `projects/${project}/${kind}/${name}`;
}

function without(key: string, example: string): Notices {
  const fault = new SourceError("setup", `${key} is missing.`, `Set ${key}, such as ${example}, or set mode to poll.`);
  const status: NoticeStatus = { fault };
  return { status: () => status, async keep() {} };
}
