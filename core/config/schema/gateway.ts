import Type from "typebox";
import { embeddedStore } from "../embedded-store.ts";
import { annotate, previousTokenSchema, secretSchema } from "./annotations.ts";

export const gatewaySchema = Type.Object(
  {
    host: Type.String({
      minLength: 1,
      default: "127.0.0.1",
      description:
        "Address that the HTTP server binds. Anything but a loopback address opens the gateway to the network.",
    }),
    port: Type.Integer({
      minimum: 0,
      maximum: 65_535,
      default: 18_789,
      description:
        "Port of the HTTP server; 0 takes any free port. The bound address is written to gateway.json in " +
        "the state directory.",
    }),
    auth: Type.Object(
      {
        token: Type.Optional(
          secretSchema(
            "Token that protects every management route. Absent: one is generated and kept in the state directory.",
          ),
        ),
        previousToken: Type.Optional(
          previousTokenSchema(
            "The previous token, which stays valid for a time; `service tokens rotate gateway` writes it.",
          ),
        ),
      },
      { default: {}, description: "Who may use the management routes." },
    ),
    trustedProxies: Type.Array(Type.String({ minLength: 1 }), {
      default: [],
      description: "Addresses or CIDR ranges of reverse proxies whose X-Forwarded-For is trusted. None by default.",
    }),
    publicUrl: Type.Optional(
      Type.String(
        annotate(
          { expects: "an http or https address" },
          {
            pattern: "^https?://",
            description:
              "Address under which clients reach the gateway, such as that of a reverse proxy. Requests to " +
              "its host are served.",
          },
        ),
      ),
    ),
    allowedHosts: Type.Array(Type.String({ minLength: 1 }), {
      default: [],
      description:
        "More names or addresses, without port, that the Host header of a request may have. Loopback, the " +
        "bound address and the host of publicUrl are always allowed.",
    }),
    metrics: Type.Object(
      {
        public: Type.Boolean({
          default: false,
          description:
            "Whether GET /metrics is answered without a token. Otherwise it needs the gateway token or that " +
            "of a device.",
        }),
      },
      { default: {}, description: "The metrics page." },
    ),
    node: Type.Optional(
      Type.String(
        annotate(
          { expects: "1 to 64 letters, digits, dots, hyphens or underscores, starting with a letter or a digit" },
          {
            pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$",
            description:
              "Name of this node in a database that several nodes share. Absent: the host name and a random " +
              "part, kept in the state directory. Takes effect after a restart.",
          },
        ),
      ),
    ),
    drainSeconds: Type.Number({
      minimum: 0,
      maximum: 3_600,
      default: 30,
      description: "How long a stop waits for running turns, in seconds.",
    }),
  },
  annotate({ synonyms: { bind: "host" } }, { default: {}, description: "The process and its HTTP server." }),
);

export const stateSchema = Type.Object(
  {
    store: Type.String(
      annotate(
        { expects: "the ID of a store, such as sqlite" },
        {
          pattern: "^[a-z][a-z0-9-]{0,63}$",
          default: embeddedStore,
          description:
            "Where events, conversations and data of plugins are stored: sqlite is a file in the state " +
            "directory; any other store is provided by a plugin named store-ID. Takes effect after a " +
            "restart.",
        },
      ),
    ),
    url: Type.Optional(
      secretSchema("Address of the database, for a store other than sqlite. Takes effect after a restart."),
    ),
    config: Type.Enum(["file", "store"], {
      default: "file",
      description:
        "Where the configuration is kept: each gateway has a file of its own, or the store has one that the " +
        "files of all its nodes follow. Takes effect after a restart.",
    }),
    dir: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          "State directory; SERVICE_STATE_DIR takes precedence over it. Relative paths begin at the config " +
          "directory, ~ is the home.",
      }),
    ),
    retention: Type.Object(
      {
        transcripts: Type.Optional(
          Type.String(
            annotate(
              { expects: "a time such as 90d or 12h" },
              {
                pattern: "^[1-9]\\d{0,5}[smhd]$",
                description:
                  "How long conversations are kept, such as 90d. Older turns are removed every six hours. " +
                  "Absent: forever.",
              },
            ),
          ),
        ),
      },
      { default: {}, description: "Retention of data without a limit of its own." },
    ),
    backup: Type.Optional(
      Type.Object(
        {
          dir: Type.String({
            minLength: 1,
            description:
              "Directory of the backups, best on another disk. Relative paths begin at the config directory, ~ is " +
              "the home.",
          }),
          keep: Type.Integer({
            minimum: 1,
            maximum: 366,
            default: 7,
            description: "How many of its own backups the gateway keeps in the directory; it removes older ones.",
          }),
          at: Type.String(
            annotate(
              { expects: "a time of the day such as 03:30" },
              {
                pattern: "^([01][0-9]|2[0-3]):[0-5][0-9]$",
                default: "03:30",
                description: "When the backup of each day is made, HH:MM in the time zone of the machine.",
              },
            ),
          ),
        },
        annotate(
          { whole: true },
          {
            description:
              "A backup of each day, as `service backup` makes it, without secrets. Absent: none is made by itself.",
          },
        ),
      ),
    ),
  },
  { default: {}, description: "Where the gateway stores its data." },
);

export const logSchema = Type.Object(
  {
    level: Type.Enum(["trace", "debug", "info", "warn", "error", "silent"], {
      default: "info",
      description: "Minimum level that is logged. Message texts are written at trace only.",
    }),
  },
  { default: {}, description: "The log." },
);
