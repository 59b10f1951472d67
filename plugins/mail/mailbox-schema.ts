/** Mailboxes that the gateway watches: the settings of `hooks.gmail` and `hooks.imap`. */
import { secretReference, Type } from "service-gateway/sdk";

const text = (description: string) => Type.String({ minLength: 1, description });

const names = (description: string) => Type.Optional(Type.Array(Type.String({ minLength: 1 }), { description }));

const tlsSchema = Type.Object(
  {
    mode: Type.Optional(
      Type.Enum(["tls", "starttls"], {
        description: "tls: from the start, the default. starttls: by the STARTTLS command.",
      }),
    ),
    caFile: Type.Optional(
      text(
        "File with the certificates that are trusted for this server, as PEM; relative paths begin at the " +
          "config directory.",
      ),
    ),
    fingerprint256: Type.Optional(
      Type.String({
        pattern: "^[0-9A-Fa-f]{2}(:?[0-9A-Fa-f]{2}){31}$",
        expects: "a SHA-256 fingerprint such as AB:CD:..., 32 pairs of hexadecimal digits",
        description:
          "SHA-256 fingerprint of the only certificate that is accepted; a self-signed one needs no caFile then.",
      }),
    ),
  },
  { description: "Encryption with a certificate of your own.", additionalProperties: false },
);

const oauthSchema = Type.Object(
  {
    tokenUrl: text("Address of the provider's token endpoint, with https."),
    clientId: text("Id of the application that is registered with the provider."),
    clientSecret: Type.Optional(
      secretReference({ description: "Secret of the application, if the provider issues one." }),
    ),
    refreshToken: secretReference({
      description:
        "Refresh token of the mailbox. A new one that the provider sends replaces it in the state directory.",
    }),
    scope: Type.Optional(text("Scopes to request, separated by spaces; absent: those of the refresh token.")),
  },
  { description: "Login by OAuth (XOAUTH2) in place of a password.", additionalProperties: false },
);

/** What every mailbox has, whatever it is read by. */
const ofMailbox = {
  enabled: Type.Boolean({ default: true, description: "false: the mailbox is not watched." }),
  maxBytes: Type.Integer({
    minimum: 100,
    maximum: 200_000,
    default: 20_000,
    description: "Longest body that the agent gets, in bytes.",
  }),
  maxCatchUp: Type.Integer({
    minimum: 0,
    maximum: 10_000,
    default: 50,
    description:
      "After a pause of more than an hour: how many of the newest mails are run; the older ones are left out.",
  }),
  maxPerHour: Type.Integer({
    minimum: 1,
    maximum: 10_000,
    default: 60,
    description: "Mails that are run within an hour, which begins with its first mail; further ones wait for the next.",
  }),
  from: Type.Optional(
    Type.Array(Type.String({ minLength: 1 }), {
      description: "Addresses or domains; mail from others is not run. Any when absent.",
    }),
  ),
  subject: Type.Optional(text("Mail is run only when its subject contains this text, in upper or lower case.")),
  requireAuth: Type.Boolean({
    default: false,
    description: "true: mail is run only when the mail server has verified its sender; needs authservIds.",
  }),
};

const imapAccount = Type.Object(
  {
    host: text("Name of the IMAP server, such as imap.example.org."),
    port: Type.Integer({ minimum: 1, maximum: 65_535, default: 993, description: "Port of the server." }),
    tls: Type.Union([Type.Boolean(), Type.Literal("starttls"), tlsSchema], {
      default: true,
      description:
        "true: TLS from the start. starttls: by the STARTTLS command. false: none, which only a server on " +
        "this machine may have. An object names the certificate that is trusted.",
    }),
    user: text("User name, mostly the mail address."),
    password: Type.Optional(
      secretReference({ description: "Password; many providers require an app password here. Absent with oauth." }),
    ),
    oauth: Type.Optional(oauthSchema),
    reply: Type.Optional(
      Type.Literal("draft", {
        description:
          "draft: the agent's reply is stored in the drafts folder, addressed to the sender. No mail is " +
          "sent. Off when absent.",
      }),
    ),
    folders: Type.Array(Type.String({ minLength: 1 }), {
      minItems: 1,
      maxItems: 5,
      default: ["INBOX"],
      description: "Folders that are watched; the server announces new mail in the first one, the others are polled.",
    }),
    pollSeconds: Type.Integer({
      minimum: 5,
      maximum: 86_400,
      default: 60,
      description: "Longest time between two checks, in seconds; mail that the server announces is read at once.",
    }),
    ...ofMailbox,
    authservIds: names(
      "Names of mail servers whose Authentication-Results are trusted. Without one no sender is verified, " +
        "except with imap.gmail.com.",
    ),
  },
  { description: "One mailbox." },
);

export const imapSettings = Type.Object(
  {
    accounts: Type.Optional(
      Type.Record(Type.String(), imapAccount, { description: "Mailboxes, by a name of your own." }),
    ),
  },
  { description: "Mailboxes that the gateway watches by IMAP. They enable the preset `imap`." },
);

/** A request carries a token, so it goes over TLS, or to this machine. */
const root = (description: string) =>
  Type.Optional(
    Type.String({
      pattern: "^(https://[^/\\s]+|http://(127\\.0\\.0\\.1|localhost|\\[::1\\])(:\\d+)?)$",
      description: `${description}, without a path.`,
    }),
  );

/** A mailbox of Gmail: at the root of `hooks.gmail`, or one of its accounts. */
const gmailMailbox = {
  ...ofMailbox,
  account: Type.Optional(text("Mail address of the mailbox.")),
  credentials: Type.Optional(
    secretReference({
      description:
        "JSON of an OAuth client of the type Desktop app, as the Google Cloud console offers it; with it " +
        "the mailbox is watched.",
    }),
  ),
  refreshToken: Type.Optional(
    secretReference({
      description: "The user's permission for that client. Absent: the one that the gateway has stored.",
    }),
  ),
  serviceAccount: Type.Optional(
    secretReference({
      description:
        "JSON key of a service account that may read the mailbox by domain-wide delegation; in place of credentials.",
    }),
  ),
  mode: Type.Enum(["poll", "pull", "push"], {
    default: "poll",
    description:
      "How new mail is detected. poll: by asking Gmail every pollSeconds. pull: by notices of a " +
      "subscription, within seconds. push: by notices that are posted to the gateway.",
  }),
  label: Type.String({ minLength: 1, default: "INBOX", description: "Label that is watched, by its name." }),
  includeOwn: Type.Boolean({ default: false, description: "true: mail that the user sent to themselves runs too." }),
  pollSeconds: Type.Optional(
    Type.Integer({
      minimum: 5,
      maximum: 86_400,
      description: "Longest time between two checks, in seconds. Absent: 30 with the mode poll, else 300.",
    }),
  ),
  project: Type.Optional(text("Google Cloud project of topic and subscription; not needed if these are full names.")),
  topic: Type.Optional(
    text("pull and push: topic that Gmail publishes notices to, such as projects/my-project/topics/mail."),
  ),
  subscription: Type.Optional(text("pull: subscription to that topic from which only this gateway reads notices.")),
  push: Type.Optional(
    Type.Object(
      {
        audience: text("Audience of the tokens, as the subscription sets it."),
        serviceAccount: text("Mail address of the service account that the subscription posts as."),
      },
      { description: "push: what the token of each notice must contain." },
    ),
  ),
  authservIds: names("Names of mail servers whose Authentication-Results are trusted; mx.google.com when absent."),
  apiRoot: root("Address of the Gmail API instead of Google's"),
  pubsubRoot: root("Address of the Pub/Sub API instead of Google's"),
};

export const gmailSettings = Type.Object(
  {
    ...gmailMailbox,
    accounts: Type.Optional(
      Type.Record(Type.String(), Type.Object(gmailMailbox, { description: "One mailbox." }), {
        description: "Several mailboxes, by a name of your own.",
      }),
    ),
  },
  { description: "Mailboxes of Gmail that the gateway watches, and the preset `gmail`. A mailbox enables the preset." },
);
