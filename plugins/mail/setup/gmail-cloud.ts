/** Topic, permission and subscription in Google Cloud, by which Gmail announces mail. What is there already is kept. */
import { ApiError, call as callApi, type Tokens } from "../gmail/request.ts";
import type { GmailSettings } from "../settings.ts";
import { SourceError } from "../source.ts";
import type { Result } from "./steps.ts";

/** Gmail publishes as this account. */
const publisher = "serviceAccount:gmail-api-push@system.gserviceaccount.com";
const publisherRole = "roles/pubsub.publisher";
const maxTries = 5;

interface Binding {
  readonly role: string;
  readonly members?: readonly string[];
}

export interface Cloud {
  makeTopic(topic: string): Promise<Result<{ readonly made: boolean }>>;
  letPublish(topic: string): Promise<Result>;
  makeSubscription(subscription: string, settings: SubscriptionSettings): Promise<Result<{ readonly made: boolean }>>;
  /** `false`: there was none. */
  remove(name: string): Promise<boolean>;
}

interface SubscriptionSettings {
  readonly topic: string;
  readonly push?: { readonly endpoint: string; readonly email: string };
}

export function createCloud({ roots }: Pick<GmailSettings, "roots">, tokens: Tokens, signal: AbortSignal): Cloud {
  const ask = (path: string, doing: string, more: { readonly method?: "GET" | "POST" | "PUT" | "DELETE"; readonly json?: object } = {}) =>
    callApi(tokens, `${roots.pubsub}/v1/${path}`, { doing, signal, ...more });

  /** `undefined`: it is not there. */
  async function look(path: string, doing: string): Promise<Readonly<Record<string, unknown>> | undefined> {
    try {
      return (await ask(path, doing)) as Readonly<Record<string, unknown>>;
    } catch (error) {
      if (statusOf(error) === 404) return undefined;
      throw error;
    }
  }

  async function make(path: string, json: object, doing: string): Promise<boolean> {
    try {
      await ask(path, doing, { method: "PUT", json });
      return true;
    } catch (error) {
      // Another program was quicker.
      if (statusOf(error) === 409) return false;
      throw error;
    }
  }

  return {
    async makeTopic(topic) {
      const made = (await look(topic, "look at the topic")) === undefined && (await make(topic, {}, "create the topic"));
      return { outcome: made ? "done" : "kept", detail: `${topic} is there.`, value: { made } };
    },
    async letPublish(topic) {
      for (let tries = 1; ; tries += 1) {
        const { etag, bindings = [] } = (await ask(`${topic}:getIamPolicy`, "read who may publish")) as {
          readonly etag?: string;
          readonly bindings?: readonly Binding[];
        };
        if (bindings.some(({ role, members = [] }) => role === publisherRole && members.includes(publisher)))
          return { outcome: "kept", detail: "Gmail may publish to the topic.", value: undefined };
        const policy = { etag, bindings: [...bindings, { role: publisherRole, members: [publisher] }] };
        try {
          await ask(`${topic}:setIamPolicy`, "let Gmail publish", { method: "POST", json: { policy } });
          return { outcome: "done", detail: "Gmail may publish to the topic.", value: undefined };
        } catch (error) {
          // Another program has changed the policy since it was read.
          if (statusOf(error) !== 409 || tries === maxTries) throw refusedPublisher(error);
        }
      }
    },
    async makeSubscription(subscription, { topic, push }) {
      const pushConfig =
        push === undefined
          ? {}
          : { pushConfig: { pushEndpoint: push.endpoint, oidcToken: { serviceAccountEmail: push.email, audience: push.endpoint } } };
      const wanted = { topic, ackDeadlineSeconds: 60, messageRetentionDuration: "86400s", expirationPolicy: {}, ...pushConfig };
      const existing = await look(subscription, "look at the subscription");
      if (existing !== undefined) {
        const { pushConfig: now } = existing as { readonly pushConfig?: { readonly pushEndpoint?: string } };
        if (existing.topic !== topic || (now?.pushEndpoint ?? "") !== (push?.endpoint ?? ""))
          throw new SourceError(
            "setup",
            `${subscription} is there with other settings.`,
            "Name another one with --subscription, or delete it in the Google Cloud console.",
          );
        return { outcome: "kept", detail: `${subscription} is there.`, value: { made: false } };
      }
      const made = await make(subscription, wanted, "create the subscription");
      return { outcome: made ? "done" : "kept", detail: `${subscription} is there, and never expires.`, value: { made } };
    },
    async remove(name) {
      try {
        await ask(name, "delete what setup has made", { method: "DELETE" });
        return true;
      } catch (error) {
        if (statusOf(error) === 404) return false;
        throw error;
      }
    },
  };
}

const statusOf = (error: unknown) => (error instanceof ApiError ? error.status : undefined);

/** In many organisations a policy lets no account of another domain in. */
function refusedPublisher(error: unknown): unknown {
  const status = statusOf(error);
  if (status === undefined || status >= 500 || status === 401 || status === 429) return error;
  return new SourceError(
    "setup",
    `Google does not let Gmail publish to the topic (${status}): probably a policy of the organisation, iam.allowedPolicyMemberDomains.`,
    "An administrator can allow gmail-api-push@system.gserviceaccount.com. Until then the mailbox is polled, which needs no topic.",
  );
}
