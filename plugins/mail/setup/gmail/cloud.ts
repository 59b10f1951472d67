/** Topic, permission and subscription in Google Cloud, through which Gmail announces mail. */
import { ApiError, call as callApi, type Tokens } from "../../gmail/request.ts";
import type { GmailSettings } from "../../settings.ts";
import { SourceError } from "../../source.ts";

/** The account with which Gmail publishes. */
const publisher = "serviceAccount:gmail-api-push@system.gserviceaccount.com";
const publisherRole = "roles/pubsub.publisher";
const maxTries = 5;

interface Binding {
  readonly role: string;
  readonly members?: readonly string[];
}

interface Policy {
  readonly etag?: string;
  readonly bindings?: readonly Binding[];
}

export interface Cloud {
  hasTopic(topic: string): Promise<boolean>;
  /** `false` if another program was faster. */
  makeTopic(topic: string): Promise<boolean>;
  mayPublish(topic: string): Promise<boolean>;
  letPublish(topic: string): Promise<void>;
  /** Rejects if it exists with other settings. */
  hasSubscription(subscription: string, settings: SubscriptionSettings): Promise<boolean>;
  /** `false` if another program was faster. */
  makeSubscription(subscription: string, settings: SubscriptionSettings): Promise<boolean>;
  /** `false` if there was none. */
  remove(name: string): Promise<boolean>;
}

export interface SubscriptionSettings {
  readonly topic: string;
  readonly push?: { readonly endpoint: string; readonly email: string };
}

export function createCloud({ roots }: Pick<GmailSettings, "roots">, tokens: Tokens, signal: AbortSignal): Cloud {
  const ask = (
    path: string,
    doing: string,
    more: { readonly method?: "GET" | "POST" | "PUT" | "DELETE"; readonly json?: object } = {},
  ) => callApi(tokens, `${roots.pubsub}/v1/${path}`, { doing, signal, ...more });

  /** `undefined` if it does not exist. */
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
      if (statusOf(error) === 409) return false;
      throw error;
    }
  }

  const policyOf = (topic: string) =>
    look(`${topic}:getIamPolicy`, "read the permissions of the topic") as Promise<Policy | undefined>;

  return {
    hasTopic: async (topic) => (await look(topic, "read the topic")) !== undefined,
    makeTopic: (topic) => make(topic, {}, "create the topic"),
    mayPublish: async (topic) => isPublisherIn(await policyOf(topic)),
    async letPublish(topic) {
      for (let tries = 1; ; tries += 1) {
        const { etag, bindings = [] } = (await policyOf(topic)) ?? {};
        const policy = { etag, bindings: [...bindings, { role: publisherRole, members: [publisher] }] };
        try {
          await ask(`${topic}:setIamPolicy`, "let Gmail publish", { method: "POST", json: { policy } });
          return;
        } catch (error) {
          // Another program has changed the policy since it was read.
          if (statusOf(error) !== 409 || tries === maxTries) throw refusedPublisher(error);
        }
      }
    },
    async hasSubscription(subscription, { topic, push }) {
      const existing = await look(subscription, "read the subscription");
      if (existing === undefined) return false;
      const { pushConfig } = existing as { readonly pushConfig?: { readonly pushEndpoint?: string } };
      if (existing.topic === topic && (pushConfig?.pushEndpoint ?? "") === (push?.endpoint ?? "")) return true;
      throw new SourceError(
        "setup",
        `${subscription} exists with other settings.`,
        "Name another one with --subscription, or delete it in the Google Cloud console.",
      );
    },
    makeSubscription(subscription, { topic, push }) {
      const pushConfig =
        push === undefined
          ? {}
          : {
              pushConfig: {
                pushEndpoint: push.endpoint,
                oidcToken: { serviceAccountEmail: push.email, audience: push.endpoint },
              },
            };
      // Without an expiration policy the subscription ends after 31 days without mail.
      const settings = {
        topic,
        ackDeadlineSeconds: 60,
        messageRetentionDuration: "86400s",
        expirationPolicy: {},
        ...pushConfig,
      };
      return make(subscription, settings, "create the subscription");
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

const isPublisherIn = ({ bindings = [] }: Policy = {}): boolean =>
  bindings.some(({ role, members = [] }) => role === publisherRole && members.includes(publisher));

const statusOf = (error: unknown) => (error instanceof ApiError ? error.status : undefined);

/** In many organizations a policy forbids accounts of other domains. */
function refusedPublisher(error: unknown): unknown {
  const status = statusOf(error);
  if (status === undefined || status >= 500 || status === 401 || status === 429) return error;
  return new SourceError(
    "setup",
    `Google does not allow Gmail to publish to the topic (${status}): probably a policy of the ` +
      "organisation, iam.allowedPolicyMemberDomains.",
    "An administrator can allow gmail-api-push@system.gserviceaccount.com. Until then the mailbox is " +
      "polled, which needs no topic.",
  );
}
