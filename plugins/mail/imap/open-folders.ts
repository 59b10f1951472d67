/** The connection of a mailbox: one at a time, opened when it is needed, and the folders that are opened over it. */
import type { ImapFlow } from "imapflow";
import { onEvent } from "service-gateway/sdk/channel";
import type { ImapSettings } from "../settings.ts";
import { SourceError } from "../source.ts";
import { connect } from "./connection.ts";
import { answeredIn, withoutStall } from "./deadline.ts";
import { encryptionOf } from "./encryption.ts";
import { faultOf } from "./faults.ts";
import { type OpenFolder, refusalOf } from "./folder.ts";
import type { ImapLogin } from "./login.ts";

type Reading<T> = (open: OpenFolder) => Promise<T>;

export interface OpenFolders {
  /** The connection, known to respond; a new one if it does not. */
  connected(): Promise<ImapFlow>;
  /** Rejects with `MissingFolder` if the server does not have the folder. */
  inFolder<T>(folder: string, read: Reading<T>): Promise<T>;
  /** `rung` is called when the server announces something new, and when the connection ends. */
  doorbell(rung: () => void): void;
  close(): void;
}

export interface OpenFoldersOptions {
  readonly login: ImapLogin;
  /** Returns the text of a file that the configuration names. */
  readonly read: (file: string) => string;
}

/** A working server answers at once. */
const answerMs = 3_000;

export function createOpenFolders(
  account: string,
  settings: ImapSettings,
  { login, read }: OpenFoldersOptions,
): OpenFolders {
  const { host, tls } = settings;
  let client: ImapFlow | undefined;
  let closed = false;
  /** What ended the connection; the waiting call only sees that it ended. */
  let limit: unknown;
  let ring = (): void => {};

  async function connected(): Promise<ImapFlow> {
    if (client?.usable === true && (await answers(client))) return client;
    client?.close();
    client = undefined;
    limit = undefined;
    const encryption = encryptionOf(tls, { host, read });
    const fresh = await login.with((credentials) => connect(settings, { credentials, encryption }));
    // The source was closed while it connected.
    if (closed) fresh.close();
    client = fresh;
    const source = `the mail server ${host}`;
    onEvent<readonly [unknown]>(fresh, "error", {
      source,
      handle(error) {
        limit ??= error;
      },
    });
    onEvent(fresh, "exists", { source, handle: () => ring() });
    onEvent(fresh, "close", {
      source,
      handle() {
        if (client === fresh) client = undefined;
        ring();
      },
    });
    return fresh;
  }

  async function inFolder<T>(folder: string, read: Reading<T>): Promise<T> {
    try {
      const open = await connected();
      return await withoutStall({ client: open, host }, openedFor(open, folder, read));
    } catch (error) {
      const cause = faultOf(limit, host);
      throw cause.kind === "too_large" || cause === limit ? cause : faultOf(error, host);
    }
  }

  async function openedFor<T>(open: ImapFlow, folder: string, read: Reading<T>): Promise<T> {
    const lock = await open.getMailboxLock(folder, { readOnly: true }).catch(async (error: unknown) => {
      throw await refusalOf(error, { client: open, host, name: folder });
    });
    try {
      if (open.mailbox === false)
        throw new SourceError("outage", `${host} closed the folder ${folder}.`, "It is retried automatically.");
      const { uidValidity, uidNext } = open.mailbox as { readonly uidValidity: bigint; readonly uidNext?: number };
      return await read({ client: open, host, account, name: folder, validity: String(uidValidity), next: uidNext });
    } finally {
      lock.release();
    }
  }

  return {
    connected,
    inFolder,
    doorbell(rung) {
      ring = rung;
    },
    close() {
      closed = true;
      ring = () => {};
      client?.close();
      client = undefined;
    },
  };
}

async function answers(client: ImapFlow): Promise<boolean> {
  try {
    await answeredIn(answerMs, { client, host: "" }, client.noop());
    return client.usable;
  } catch {
    return false;
  }
}
