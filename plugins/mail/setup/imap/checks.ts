/**
 * Checks whether a mailbox can be read with its settings: server, login, folders and the newest mail. It changes
 * nothing in the mailbox.
 */
import { connect as connectPlain } from "node:net";
import type { ImapFlow } from "imapflow";
import type { CliCall } from "service-gateway/sdk";
import { onEvent } from "service-gateway/sdk/channel";
import { connect } from "../../imap/connection.ts";
import { encryptionOf } from "../../imap/encryption.ts";
import { faultOf } from "../../imap/faults.ts";
import { type ImapSettings, isLoopback } from "../../settings.ts";
import { SourceError } from "../../source.ts";
import { oneLine } from "../../text.ts";
import type { Result, Steps } from "../steps.ts";
import type { imapAccess } from "./access.ts";
import type { WantedAccount } from "./account.ts";
import { pinnedTls } from "./certificate.ts";
import type { Provider } from "./providers.ts";

const reachMs = 15_000;
const mostNames = 20;

/** Resolves with the encryption to use: a certificate that a server on this machine signed itself is pinned. */
export async function checkMailbox(
  call: Pick<CliCall, "say" | "terminal">,
  steps: Steps,
  {
    settings,
    access,
    provider,
    outcome,
  }: Pick<WantedAccount, "settings" | "provider"> & {
    readonly access: ReturnType<typeof imapAccess>;
    /** The outcome of successful checks; they change nothing. */
    readonly outcome: "done" | "kept";
  },
): Promise<ImapSettings["tls"]> {
  const { host, port, folders } = settings;
  const well = (detail: string): Result => ({ outcome, detail, value: undefined });
  await steps.step("server", `Connecting to ${host}:${port}`, async () => {
    await reach(settings);
    return well(`${host}:${port} accepts connections.`);
  });
  const { login, tls } = await steps.step("encryption", `Greeting ${host}`, async () => {
    const first = await logIn(settings, access);
    const pinned = isUntrusted(first) && isLoopback(host) ? await pinnedTls(settings) : undefined;
    const last = pinned === undefined ? first : await logIn({ ...settings, tls: pinned }, access);
    // The server only answered the login because it accepted the requested connection.
    if ("fault" in last && last.fault.kind !== "login" && last.fault.kind !== "revoked") throw last.fault;
    return { ...well(encryptionText(pinned ?? settings.tls)), value: { login: last, tls: pinned ?? settings.tls } };
  });
  const client = await steps.step("login", `Logging in to ${host}`, async () => {
    if ("fault" in login) throw withWishOf(provider, login.fault);
    return { ...well(`${host} accepts the login of ${settings.user}.`), value: login.client };
  });
  try {
    let newest: string | undefined;
    await steps.step("folders", "Opening the folders", async () => {
      const [first, ...others] = folders;
      // The first folder is opened last, because its newest mail is read next.
      for (const folder of [...others, first ?? "INBOX"]) await openFolder(client, folder, host);
      return well(`${folders.join(", ")} can be opened.`);
    });
    await steps.step("newest mail", "Reading the newest mail", async () => {
      newest = await newestSubject(client, host);
      return well(
        newest === undefined ? `${folders[0]} has no mail yet.` : `The newest mail of ${folders[0]} can be read.`,
      );
    });
    // Proof for the person at the terminal; redirected output may end up in a log.
    if (newest !== undefined && call.terminal !== undefined)
      call.say(`        its subject:    ${newest === "" ? "(empty)" : newest}`);
  } finally {
    client.close();
  }
  return tls;
}

type Login = { readonly client: ImapFlow } | { readonly fault: SourceError };

async function logIn(
  settings: WantedAccount["settings"],
  { login, read }: ReturnType<typeof imapAccess>,
): Promise<Login> {
  const { host, tls } = settings;
  try {
    const encryption = encryptionOf(tls, { host, read });
    return {
      client: await login.with((credentials) => connect(settings as ImapSettings, { credentials, encryption })),
    };
  } catch (error) {
    return { fault: faultOf(error, host) };
  }
}

const isUntrusted = (login: Login): boolean => "fault" in login && login.fault.message.includes("cannot be trusted");

/** Resolves when the port accepts a connection. */
function reach({ host, port }: Pick<ImapSettings, "host" | "port">): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connectPlain({ host, port, timeout: reachMs });
    const fail = (error: unknown) => {
      socket.destroy();
      const { message, fix } = faultOf(error, host);
      reject(
        new SourceError(
          "setup",
          message,
          fix.startsWith("It is tried") ? "Check --host, --port and the network." : fix,
        ),
      );
    };
    const connected = () => {
      socket.destroy();
      resolve();
    };
    onEvent(socket, "connect", { source: host, handle: connected, once: true });
    onEvent(socket, "timeout", {
      source: host,
      handle: () => fail(new Error(`no answer within ${reachMs / 1_000} s`)),
      once: true,
    });
    onEvent<readonly [unknown]>(socket, "error", { source: host, handle: fail });
  });
}

function encryptionText(tls: ImapSettings["tls"]): string {
  if (tls === false) return "None, which is allowed for a server on this machine.";
  const { mode, fingerprint256 } = typeof tls === "object" ? tls : { mode: tls === true ? "tls" : tls };
  const how = mode === "starttls" ? "TLS by STARTTLS" : "TLS from the start";
  return `${how}, with ${fingerprint256 === undefined ? "a trusted certificate" : "the pinned certificate"}.`;
}

function withWishOf(provider: Provider | undefined, { message, fix }: SourceError): SourceError {
  return new SourceError("login", message, provider === undefined ? fix : provider.wants);
}

async function openFolder(client: ImapFlow, folder: string, host: string): Promise<void> {
  try {
    await client.mailboxOpen(folder, { readOnly: true });
  } catch (error) {
    if (!client.usable) throw faultOf(error, host);
    const names = (await client.list()).map(({ path }) => path).slice(0, mostNames);
    throw new SourceError(
      "setup",
      `The folder ${folder} cannot be opened.`,
      `There are: ${names.join(", ")}. Choose one with --folder.`,
    );
  }
}

/** `undefined` if the open folder is empty. */
async function newestSubject(client: ImapFlow, host: string): Promise<string | undefined> {
  try {
    if (client.mailbox === false || client.mailbox.exists === 0) return undefined;
    const mail = await client.fetchOne("*", { envelope: true });
    return mail === false ? undefined : oneLine(mail.envelope?.subject ?? "");
  } catch (error) {
    throw faultOf(error, host);
  }
}
