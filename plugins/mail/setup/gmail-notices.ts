/** Steps by which Gmail announces mail: topic, the right to publish, subscription, and the order to announce. */
import type { CliCall, Json } from "service-gateway/sdk";
import type { GmailSettings } from "../settings.ts";
import type { GmailAccess } from "./gmail-access.ts";
import type { WantedGmail } from "./gmail-account.ts";
import { readClientFile } from "./gmail-client.ts";
import { UsageError } from "./options.ts";
import { kept, type Steps } from "./steps.ts";

const defaultName = "service-gateway-mail";

interface Names {
  readonly topic: string;
  readonly subscription: string;
}

/** What setup has created for a mailbox, so that teardown removes nothing else. */
export interface Made {
  readonly topic?: string;
  readonly subscription?: string;
}

export const madePlace = (address: string) => `gmail-made:${address.toLowerCase()}`;

/** Resolves with the settings of the notices; `undefined`: Google refuses them. */
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
  if (steps.dryRun) {
    const names = [topic, subscription].join(" and ");
    const isSetUp = permitted && wanted.existed;
    await steps.step("notices", "Looking at the notices", async () => ({
      outcome: isSetUp ? "kept" : "would",
      detail: isSetUp ? `They come by ${names}.` : `make sure of ${names}, and of Gmail's right to publish there`,
      value: undefined,
    }));
    return named;
  }
  const { cloud, api } = access;
  const { made: topicMade } = await steps.step("topic", "Creating the topic", () => cloud.makeTopic(topic));
  if (topicMade) await noteMade(call, address, { topic });
  const refused = await steps.attempt("publisher", "Letting Gmail publish", async () => ({
    ...(await cloud.letPublish(topic)),
    value: "allowed",
  }));
  if (refused === undefined) return undefined;
  const push = pushEndpoint === undefined ? {} : { push: { endpoint: pushEndpoint, email: settings.push?.serviceAccount ?? "" } };
  const { made: subscriptionMade } = await steps.step("subscription", "Creating the subscription", () =>
    cloud.makeSubscription(subscription, { topic, ...push }),
  );
  if (subscriptionMade) await noteMade(call, address, { subscription });
  await steps.step("announcement", "Asking Gmail to announce mail", async () => {
    const labels = await api.labels();
    const label = labels.find(({ id, name }) => id === settings.label || name.toLowerCase() === settings.label.toLowerCase());
    const { expiration } = await api.watch(topic, label?.id ?? settings.label);
    const detail = `Until ${new Date(Number(expiration)).toISOString().slice(0, 10)}; the gateway renews it.`;
    return topicMade || subscriptionMade ? { outcome: "done", detail, value: undefined } : kept(detail);
  });
  return named;
}

async function noteMade({ store }: CliCall, address: string, made: Made): Promise<void> {
  await store.update(madePlace(address), (before) => ({ ...((before ?? {}) as Made), ...made }) as Json);
}

function namesOf(call: CliCall, { at, wanted }: WantedGmail): Names {
  const whole = (kind: "topics" | "subscriptions", value: Json | undefined): string => {
    const name = typeof value === "string" ? value : defaultName;
    if (name.includes("/")) return name;
    const project = wanted.project ?? projectOf(call, at, wanted);
    if (project === undefined) throw new UsageError("--project is missing: the Google Cloud project of the topic and the subscription.");
    return `projects/${project}/${kind}/${name}`;
  };
  return { topic: whole("topics", wanted.topic), subscription: whole("subscriptions", wanted.subscription) };
}

/** Gmail publishes only to a topic in the project of the OAuth client. */
function projectOf(call: CliCall, at: string, { credentials, serviceAccount }: WantedGmail["wanted"]): string | undefined {
  const preset = call.preset("gmail");
  if (serviceAccount === undefined) return readClientFile(preset.secret(credentials, `${at}credentials`)).project;
  const { project_id } = JSON.parse(preset.secret(serviceAccount, `${at}serviceAccount`)) as { readonly project_id?: string };
  return project_id;
}
