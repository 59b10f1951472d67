/** What a mailbox's credentials give access to: the API calls, the mailbox's address, and the watched label. */
import type { PluginHost } from "service-gateway/sdk";
import type { GmailSettings } from "../settings.ts";
import { SourceError } from "../source.ts";
import { type Api, createApi, type Profile } from "./api.ts";
import { createCredentials, identityOf } from "./credentials.ts";
import type { Wanted } from "./history.ts";
import type { Tokens } from "./request.ts";
import { pubsubScope, readScope } from "./scopes.ts";
import { createTokens } from "./tokens.ts";

export interface Opened {
  readonly address: string;
  readonly wanted: Wanted;
  /** Set only if it was requested just now. */
  readonly profile?: Profile;
}

export interface Access {
  readonly api: Api;
  /** Identifies the credentials in use. Rejects when they cannot be read. */
  login(): Promise<string>;
  /** Opens the mailbox. Google is asked only the first time for the same credentials. */
  open(): Promise<Opened>;
  /** The most recently opened mailbox. */
  opened(): Opened | undefined;
}

export interface AccessOptions {
  readonly store: PluginHost["store"];
  readonly now: () => number;
  readonly secret: (value: unknown, key: string) => string;
  /** Path of the settings below `hooks.gmail`: empty, or ending in a dot. */
  readonly at: string;
  readonly signal: AbortSignal;
}

const withoutToken: Tokens = { token: async () => "none" };

export function createAccess(settings: GmailSettings, { store, now, secret, at, signal }: AccessOptions): Access {
  const credentials = createCredentials(settings, { secret, store, at });
  const isService = settings.serviceAccount !== undefined;
  const tokensFor = (scope: string, subject?: string) => createTokens(credentials, { scope, subject, now, signal });
  // A user's permission has both scopes. A service account reads as the mailbox, and receives notifications as itself.
  const mailTokens = tokensFor(readScope, isService ? settings.account : undefined);
  const noticeTokens = settings.emulator ? withoutToken : isService ? tokensFor(pubsubScope) : mailTokens;
  const api = createApi({ roots: settings.roots, mailTokens, noticeTokens, signal });
  const login = async () => identityOf(await credentials.read());
  let opened: (Opened & { readonly login: string }) | undefined;

  return {
    api,
    login,
    opened: () => opened,
    async open() {
      if (settings.account === undefined)
        throw new SourceError(
          "setup",
          `hooks.gmail.${at}account is not set.`,
          "Set it to the mail address of the mailbox.",
        );
      const current = await login();
      if (opened?.login === current) return opened;
      const profile = await api.profile();
      const address = profile.emailAddress;
      if (address.toLowerCase() !== settings.account.toLowerCase())
        throw new SourceError(
          "setup",
          `The credentials open the mailbox ${address} and not ${settings.account}.`,
          `Correct hooks.gmail.${at}account, or grant the permission as ${settings.account}.`,
        );
      opened = {
        login: current,
        address,
        wanted: { label: await labelIdOf(settings.label, api), includeOwn: settings.includeOwn },
      };
      return { ...opened, profile };
    },
  };
}

const systemLabel = /^(?:INBOX|STARRED|IMPORTANT|UNREAD|CATEGORY_[A-Z]+)$/;

/** Users know labels by name, the API by id. */
async function labelIdOf(label: string, api: Pick<Api, "labels">): Promise<string> {
  if (systemLabel.test(label)) return label;
  const labels = await api.labels();
  const found = labels.find(({ id, name }) => id === label || name.toLowerCase() === label.toLowerCase());
  if (found === undefined)
    throw new SourceError(
      "setup",
      `The mailbox has no label ${JSON.stringify(label)}.`,
      "Correct label, or create it in Gmail.",
    );
  return found.id;
}
