/** `service slack install`: the app in another workspace, by Slack's sign-in (OAuth). */
import { randomBytes } from "node:crypto";
import type { CliAnswer, CliCall } from "service-gateway/sdk";
import { fetchWhole } from "service-gateway/sdk/reading";
import { record, text } from "./fields.ts";
import { isSafeUrl } from "./options.ts";
import { scopes } from "./scopes.ts";

/** Nothing answers there: the operator copies the address that Slack has sent their browser to. */
export const redirectUrl = "https://localhost/slack";
const stateSeconds = 600;

const failed = (line: string): CliAnswer => ({ lines: [line], data: null, failed: true });

/**
 * Two steps: an address to open, and what Slack answers with.
 * https://docs.slack.dev/authentication/installing-with-oauth
 */
export async function install(call: CliCall): Promise<CliAnswer> {
  const given = call.options as Readonly<Record<string, string | undefined>>;
  const { "client-id": clientId = "", address } = given;
  const api = given["api-url"] ?? "https://slack.com/api";
  if (!isSafeUrl(api)) return { lines: [`${api} is not an https address.`], data: null, failed: "usage" };
  return address === undefined
    ? await begin(call, { clientId, api })
    : await complete(call, { clientId, api, address });
}

async function begin(
  call: CliCall,
  { clientId, api }: { readonly clientId: string; readonly api: string },
): Promise<CliAnswer> {
  const state = randomBytes(16).toString("hex");
  await call.store.set("install", state, { ttlSeconds: stateSeconds });
  const open = new URL("/oauth/v2/authorize", api);
  open.search = new URLSearchParams({
    ...{ client_id: clientId, scope: Object.keys(scopes).join(","), redirect_uri: redirectUrl, state },
  }).toString();
  return {
    lines: [
      "1. Open this address, choose the workspace, and press Allow:",
      open.href,
      "2. The browser shows a page that it cannot load. Copy its address, and run within ten minutes:",
      `${call.program} slack install --client-id ${clientId} --address 'the address'`,
    ],
    data: { url: open.href },
  };
}

async function complete(
  call: CliCall,
  about: { readonly clientId: string; readonly api: string; readonly address: string },
): Promise<CliAnswer> {
  const query = URL.canParse(about.address) ? new URL(about.address).searchParams : new URLSearchParams();
  const [code, state] = [query.get("code"), query.get("state")];
  if (query.get("error") !== null) return failed(`Slack did not install the app: ${query.get("error")}.`);
  if (code === null || state === null || state !== (await call.store.get("install")))
    return failed("This is not the address that the browser showed, or it is older than ten minutes. Begin again.");
  const secret =
    process.env.SLACK_CLIENT_SECRET ?? (await call.terminal?.password("Client Secret (Basic Information)"));
  if (secret === undefined || secret === "")
    return failed("Set SLACK_CLIENT_SECRET to the Client Secret of the app (Basic Information).");
  const response = await fetchWhole(`${about.api}/oauth.v2.access`, {
    ...{ method: "POST", maxBytes: 100_000, timeoutMs: 30_000, signal: call.signal },
    body: new URLSearchParams({ client_id: about.clientId, client_secret: secret, code, redirect_uri: redirectUrl }),
  });
  const answer = parsed(response.text);
  const [token, team] = [text(answer.access_token), text(record(answer.team)?.id)];
  if (answer.ok !== true || token === undefined || team === undefined || !/^[TE][A-Z0-9]+$/.test(team))
    return failed(`Slack did not install the app: ${text(answer.error) ?? `status ${response.status}`}.`);
  await call.store.delete("install");
  const file = await call.secretFiles.write(`${team}.token`, token);
  const account = { botToken: { file }, team };
  return {
    lines: [
      `The app is in ${text(record(answer.team)?.name) ?? team}. Its token is in ${file}.`,
      "Add the account to channels.slack.accounts, under a name of your choice:",
      `"${team.toLowerCase()}": ${JSON.stringify(account)}`,
    ],
    data: { account, team },
  };
}

function parsed(body: string): Readonly<Record<string, unknown>> {
  try {
    return record(JSON.parse(body)) ?? {};
  } catch {
    return {};
  }
}
