/** The steps by which Gmail announces mail: topic, the right to publish, subscription, and the request to announce. */
import type { CliCall, Json } from "service-gateway/sdk";
import type { GmailSettings } from "../../settings.ts";
import { UsageError } from "../options.ts";
import { done, type Result, retained, type Steps } from "../steps.ts";
import type { GmailAccess } from "./access.ts";
import type { WantedGmail } from "./account.ts";
import { readClientFile } from "./client.ts";
import type { Cloud } from "./cloud.ts";

const defaultName = "service-gateway-mail";

interface Names {
  readonly topic: string;
  readonly subscription: string;
}

/** What the setup created for a mailbox, so that teardown removes nothing else. */
export interface Made {
  readonly topic?: string;
  readonly subscription?: string;
}

export const madePlace = (address: string) => `gmail-made:${address.toLowerCase()}`;

/** Resolves with the settings of the notifications; `undefined` if Google refuses them. */
export async function prepareNotices(
  call: CliCall,
  steps: Steps,
  {
    wanted,
    settings,
    access,
    permitted,
  }: {
    readonly wanted: WantedGmail;
    readonly settings: GmailSettings;
    readonly access: GmailAccess;
    readonly permitted: boolean;
  },
): Promise<{ readonly [key: string]: Json } | undefined> {
  const { mode, address, pushEndpoint, wanted: to } = wanted;
  const { topic, subscription } = namesOf(call, wanted);
  const named = { topic, ...(mode === "pull" || to.subscription !== undefined ? { subscription } : {}) };
  if (!permitted) {
    const detail = `create ${topic}, Gmail's right to publish there, and ${subscription} if they are missing`;
    await steps.step("notices", "Looking", async () => ({ outcome: "would", detail, value: undefined }));
    return named;
  }
  const { cloud, api } = access;
  const topicFound = await ensured(steps, {
    ...{ step: "topic", doing: "Checking the topic", well: `${topic} is there.`, missing: `create ${topic}` },
    isThere: () => cloud.hasTopic(topic),
    make: () => cloud.makeTopic(topic),
  });
  if (topicFound === "made") await noteMade(call, address, { topic });
  const publisher = await steps.attempt("publisher", "Checking who may publish", () =>
    found(steps, {
      ...{ well: "Gmail may publish to the topic.", missing: "let Gmail publish to the topic" },
      isThere: () => cloud.mayPublish(topic),
      make: () => cloud.letPublish(topic).then(() => true),
    }),
  );
  if (publisher === undefined) {
    if (topicFound === "made") await removeAgain(call, steps, { cloud, address, topic });
    return undefined;
  }
  const push =
    pushEndpoint === undefined ? {} : { push: { endpoint: pushEndpoint, email: settings.push?.serviceAccount ?? "" } };
  const subscriptionFound = await ensured(steps, {
    ...{ step: "subscription", doing: "Checking the subscription" },
    ...{ well: `${subscription} exists, and never expires.`, missing: `create ${subscription}` },
    isThere: () => cloud.hasSubscription(subscription, { topic, ...push }),
    make: () => cloud.makeSubscription(subscription, { topic, ...push }),
  });
  if (subscriptionFound === "made") await noteMade(call, address, { subscription });
  const wasAnnounced =
    wanted.existing?.mode === mode && [topicFound, publisher, subscriptionFound].every((one) => one === "there");
  await steps.step("announcement", "Asking Gmail to announce mail", async () => {
    if (steps.dryRun && wasAnnounced) return retained("The gateway renews it.");
    if (steps.dryRun) return { outcome: "would", detail: "ask Gmail to announce mail to the topic", value: undefined };
    const labels = await api.labels();
    const label = labels.find(
      ({ id, name }) => id === settings.label || name.toLowerCase() === settings.label.toLowerCase(),
    );
    const { expiration } = await api.watch(topic, label?.id ?? settings.label);
    const detail = `Until ${new Date(Number(expiration)).toISOString().slice(0, 10)}; the gateway renews it.`;
    return wasAnnounced ? retained(detail) : done(detail);
  });
  return named;
}

interface Piece {
  /** The detail shown if it exists. */
  readonly well: string;
  /** What a dry run would do. */
  readonly missing: string;
  isThere(): Promise<boolean>;
  /** `false` if another program was faster. */
  make(): Promise<boolean>;
}

/** It existed, it was created now, or a dry run has found that it is missing. */
type Found = "there" | "made" | "missing";

async function found({ dryRun }: Steps, { well, missing, isThere, make }: Piece): Promise<Result<Found>> {
  if (await isThere()) return { ...retained(well), value: "there" };
  if (dryRun) return { outcome: "would", detail: missing, value: "missing" };
  return (await make()) ? { ...done(well), value: "made" } : { ...retained(well), value: "there" };
}

const ensured = (
  steps: Steps,
  { step, doing, ...piece }: Piece & { readonly step: string; readonly doing: string },
): Promise<Found> => steps.step(step, doing, () => found(steps, piece));

/** A polled mailbox needs no topic. */
async function removeAgain(
  { store }: CliCall,
  steps: Steps,
  { cloud, address, topic }: { readonly cloud: Cloud; readonly address: string; readonly topic: string },
): Promise<void> {
  await steps.attempt("topic", "Removing the topic", async () => {
    await cloud.remove(topic);
    await store.update(madePlace(address), (before) => withoutTopic((before ?? {}) as Made));
    return done(`${topic} is removed again.`);
  });
}

function withoutTopic({ topic: _, ...others }: Made): Json | null {
  return Object.keys(others).length === 0 ? null : others;
}

async function noteMade({ store }: CliCall, address: string, made: Made): Promise<void> {
  await store.update(madePlace(address), (before) => ({ ...((before ?? {}) as Made), ...made }) as Json);
}

/** Throws a usage error when they cannot be known. */
export function namesOf(call: CliCall, { at, wanted }: WantedGmail): Names {
  const whole = (kind: "topics" | "subscriptions", value: Json | undefined): string => {
    const name = typeof value === "string" ? value : defaultName;
    if (name.includes("/")) return name;
    const project = wanted.project ?? projectOf(call, at, wanted);
    if (project === undefined)
      throw new UsageError("--project is missing: the Google Cloud project of the topic and the subscription.");
    return `projects/${project}/${kind}/${name}`;
  };
  return { topic: whole("topics", wanted.topic), subscription: whole("subscriptions", wanted.subscription) };
}

/** Gmail publishes only to a topic in the project of the OAuth client. */
function projectOf(
  call: CliCall,
  at: string,
  { credentials, serviceAccount }: WantedGmail["wanted"],
): string | undefined {
  const preset = call.preset("gmail");
  if (serviceAccount === undefined) return readClientFile(preset.secret(credentials, `${at}credentials`)).project;
  const { project_id } = JSON.parse(preset.secret(serviceAccount, `${at}serviceAccount`)) as {
    readonly project_id?: string;
  };
  return project_id;
}
