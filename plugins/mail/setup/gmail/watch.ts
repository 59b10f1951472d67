/** `webhooks gmail status` and `run`. */
import type { CliAnswer, CliCall, Json } from "service-gateway/sdk";
import { createGmailSource } from "../../gmail/source.ts";
import { SourceError } from "../../source.ts";
import { answered } from "../options.ts";
import { runMailbox } from "../run.ts";
import { type ConfiguredMailbox, showStatus } from "../status.ts";
import { type GmailSection, placeOf, settingsOf } from "./account.ts";

export async function statusOfGmail(call: CliCall): Promise<CliAnswer> {
  const { accounts = {}, ...root } = ((await call.preset("gmail").settings()) ?? {}) as GmailSection;
  const all: (readonly [string, GmailSection])[] = [
    ...(root.account === undefined ? [] : [[String(root.account), root] as const]),
    ...Object.entries(accounts as Readonly<Record<string, GmailSection>>),
  ];
  return showStatus(call, "gmail", all.map(configured));
}

function configured([account, { account: address, label, mode, enabled, credentials, serviceAccount }]: readonly [
  string,
  GmailSection,
]): ConfiguredMailbox {
  const isWatched = enabled !== false && (credentials ?? serviceAccount) !== undefined;
  return { account, where: `${text(label)} of ${text(address ?? account)} (${text(mode)})`, enabled: isWatched };
}

const text = (value: Json | undefined): string => (typeof value === "string" ? value : "?");

export const runGmail = (call: CliCall): Promise<CliAnswer> =>
  answered(async () => {
    const place = await placeOf(call);
    if (place.existing === undefined)
      throw new SourceError(
        "setup",
        `There is no mailbox ${place.address}.`,
        `\`${call.program} webhooks gmail setup --account ${place.address}\` creates one.`,
      );
    const watched = await settingsOf(call, place, {});
    // Push notifications go to a gateway, so the mailbox is polled here.
    const settings = watched.mode === "push" ? { ...watched, mode: "poll" as const, pollSeconds: 30 } : watched;
    const source = createGmailSource(place.name, settings, {
      host: call,
      secret: call.preset("gmail").secret,
      at: place.at,
    });
    return runMailbox(call, { source: "gmail", account: place.name }, settings, source);
  });
