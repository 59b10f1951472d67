/**
 * The user's permission to read a mailbox: OAuth for desktop apps, with PKCE and a redirect to this machine (RFC 7636,
 * RFC 8252).
 */
import { spawn } from "node:child_process";
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { CliCall } from "service-gateway/sdk";
import { onEvent } from "service-gateway/sdk/channel";
import { send } from "../../gmail/request.ts";
import { SourceError } from "../../source.ts";
import type { OAuthClient } from "./client.ts";

export interface Permission {
  readonly refreshToken: string;
  readonly accessToken: string;
  readonly scopes: readonly string[];
}

/** How long a person may take. */
const patienceMs = 10 * 60_000;
const again = "Run the command again, and leave every box ticked.";

export async function askPermission(
  call: Pick<CliCall, "terminal" | "signal" | "progress">,
  client: OAuthClient,
  {
    address,
    scopes,
    opensBrowser,
  }: { readonly address: string; readonly scopes: readonly string[]; readonly opensBrowser: boolean },
): Promise<Permission> {
  const state = randomBytes(24).toString("base64url");
  const verifier = randomBytes(48).toString("base64url");
  const landing = await openLanding(state);
  try {
    const url = new URL(client.authUri);
    const query = {
      response_type: "code",
      client_id: client.clientId,
      redirect_uri: landing.redirectUri,
      scope: scopes.join(" "),
      access_type: "offline",
      // Without this parameter, a second permission has no refresh token.
      prompt: "consent",
      code_challenge: createHash("sha256").update(verifier).digest("base64url"),
      code_challenge_method: "S256",
      state,
      login_hint: address,
    };
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const doing = `Open this address in a browser and allow it: ${url.href}`;
    const isHeadless = call.terminal !== undefined && !opensBrowser;
    if (opensBrowser) openBrowser(url.href);
    const pasted = isHeadless
      ? call.terminal.ask(`${doing}\nThen paste the address that the browser was redirected to`)
      : undefined;
    const answer =
      pasted === undefined ? call.progress(doing, landed(landing.answer, call.signal)) : pasted.then(answerIn);
    const code = codeIn(await answer, state);
    return await exchange(client, { code, verifier, redirectUri: landing.redirectUri, scopes, signal: call.signal });
  } finally {
    landing.close();
  }
}

/** The address to which the browser is redirected. Requests with another state are ignored. */
async function openLanding(
  state: string,
): Promise<{ readonly redirectUri: string; readonly answer: Promise<URLSearchParams>; close(): void }> {
  const { promise, resolve } = Promise.withResolvers<URLSearchParams>();
  const take = (request: IncomingMessage, response: ServerResponse): void => {
    const searchParams = URL.parse(request.url ?? "/", "http://127.0.0.1")?.searchParams ?? new URLSearchParams();
    const isIt = isSame(searchParams.get("state") ?? "", state);
    response.writeHead(isIt ? 200 : 404, { "content-type": "text/plain; charset=utf-8", connection: "close" });
    response.end(isIt ? "Thank you. You can close this window and go back to the terminal.\n" : "Not found.\n");
    if (isIt) resolve(searchParams);
  };
  const server = createServer();
  onEvent(server, "request", { source: "a client of the setup", handle: take });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    redirectUri: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answer: promise,
    close() {
      server.close();
      server.closeIdleConnections();
    },
  };
}

async function landed(answer: Promise<URLSearchParams>, signal: AbortSignal): Promise<URLSearchParams> {
  const ended = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);
  const late = new Promise<never>((_, reject) => {
    ended.addEventListener("abort", () => reject(new SourceError("setup", "The permission was not granted.", again)), {
      once: true,
    });
  });
  return await Promise.race([answer, late]);
}

function answerIn(pasted: string): URLSearchParams {
  if (URL.canParse(pasted)) return new URL(pasted).searchParams;
  throw new SourceError(
    "setup",
    "What was pasted is not an address.",
    "Paste the whole address from the browser, beginning with http://127.0.0.1.",
  );
}

function codeIn(answer: URLSearchParams, state: string): string {
  if (!isSame(answer.get("state") ?? "", state))
    throw new SourceError(
      "setup",
      "The answer belongs to another request for the permission.",
      "Run the command again and use its address.",
    );
  const code = answer.get("code");
  if (code === null) throw new SourceError("setup", "The permission was refused in the browser.", again);
  return code;
}

function isSame(one: string, other: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}

async function exchange(
  { tokenUri, clientId, clientSecret }: OAuthClient,
  {
    code,
    verifier,
    redirectUri,
    scopes,
    signal,
  }: {
    readonly code: string;
    readonly verifier: string;
    readonly redirectUri: string;
    readonly scopes: readonly string[];
    readonly signal: AbortSignal;
  },
): Promise<Permission> {
  const fields = {
    grant_type: "authorization_code",
    code,
    code_verifier: verifier,
    client_id: clientId,
    client_secret: clientSecret,
    redirect_uri: redirectUri,
  };
  const { status, body } = await send(tokenUri, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams(fields).toString(),
    signal,
  });
  const { refresh_token, access_token, scope } = (body ?? {}) as Readonly<Record<string, unknown>>;
  if (status !== 200 || typeof access_token !== "string")
    throw new SourceError("setup", `Google did not accept the permission (${status}).`, "Run the command again.");
  if (typeof refresh_token !== "string")
    throw new SourceError(
      "setup",
      "Google sent no refresh token.",
      "Check that the OAuth client is of the type Desktop app.",
    );
  const granted = String(scope ?? "").split(" ");
  const missing = scopes.filter((one) => !granted.includes(one));
  if (missing.length > 0) throw new SourceError("setup", `A permission was left out: ${missing.join(", ")}.`, again);
  return { refreshToken: refresh_token, accessToken: access_token, scopes: granted };
}

/** The URL is printed too, in case no browser opens. */
function openBrowser(url: string): void {
  const command = process.platform === "darwin" ? "open" : process.platform === "win32" ? "explorer" : "xdg-open";
  const opener = spawn(command, [url], { stdio: "ignore", detached: true });
  onEvent(opener, "error", { source: command, handle() {} });
  opener.unref();
}
