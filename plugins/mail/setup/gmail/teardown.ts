/** `webhooks gmail teardown`: undoes the setup, at Google and here. */
import type { CliAnswer, CliCall } from "service-gateway/sdk";
import { deleteGrant, type Grant, readGrant } from "../../gmail/grants.ts";
import { send } from "../../gmail/request.ts";
import { SourceError } from "../../source.ts";
import { forgetMailbox } from "../forget.ts";
import { answered, isSet } from "../options.ts";
import { type Result, retained, runSteps, type Steps } from "../steps.ts";
import { type GmailAccess, openAccess } from "./access.ts";
import { type MailboxPlace, placeOf, settingsOf } from "./account.ts";
import { type Made, madePlace } from "./notices.ts";

const owned = ["account", "credentials", "serviceAccount", "mode", "label", "project", "topic", "subscription", "push"];

export const teardownGmail = (call: CliCall): Promise<CliAnswer> =>
  answered(async () => {
    const place = await placeOf(call);
    const names = { source: "gmail", account: place.address };
    return runSteps(call, { dryRun: isSet(call, "dry-run"), failed: names }, async (steps) => {
      // Notices first: they need the credentials of the configuration. The mailbox is removed here even if Google
      // refuses.
      const noticesEnded = await removeNotices(call, steps, place);
      await removeSettings(call, steps, place);
      // A mailbox that is still watched would ask its owner for a new login.
      const ends = [noticesEnded, await returnPermission(call, steps, place)];
      await forgetMailbox(call, steps, { source: "gmail", account: place.name });
      const ok = !ends.includes(false);
      return steps.answer(names, [ok ? ending(steps) : "Everything else was done. Fix the failed steps above."], {
        ok,
      });
    });
  });

const ending = ({ dryRun }: Steps) =>
  dryRun ? "This was a dry run: nothing was changed." : "The mailbox itself was not changed.";

/** `false` if something is left at Google. */
async function removeNotices(call: CliCall, steps: Steps, place: MailboxPlace): Promise<boolean> {
  const { address, existing } = place;
  const made = ((await call.store.get(madePlace(address))) ?? {}) as Made;
  const all = [made.subscription, made.topic].filter((name) => name !== undefined);
  const isAnnounced = existing?.topic !== undefined;
  if (existing === undefined || (!isAnnounced && all.length === 0)) {
    const left = `${all.join(" and ")} could not be deleted earlier; delete the rest in the Google Cloud console.`;
    await steps.step("notices", "Looking", async () =>
      retained(all.length > 0 ? left : "The setup created nothing at Google for this mailbox."),
    );
    return true;
  }
  const attempt = (detail: string, work: (google: GmailAccess) => Promise<unknown>) =>
    steps.attempt("notices", detail, async (): Promise<Result<true>> => {
      if (!steps.dryRun) await work(openAccess(call, place, await settingsOf(call, place, {})));
      return { outcome: steps.dryRun ? "would" : "done", detail, value: true };
    });
  const isStopped = !isAnnounced || (await attempt("stop the announcements of Gmail", ({ stop }) => stop())) === true;
  let left = 0;
  for (const name of all)
    if ((await attempt(`delete ${name}`, ({ cloud }) => cloud.remove(name))) === undefined) left += 1;
  // What could not be deleted remains recorded as ours.
  if (!steps.dryRun && left === 0) await call.store.delete(madePlace(address));
  return isStopped && left === 0;
}

async function removeSettings(call: CliCall, steps: Steps, { path, at, existing }: MailboxPlace): Promise<void> {
  const preset = call.preset("gmail");
  if (existing === undefined) {
    await steps.step("configuration", "Looking", async () => retained("The mailbox is not configured."));
    return;
  }
  const section = `hooks.gmail${at === "" ? "" : `.${at.slice(0, -1)}`}`;
  const detail = { would: `remove the mailbox from ${section}`, done: `The mailbox is removed from ${section}.` };
  await steps.change("configuration", detail, async () => {
    if (path.length > 0) await preset.set(path, undefined);
    // The section also contains settings that do not belong to the mailbox.
    else for (const key of owned) await preset.set([key], undefined);
  });
}

/** `false` if Google has not revoked it; it stays stored for another attempt. */
async function returnPermission(call: CliCall, steps: Steps, { address }: MailboxPlace): Promise<boolean> {
  const grant = await readGrant(call.store, address);
  if (grant === undefined) {
    await steps.step("permission", "Looking", async () => retained("No permission is stored."));
    return true;
  }
  const detail = "revoke the permission and delete it";
  const returned = await steps.attempt("permission", "Revoking the permission", async (): Promise<Result<true>> => {
    if (steps.dryRun) return { outcome: "would", detail, value: true };
    await revoke(call, grant);
    await deleteGrant(call.store, address);
    return { outcome: "done", detail, value: true };
  });
  return returned === true;
}

const byHand = "Run teardown again, or remove the permission at https://myaccount.google.com/permissions.";

async function revoke(
  { signal }: CliCall,
  { refreshToken, revokeUri = "https://oauth2.googleapis.com/revoke" }: Grant,
): Promise<void> {
  const answer = await send(revokeUri, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ token: refreshToken }).toString(),
    signal,
  }).catch((error: unknown) => {
    throw error instanceof SourceError ? new SourceError("setup", error.message, byHand) : error;
  });
  // 400: it was already withdrawn.
  if (answer.status !== 200 && answer.status !== 400)
    throw new SourceError("setup", `Google did not revoke the permission (${answer.status}).`, byHand);
}
