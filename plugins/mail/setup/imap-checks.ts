/** Whether a mailbox can be read with its settings: the server, the login, the folders and the newest mail. Nothing in it is changed. */
import { connect as connectPlain } from "node:net";
import type { ImapFlow } from "imapflow";
import type { CliCall } from "service-gateway/sdk";
import { connect } from "../imap/connection.ts";
import { faultOf } from "../imap/faults.ts";
import { type ImapSettings, isLoopback } from "../settings.ts";
import { SourceError } from "../source.ts";
import { oneLine } from "../text.ts";
import type { WantedAccount } from "./imap-account.ts";
import type { Provider } from "./providers.ts";
import type { Result, Steps } from "./steps.ts";

const reachMs = 15_000;
const mostNames = 20;

export async function checkMailbox(
  call: Pick<CliCall, "say" | "terminal">,
  steps: Steps,
  {
    settings,
    password,
    provider,
    outcome,
  }: Pick<WantedAccount, "settings" | "provider"> & {
    readonly password: string;
    /** Of checks that succeed: nothing was changed by them. */
    readonly outcome: "done" | "kept";
  },
): Promise<void> {
  const { host, port, tls, folders } = settings;
  const well = (detail: string): Result => ({ outcome, detail, value: undefined });
  await steps.step("server", `Connecting to ${host}:${port}`, async () => {
    await reach(settings);
    return well(`${host}:${port} accepts connections.`);
  });
  if (tls === false && !isLoopback(host))
    await steps.step("encryption", "Looking at the settings", async () => {
      const fix = "Leave --tls out, or use --tls starttls. Nothing was sent.";
      throw new SourceError("setup", `Without encryption the password would go to ${host} in plain text.`, fix);
    });
  const login = connect(settings as ImapSettings, password).then(
    (client) => ({ client }),
    (error: unknown) => ({ fault: faultOf(error, host) }),
  );
  await steps.step("encryption", `Greeting ${host}`, async () => {
    const { fault } = (await login) as { readonly fault?: SourceError };
    // The server answers to a login only over the connection that was asked for.
    if (fault !== undefined && fault.kind !== "login") throw fault;
    return well(encryptionOf(tls));
  });
  const client = await steps.step("login", `Logging in to ${host}`, async () => {
    const { client: open, fault } = (await login) as { readonly client?: ImapFlow; readonly fault?: SourceError };
    if (open === undefined) throw withWishOf(provider, fault);
    return { ...well(`${host} accepts the password of ${settings.user}.`), value: open };
  });
  try {
    let newest: string | undefined;
    await steps.step("folders", "Opening the folders", async () => {
      const [first, ...others] = folders;
      // The first one last: its newest mail is read next.
      for (const folder of [...others, first ?? "INBOX"]) await openFolder(client, folder, host);
      return well(`${folders.join(", ")} can be opened.`);
    });
    await steps.step("newest mail", "Reading the newest mail", async () => {
      newest = await newestSubject(client, host);
      return well(newest === undefined ? `${folders[0]} has no mail yet.` : `The newest mail of ${folders[0]} can be read.`);
    });
    // A proof for the person; what is redirected may end in a log.
    if (newest !== undefined && call.terminal !== undefined) call.say(`        its subject:    ${newest === "" ? "(empty)" : newest}`);
  } finally {
    client.close();
  }
}

/** Resolves when the port accepts a connection. */
function reach({ host, port }: Pick<ImapSettings, "host" | "port">): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connectPlain({ host, port, timeout: reachMs });
    const fail = (error: unknown) => {
      socket.destroy();
      const { message, fix } = faultOf(error, host);
      reject(new SourceError("setup", message, fix.startsWith("It is tried") ? "Check --host, --port and the network." : fix));
    };
    socket.once("connect", () => {
      socket.destroy();
      resolve();
    });
    socket.once("timeout", () => fail(new Error(`no answer within ${reachMs / 1_000} s`)));
    socket.once("error", fail);
  });
}

function encryptionOf(tls: ImapSettings["tls"]): string {
  if (tls === false) return "None, which is allowed to a server on this machine.";
  return tls === true ? "TLS from the start, with a trusted certificate." : "TLS by STARTTLS, with a trusted certificate.";
}

function withWishOf(provider: Provider | undefined, fault: SourceError | undefined): SourceError {
  const { message = "The login failed.", fix = "" } = fault ?? {};
  return new SourceError("login", message, provider === undefined ? fix : provider.wants);
}

async function openFolder(client: ImapFlow, folder: string, host: string): Promise<void> {
  try {
    await client.mailboxOpen(folder, { readOnly: true });
  } catch (error) {
    if (!client.usable) throw faultOf(error, host);
    const names = (await client.list()).map(({ path }) => path).slice(0, mostNames);
    throw new SourceError("setup", `The folder ${folder} cannot be opened.`, `There are: ${names.join(", ")}. Name one with --folder.`);
  }
}

/** `undefined`: the open folder is empty. */
async function newestSubject(client: ImapFlow, host: string): Promise<string | undefined> {
  try {
    if (client.mailbox === false || client.mailbox.exists === 0) return undefined;
    const mail = await client.fetchOne("*", { envelope: true });
    return mail === false ? undefined : oneLine(mail.envelope?.subject ?? "");
  } catch (error) {
    throw faultOf(error, host);
  }
}
