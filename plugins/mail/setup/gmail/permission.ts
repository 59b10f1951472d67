/** The step that obtains a permission to read the mailbox: a stored one is kept, otherwise the user is asked. */
import type { CliCall, Json } from "service-gateway/sdk";
import { readGrant, writeGrant } from "../../gmail/grants.ts";
import { call as callApi } from "../../gmail/request.ts";
import { pubsubScope, readScope } from "../../gmail/scopes.ts";
import type { GmailSettings } from "../../settings.ts";
import { SourceError } from "../../source.ts";
import { isSet } from "../options.ts";
import { done, retained, type Steps } from "../steps.ts";
import { openAccess } from "./access.ts";
import type { WantedGmail } from "./account.ts";
import { type OAuthClient, readClientFile } from "./client.ts";
import { askPermission } from "./consent.ts";

/** `false` if a dry run has found that there is none yet. */
export async function givePermission(
  call: CliCall,
  steps: Steps,
  wanted: WantedGmail,
  settings: GmailSettings,
): Promise<boolean> {
  const isService = settings.serviceAccount !== undefined;
  const client = isService ? undefined : await readClient(call, steps, wanted);
  if (client === undefined || settings.refreshToken !== undefined) {
    await steps.step("permission", "Asking for an access token", async () => {
      await openAccess(call, wanted, settings).mailTokens.token();
      return wanted.existed
        ? retained("It is valid.")
        : done(isService ? "The service account may read the mailbox." : "It is valid.");
    });
    return true;
  }
  const scopes = wanted.mode === "poll" ? [readScope] : [readScope, pubsubScope];
  if (await isPermitted(call, wanted, settings, { client, scopes })) {
    await steps.step("permission", "Checking the permission", async () => retained("It is stored and valid."));
    return true;
  }
  const detail = {
    would: "ask you in the browser for the permission to read the mailbox, and store it",
    done: "You gave the permission to read the mailbox, and it is stored.",
  };
  await steps.change("permission", detail, () => ask(call, wanted, settings, { client, scopes }));
  return !steps.dryRun;
}

async function readClient(call: CliCall, steps: Steps, { at, wanted, existed }: WantedGmail): Promise<OAuthClient> {
  return await steps.step("credentials", "Reading the credentials", async () => {
    const client = readClientFile(call.preset("gmail").secret(wanted.credentials, `${at}credentials`));
    const detail =
      "The OAuth " +
      `client${client.project === undefined ? "" : ` of the project ${client.project}`} can be ` +
      "read.";
    return { ...(existed ? retained(detail) : done(detail)), value: client };
  });
}

interface Asked {
  readonly client: OAuthClient;
  readonly scopes: readonly string[];
}

async function isPermitted(
  call: CliCall,
  wanted: WantedGmail,
  settings: GmailSettings,
  { client, scopes }: Asked,
): Promise<boolean> {
  const grant = await readGrant(call.store, wanted.address);
  if (grant === undefined || grant.clientId !== client.clientId) return false;
  if (!scopes.every((scope) => grant.scopes?.includes(scope) === true)) return false;
  try {
    await openAccess(call, wanted, settings).mailTokens.token();
    return true;
  } catch (error) {
    if (error instanceof SourceError && error.kind === "revoked") return false;
    throw error;
  }
}

async function ask(
  call: CliCall,
  { address }: WantedGmail,
  { roots }: GmailSettings,
  { client, scopes }: Asked,
): Promise<void> {
  const opensBrowser = call.terminal !== undefined && !isSet(call, "no-browser");
  const {
    refreshToken,
    accessToken,
    scopes: granted,
  } = await askPermission(call, client, { address, scopes, opensBrowser });
  const tokens = { token: async () => accessToken };
  const url = `${roots.gmail}/gmail/v1/users/me/profile`;
  const { emailAddress } = (await callApi(tokens, url, { doing: "open the mailbox", signal: call.signal })) as {
    readonly emailAddress: Json;
  };
  // Checked before it is stored, because the browser may be logged in to another account.
  if (String(emailAddress).toLowerCase() !== address.toLowerCase())
    throw new SourceError(
      "setup",
      `The permission was granted for ${emailAddress}, and not for ${address}.`,
      "Run the command again and choose the other user in the browser.",
    );
  const { clientId, revokeUri } = client;
  await writeGrant(call.store, address, { refreshToken, clientId, grantedAt: call.now(), scopes: granted, revokeUri });
}
