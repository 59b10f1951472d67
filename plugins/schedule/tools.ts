/** The tools of the agent: `remind`, `reminders` and `cancel_reminder`. */
import { type Json, type PluginHost, Type } from "service-gateway/sdk";
import type { Asked, Reminders } from "./reminders.ts";
import { sayTime } from "./wording.ts";
import { timezoneOf } from "./zones.ts";

type Source = Parameters<PluginHost["toolSource"]>[0];
type ToolTurn = Parameters<Source["offer"]>[0];
type Offer = Awaited<ReturnType<Source["offer"]>>;
type Tool = Offer["tools"][number];
type ToolCall = Parameters<Tool["run"]>[0];

const text = (description: string) => Type.String({ description });

const remindParameters = Type.Object(
  {
    text: text(
      'What to remind of, written to the person. It is shown letter by letter after "🔔 Reminder:", so ' +
        "Markdown in it has no effect.",
    ),
    at: Type.Optional(text("The time, such as 2027-03-01T09:00 in the sender's time zone.")),
    in: Type.Optional(text("Time from now, such as 30m, 2h or 1d.")),
    cron: Type.Optional(
      text(
        "Repeated times as a cron expression of five fields, such as 0 9 * * 1-5. More often than every 5 " +
          "minutes, an owner is asked.",
      ),
    ),
    timezone: Type.Optional(text("IANA time zone, if the person named another one.")),
    kind: Type.Optional(
      Type.Enum(["say", "ask"], {
        description:
          "say (default): the text is sent at that time, without a model. ask: you take a turn with the " +
          "text then, for what must be looked up or done at that time.",
      }),
    ),
  },
  { additionalProperties: false },
);

const schemaOf = (schema: object): Json => JSON.parse(JSON.stringify(schema)) as Json;

const outlines = {
  remind: {
    name: "remind",
    description:
      "Sets a reminder in this chat and topic. Give exactly one of at, in and cron. Tell the person the " +
      "times that the result names, with their zone.",
    parameters: schemaOf(remindParameters),
  },
  reminders: {
    name: "reminders",
    description: "Lists the reminders of this chat, with their ids and next times, and the present time.",
    parameters: schemaOf(Type.Object({}, { additionalProperties: false })),
  },
  cancel: {
    name: "cancel_reminder",
    description: "Cancels a reminder of this chat.",
    parameters: schemaOf(
      Type.Object({ id: text("Its id, from the result of remind or reminders.") }, { additionalProperties: false }),
    ),
  },
} as const;

const wrong = (error: string) => ({ ok: false, code: "invalid_arguments", error });

/** The arguments of `remind`, or why they cannot be used. Models leave optional ones empty. */
function askedIn(args: Json): Asked | string {
  if (typeof args !== "object" || args === null || Array.isArray(args)) return "The arguments must be an object.";
  const given = Object.entries(args).filter(([, value]) => value !== null && value !== "");
  const notText = given.find(([, value]) => typeof value !== "string");
  if (notText !== undefined) return `${notText[0]} must be a text.`;
  const unknown = given.find(([name]) => !Object.hasOwn(remindParameters.properties, name));
  if (unknown !== undefined) return `There is no argument ${unknown[0]}.`;
  const asked = Object.fromEntries(given) as { readonly text?: string; readonly kind?: string };
  if (asked.text === undefined) return "text is missing.";
  if (asked.kind !== undefined && asked.kind !== "say" && asked.kind !== "ask") return "kind must be say or ask.";
  return asked as Asked;
}

/** For turns that a person caused in a chat; others have no place for a reminder. */
export async function offerTools(
  { inbound }: ToolTurn,
  {
    host,
    reminders,
  }: { readonly host: Pick<PluginHost, "store" | "timezone" | "now">; readonly reminders: () => Promise<Reminders> },
): Promise<Offer> {
  if (inbound.authority !== "channel") return { tools: [] };
  const timezone = await timezoneOf(host, inbound);
  const tools: readonly Tool[] = [
    {
      ...outlines.remind,
      idempotent: true,
      async needsApproval(args: Json) {
        const asked = askedIn(args);
        if (typeof asked === "string" || asked.cron === undefined) return false;
        return (await import("./reminders.ts")).approvalReason(asked, host.now()) ?? false;
      },
      async run({ args, turn, key }: ToolCall) {
        const asked = askedIn(args);
        if (typeof asked === "string") return wrong(asked);
        return await (await reminders()).remind(asked, { inbound: turn.inbound, route: turn, key });
      },
    },
    {
      ...outlines.reminders,
      readOnly: true,
      async run({ turn }: ToolCall) {
        const found = (await reminders()).views(turn.inbound);
        const listed = found.map(({ name, message = "", kind = "say", next, times, state }) => ({
          ...{ id: name, text: message, kind, state, next: next.map((one) => one.text) },
          ...(times !== undefined && "cron" in times && { cron: times.cron }),
        }));
        return { ok: true, now: sayTime(host.now(), timezone), reminders: listed };
      },
    },
    {
      ...outlines.cancel,
      async run({ args, turn }: ToolCall) {
        const { id } = (args ?? {}) as { readonly id?: unknown };
        return typeof id === "string"
          ? await (await reminders()).cancel(id, turn.inbound)
          : wrong("id must be a text.");
      },
    },
  ];
  // The time itself is in the line above each message; here it would change the prompt with every turn, which providers
  // could not cache.
  const offset = /\((UTC[^)]*)\)$/.exec(sayTime(host.now(), timezone))?.[1];
  const note =
    `The time zone of the sender is ${timezone}${offset === undefined ? "" : `, ${offset} now`}; ` +
    "the times in square brackets are in UTC. Times without a zone mean the sender's.";
  // The texts of reminders are those of this chat, and the rest is the plugin's own.
  return { tools: tools.map((tool) => ({ ...tool, words: "own" as const })), context: [note] };
}
