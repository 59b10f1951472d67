/**
 * A stand-in for Google over real HTTP, on one port: tokens, one Gmail mailbox, Pub/Sub and the keys of pushes, with
 * faults on demand.
 */
import { createServer } from "node:http";
import { createAccounts } from "./google-accounts.ts";
import { type Call, Refusal, type Reply, readCall, refuse, write } from "./google-http.ts";
import { createMailbox } from "./google-mailbox.ts";
import { createPubSub } from "./google-pubsub.ts";

export type Google = Awaited<ReturnType<typeof startGoogle>>;

export async function startGoogle({
  address = "ada@example.net",
  port = 0,
}: {
  readonly address?: string;
  readonly port?: number;
} = {}) {
  let url = "";
  const accounts = createAccounts({ url: () => url, address });
  const topic = `projects/${accounts.project}/topics/mail`;
  const subscription = `projects/${accounts.project}/subscriptions/mail`;
  const pubsub = createPubSub({ post: postTo });
  const mailbox = createMailbox(address, {
    onChange: (historyId, to) => {
      if (!faults.isMute) pubsub.publish(to, { emailAddress: address, historyId: Number(historyId) });
    },
    mayWatch: pubsub.mayPublish,
  });
  const faults = {
    /** So many calls of the APIs are answered 429, with this `Retry-After`. */
    rateLimited: 0,
    retryAfterSeconds: 1,
    /** So many calls are answered 401 though their token is good. */
    unauthorized: 0,
    /** The Gmail API is switched off in the project. */
    isDisabled: false,
    /** Pub/Sub is an emulator, which asks for no token. */
    isEmulator: false,
    /** No permission can be given back for a while. */
    refusesRevoke: false,
    /** No notice is published. */
    isMute: false,
  };
  /** How a public address is reached from here, as by a tunnel. */
  const tunnels = new Map<string, string>();
  const calls: { readonly method: string; readonly path: string; readonly at: number }[] = [];

  async function postTo(config: Readonly<Record<string, unknown>>, body: object): Promise<number> {
    const { serviceAccountEmail: email, audience: aud } = config.oidcToken as Readonly<Record<string, string>>;
    const now = Math.floor(Date.now() / 1_000);
    const claims = {
      iss: "https://accounts.google.com",
      aud,
      email,
      email_verified: true,
      iat: now,
      exp: now + 3_600,
      sub: "1",
    };
    const headers = { authorization: `Bearer ${accounts.pushToken(claims)}`, "content-type": "application/json" };
    const endpoint = new URL(String(config.pushEndpoint));
    const reached = `${tunnels.get(endpoint.origin) ?? endpoint.origin}${endpoint.pathname}${endpoint.search}`;
    const response = await fetch(reached, { method: "POST", headers, body: JSON.stringify(body) });
    await response.arrayBuffer();
    return response.status;
  }

  async function answer(call: Call): Promise<Reply> {
    calls.push({ method: call.method, path: call.path, at: Date.now() });
    if (call.path === "/token") return accounts.token(call);
    if (call.path === "/o/oauth2/v2/auth") return accounts.authorizePage(call);
    if (call.path === "/revoke") return faults.refusesRevoke ? { status: 503 } : accounts.revoke(call);
    if (call.path === "/oauth2/v3/certs") return accounts.certificates();
    const mail = /^\/gmail\/v1\/users\/me\/(.+)$/.exec(call.path)?.[1];
    if (mail !== undefined) {
      const { mailbox: opened } = accounts.authorize(call, "mail");
      if (mail === "profile" && opened !== address) return { body: { emailAddress: opened, historyId: "1" } };
      if (opened !== address) refuse(400, "FAILED_PRECONDITION", { reason: "failedPrecondition" });
    } else if (!faults.isEmulator) accounts.authorize(call, "pubsub");
    if (faults.unauthorized > 0) {
      faults.unauthorized -= 1;
      refuse(401, "UNAUTHENTICATED", { reason: "authError" });
    }
    if (faults.rateLimited > 0) {
      faults.rateLimited -= 1;
      refuse(429, "RESOURCE_EXHAUSTED", {
        reason: "rateLimitExceeded",
        headers: { "retry-after": String(faults.retryAfterSeconds) },
      });
    }
    if (mail === undefined) return pubsub.handle(call);
    const activationUrl = "https://console.developers.google.com/apis/api/gmail.googleapis.com/overview?project=1234";
    if (faults.isDisabled)
      refuse(403, "PERMISSION_DENIED", { reason: "SERVICE_DISABLED", metadata: { activationUrl } });
    return mailbox.handle(call, mail);
  }

  const server = createServer(async (request, response) => {
    const left = new AbortController();
    response.on("close", () => left.abort());
    try {
      write(response, await answer(await readCall(request, left.signal)));
    } catch (error) {
      write(
        response,
        error instanceof Refusal ? error.reply : { status: 500, body: { error: { code: 500, status: "INTERNAL" } } },
      );
    }
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as { readonly port: number }).port}`;

  return {
    url,
    address,
    topic,
    subscription,
    accounts,
    mailbox,
    pubsub,
    faults,
    tunnels,
    calls,
    /** `hooks.gmail` of a mailbox that is watched here. */
    settings: (mode: "poll" | "pull") => ({
      account: address,
      credentials: accounts.clientFile(),
      refreshToken: accounts.refreshToken(),
      apiRoot: url,
      pubsubRoot: url,
      mode,
      ...(mode === "pull" ? { topic, subscription } : {}),
    }),
    /** How often a path was asked for. */
    callsOf: (path: RegExp) => calls.filter((one) => path.test(one.path)).length,
    async close() {
      pubsub.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
