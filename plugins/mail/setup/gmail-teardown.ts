/** `webhooks gmail teardown`: takes back what setup has made, at Google and here. */
import type { CliAnswer, CliCall } from "service-gateway/sdk";
import { deleteGrant, readGrant } from "../gmail/grants.ts";
import { send } from "../gmail/request.ts";
import { SourceError } from "../source.ts";
import { forgetMailbox } from "./forget.ts";
import { openAccess } from "./gmail-access.ts";
import { type MailboxPlace, placeOf, settingsOf } from "./gmail-account.ts";
import { readClientFile } from "./gmail-client.ts";
import { type Made, madePlace } from "./gmail-notices.ts";
import { answered, isSet } from "./options.ts";
import { kept, type Result, runSteps, type Steps } from "./steps.ts";

const owned = ["account", "credentials", "serviceAccount", "mode", "label", "project", "topic", "subscription", "push"];

export const teardownGmail = (call: CliCall): Promise<CliAnswer> =>
  answered(async () => {
    const place = await placeOf(call);
    const names = { source: "gmail", account: place.address };
    return runSteps(call, { dryRun: isSet(call, "dry-run"), failed: names }, async (steps) => {
      // Google first: afterwards nothing is left to log in with. What Google refuses does not keep the mailbox here.
      await removeNotices(call, steps, place);
      await removeSettings(call, steps, place);
      await returnPermission(call, steps, place);
      await forgetMailbox(call, steps, { source: "gmail", account: place.name });
      return steps.answer(names, steps.dryRun ? ["This was a dry run: nothing was changed."] : ["The mailbox itself was not changed."]);
    });
  });

async function removeNotices(call: CliCall, steps: Steps, place: MailboxPlace): Promise<void> {
  const { address, existing } = place;
  const made = ((await call.store.get(madePlace(address))) ?? {}) as Made;
  const isAnnounced = existing?.topic !== undefined;
  if (existing === undefined || (!isAnnounced && made.topic === undefined && made.subscription === undefined)) {
    await steps.step("notices", "Looking", async () => kept("Nothing was made at Google for this mailbox."));
    return;
  }
  const { stop, cloud } = openAccess(call, place, await settingsOf(call, place, {}));
  const tell = (detail: string, work: () => Promise<unknown>) =>
    steps.attempt("notices", detail, async (): Promise<Result<true>> => {
      if (!steps.dryRun) await work();
      return { outcome: steps.dryRun ? "would" : "done", detail, value: true };
    });
  if (isAnnounced) await tell("stop the announcements of Gmail", stop);
  let left = 0;
  for (const name of [made.subscription, made.topic])
    if (name !== undefined && (await tell(`delete ${name}`, () => cloud.remove(name))) === undefined) left += 1;
  // What could not be deleted is still known to be ours.
  if (!steps.dryRun && left === 0) await call.store.delete(madePlace(address));
}

async function removeSettings(call: CliCall, steps: Steps, { path, at, existing }: MailboxPlace): Promise<void> {
  const preset = call.preset("gmail");
  if (existing === undefined) {
    await steps.step("configuration", "Looking", async () => kept("The mailbox is not configured."));
    return;
  }
  await steps.change("configuration", `remove the mailbox from hooks.gmail${at === "" ? "" : `.${at.slice(0, -1)}`}`, async () => {
    if (path.length > 0) await preset.set(path, undefined);
    // The section itself also holds what is no part of the mailbox.
    else for (const key of owned) await preset.set([key], undefined);
  });
}

async function returnPermission(call: CliCall, steps: Steps, { address, at, existing }: MailboxPlace): Promise<void> {
  const { store, signal } = call;
  const grant = await readGrant(store, address);
  if (grant === undefined) {
    await steps.step("permission", "Looking", async () => kept("No permission is stored."));
    return;
  }
  await steps.change("permission", "give the permission back to Google and forget it", async () => {
    const revoke = existing?.credentials === undefined ? "https://oauth2.googleapis.com/revoke" : revokeUri(call, existing.credentials, at);
    const { status } = await send(revoke, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ token: grant.refreshToken }).toString(),
      signal,
    });
    // 400: it was withdrawn before.
    if (status !== 200 && status !== 400)
      throw new SourceError(
        "setup",
        `Google did not take the permission back (${status}).`,
        "Remove it at https://myaccount.google.com/permissions.",
      );
    await deleteGrant(store, address);
  });
}

function revokeUri(call: CliCall, credentials: unknown, at: string): string {
  return readClientFile(call.preset("gmail").secret(credentials, `${at}credentials`)).revokeUri;
}
