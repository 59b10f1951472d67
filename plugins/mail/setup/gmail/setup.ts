/** `webhooks gmail setup`: permission, mailbox, notifications and configuration, each checked before it is changed. */
import type { CliAnswer, CliCall, Json } from "service-gateway/sdk";
import type { GmailSettings } from "../../settings.ts";
import { prepareHooks } from "../hook-server.ts";
import { answered, isSet } from "../options.ts";
import { prepareStart } from "../start.ts";
import { retained, runSteps, type Steps } from "../steps.ts";
import { type GmailAccess, openAccess } from "./access.ts";
import { changesIn, placeOf, settingsOf, type WantedGmail, wantedGmail } from "./account.ts";
import { checkGmail } from "./checks.ts";
import { namesOf, prepareNotices } from "./notices.ts";
import { givePermission } from "./permission.ts";

export const setupGmail = (call: CliCall): Promise<CliAnswer> =>
  answered(async () => {
    const preset = call.preset("gmail");
    const wanted = wantedGmail(call, await placeOf(call));
    const { address } = wanted;
    const names = { source: "gmail", account: address };
    return runSteps(call, { dryRun: isSet(call, "dry-run"), failed: names }, async (steps) => {
      const settings = await settingsOf(call, wanted, wanted.wanted);
      // What is missing on the command line is said before the user gives a permission.
      if (wanted.mode !== "poll") namesOf(call, wanted);
      const permitted = await givePermission(call, steps, wanted, settings);
      const access = openAccess(call, wanted, settings);
      const isSetUp = wanted.existed && Object.keys(changesIn(wanted)).length === 0;
      if (permitted) await checkGmail(call, steps, { access, settings, address, outcome: isSetUp ? "kept" : "done" });
      const notices = await noticesOf(call, steps, { wanted, settings, access, permitted });
      await prepareHooks(steps, preset, "gmail");
      const undo = await prepareStart(call, steps, { source: "gmail", account: wanted.name }, wanted);
      await writeMailbox(call, steps, { ...wanted, wanted: { ...wanted.wanted, ...notices }, undo });
      return steps.answer({ ...names, mode: (notices.mode ?? wanted.mode) as Json }, await nextLines(call, steps));
    });
  });

/** Settings of the notifications. If Google refuses them, the mailbox is polled. */
async function noticesOf(
  call: CliCall,
  steps: Steps,
  parts: {
    readonly wanted: WantedGmail;
    readonly settings: GmailSettings;
    readonly access: GmailAccess;
    readonly permitted: boolean;
  },
): Promise<{ readonly [key: string]: Json }> {
  if (parts.wanted.mode === "poll") return {};
  return (await prepareNotices(call, steps, parts)) ?? { mode: "poll" };
}

async function writeMailbox(
  call: CliCall,
  steps: Steps,
  wanted: WantedGmail & { readonly undo: () => Promise<void> },
): Promise<void> {
  const preset = call.preset("gmail");
  const { path, at, existing, undo } = wanted;
  const changes = changesIn(wanted);
  const place = ["hooks.gmail", ...(at === "" ? [] : [at.slice(0, -1)])].join(".");
  if (Object.keys(changes).length === 0) {
    await steps.step("configuration", "Checking the configuration", async () => retained(`${place} is correct.`));
    return;
  }
  const keys = Object.keys(changes).join(", ");
  const detail = { would: `set ${keys} of ${place}`, done: `${place} has new values of ${keys}.` };
  await steps.change("configuration", detail, async () => {
    try {
      if (existing === undefined) await preset.set(path, changes);
      // Credentials are written last, because the mailbox is watched once they are set.
      else
        for (const [key, value] of Object.entries(changes).sort(credentialsLast))
          await preset.set([...path, key], value);
    } catch (error) {
      await undo();
      throw error;
    }
  });
}

const isCredential = (key: string) => Number(key === "credentials" || key === "serviceAccount");
const credentialsLast = ([one]: readonly [string, Json], [other]: readonly [string, Json]) =>
  isCredential(one) - isCredential(other);

async function nextLines(call: CliCall, { dryRun }: Steps): Promise<readonly string[]> {
  if (dryRun) return ["This was a dry run: nothing was changed."];
  const status = `\`${call.program} webhooks gmail status\` shows the state of the mailbox.`;
  if ((await call.gateway()) === undefined)
    return [`No gateway is running; the next start reads the mailbox: ${call.program} gateway`, status];
  return ["The running gateway applies this within seconds.", status];
}
