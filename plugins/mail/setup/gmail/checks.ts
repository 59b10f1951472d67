/** Whether the Gmail mailbox can be read with its credentials. */
import type { CliCall } from "service-gateway/sdk";
import type { GmailSettings } from "../../settings.ts";
import { SourceError } from "../../source.ts";
import { oneLine } from "../../text.ts";
import type { Result, Steps } from "../steps.ts";
import type { GmailAccess } from "./access.ts";

const mostNames = 20;

export async function checkGmail(
  call: Pick<CliCall, "say" | "terminal">,
  steps: Steps,
  {
    access,
    settings,
    address,
    outcome,
  }: {
    readonly access: GmailAccess;
    readonly settings: GmailSettings;
    readonly address: string;
    readonly outcome: "done" | "kept";
  },
): Promise<void> {
  const well = (detail: string): Result => ({ outcome, detail, value: undefined });
  await steps.step("mailbox", "Opening the mailbox", async () => {
    const { emailAddress } = await access.api.profile();
    if (emailAddress.toLowerCase() !== address.toLowerCase())
      throw new SourceError(
        "setup",
        `The credentials open the mailbox ${emailAddress} and not ${address}.`,
        "Grant the permission as the user of that mailbox.",
      );
    return well(`${emailAddress} can be read.`);
  });
  const label = await steps.step("label", "Looking for the label", async () => {
    const labels = await access.api.labels();
    const found = labels.find(
      ({ id, name }) => id === settings.label || name.toLowerCase() === settings.label.toLowerCase(),
    );
    if (found === undefined) {
      const names = labels.map(({ name }) => name).slice(0, mostNames);
      throw new SourceError(
        "setup",
        `The mailbox has no label ${settings.label}.`,
        `There are: ${names.join(", ")}. Choose one with --label.`,
      );
    }
    return { ...well(`${settings.label} is there.`), value: found.id };
  });
  let newest: string | undefined;
  await steps.step("newest mail", "Reading the newest mail", async () => {
    newest = await access.newestSubject(label);
    return well(
      newest === undefined ? `${settings.label} has no mail yet.` : `The newest mail of ${settings.label} can be read.`,
    );
  });
  // Proof for the person at the terminal; redirected output may end up in a log.
  if (newest !== undefined && call.terminal !== undefined)
    call.say(`        its subject:    ${oneLine(newest) || "(empty)"}`);
}
