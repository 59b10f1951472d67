/**
 * Pub/Sub of the stand-in for Google: topics, who may publish to them, subscriptions that are pulled or post, and
 * acknowledgements.
 */
import { type Call, type Reply, readJson, refuse } from "./google-http.ts";

const publisher = "serviceAccount:gmail-api-push@system.gserviceaccount.com";

interface Binding {
  readonly role: string;
  readonly members: readonly string[];
}

interface Topic {
  etag: number;
  bindings: readonly Binding[];
}

interface Waiting {
  readonly messageId: string;
  readonly data: string;
  /** Not handed out again before, epoch milliseconds. */
  leasedUntil: number;
  ackId: string;
}

interface Subscription {
  readonly settings: Readonly<Record<string, unknown>>;
  readonly topic: string;
  waiting: Waiting[];
}

export function createPubSub({
  post,
}: {
  /** Posts to the address of a subscription; resolves with the status. */
  readonly post: (config: Readonly<Record<string, unknown>>, body: object) => Promise<number>;
}) {
  const topics = new Map<string, Topic>();
  const subscriptions = new Map<string, Subscription>();
  const wakes = new Set<() => void>();
  let messages = 0;
  const faults = {
    /** So many pulls are answered at once and empty. */
    emptyPulls: 0,
    /** Each notice is published twice. */
    isDoubled: false,
    /** A policy of the organisation lets no other domain publish. */
    refusesPublisher: false,
    /** Nothing may be deleted. */
    refusesDelete: false,
    /** So often another program changes a policy right before it is set. */
    policyChanges: 0,
    /** How long a pull waits for a message. */
    waitMs: 2_000,
  };
  const posted: { readonly subscription: string; readonly status: number }[] = [];
  const acknowledged: string[] = [];
  const tokens = new Set<string | undefined>();

  async function postOut(name: string, subscription: Subscription, one: Waiting): Promise<void> {
    const config = subscription.settings.pushConfig as Readonly<Record<string, unknown>>;
    const status = await post(config, {
      message: { data: one.data, messageId: one.messageId },
      subscription: name,
    }).catch(() => 0);
    posted.push({ subscription: name, status });
    if (status >= 200 && status < 300)
      subscription.waiting = subscription.waiting.filter(({ messageId }) => messageId !== one.messageId);
  }

  function publish(topic: string, payload: object): void {
    const data = Buffer.from(JSON.stringify(payload)).toString("base64");
    for (const [name, subscription] of subscriptions) {
      if (subscription.topic !== topic) continue;
      for (let copy = 0; copy < (faults.isDoubled ? 2 : 1); copy += 1) {
        messages += 1;
        const one: Waiting = { messageId: `m${messages}`, data, leasedUntil: 0, ackId: "" };
        subscription.waiting.push(one);
        if (subscription.settings.pushConfig !== undefined) void postOut(name, subscription, one);
      }
    }
    for (const wake of wakes) wake();
  }

  async function pull(subscription: Subscription, { body, signal }: Call): Promise<Reply> {
    const { maxMessages, ...others } = readJson(body);
    if (typeof maxMessages !== "number" || Object.keys(others).length > 0) refuse(400, "INVALID_ARGUMENT");
    if (faults.emptyPulls > 0) {
      faults.emptyPulls -= 1;
      return { body: {} };
    }
    const due = () =>
      subscription.waiting.filter(({ leasedUntil }) => leasedUntil <= Date.now()).slice(0, Number(maxMessages));
    if (due().length === 0)
      await new Promise<void>((resolve) => {
        const end = () => {
          clearTimeout(timer);
          wakes.delete(end);
          resolve();
        };
        const timer = setTimeout(end, faults.waitMs);
        wakes.add(end);
        signal.addEventListener("abort", end);
      });
    const taken = signal.aborted ? [] : due();
    for (const one of taken) {
      messages += 1;
      one.ackId = `ack-${messages}`;
      one.leasedUntil = Date.now() + Number(subscription.settings.ackDeadlineSeconds ?? 10) * 1_000;
    }
    if (taken.length === 0) return { body: {} };
    const received = taken.map(({ ackId, data, messageId }) => ({
      ackId,
      message: { data, messageId, publishTime: new Date().toISOString() },
    }));
    return { body: { receivedMessages: received } };
  }

  function create(kind: string, name: string, body: string): Reply {
    const known = kind === "topics" ? topics : subscriptions;
    if (known.has(name)) refuse(409, "ALREADY_EXISTS");
    const settings = readJson(body === "" ? "{}" : body);
    if (kind === "topics") topics.set(name, { etag: 1, bindings: [] });
    else {
      if (!topics.has(String(settings.topic))) refuse(404, "NOT_FOUND");
      const deadline = Number(settings.ackDeadlineSeconds ?? 10);
      if (deadline < 10 || deadline > 600) refuse(400, "INVALID_ARGUMENT");
      subscriptions.set(name, { settings, topic: String(settings.topic), waiting: [] });
    }
    return { body: { name, ...settings } };
  }

  function ofTopic(name: string, { method, body }: Call, verb: string | undefined): Reply {
    const topic = topics.get(name) ?? refuse(404, "NOT_FOUND");
    if (verb === "getIamPolicy" && method === "GET")
      return { body: { etag: String(topic.etag), bindings: topic.bindings } };
    if (verb === "setIamPolicy" && method === "POST") {
      const { etag, bindings = [] } = readJson(body).policy as {
        readonly etag?: string;
        readonly bindings?: readonly Binding[];
      };
      if (faults.policyChanges > 0) {
        faults.policyChanges -= 1;
        topic.etag += 1;
        topic.bindings = [
          ...topic.bindings,
          { role: "roles/pubsub.viewer", members: [`user:${topic.etag}@example.org`] },
        ];
      }
      if (etag !== undefined && etag !== String(topic.etag)) refuse(409, "ABORTED");
      const isRefused = faults.refusesPublisher && bindings.some(({ members }) => members.includes(publisher));
      if (isRefused) refuse(412, "FAILED_PRECONDITION");
      topic.etag += 1;
      topic.bindings = bindings;
      return { body: { etag: String(topic.etag), bindings } };
    }
    if (method === "GET") return { body: { name } };
    if (method === "DELETE") topics.delete(name);
    return { body: {} };
  }

  async function ofSubscription(name: string, call: Call, verb: string | undefined): Promise<Reply> {
    const { method, body } = call;
    const subscription = subscriptions.get(name) ?? refuse(404, "NOT_FOUND");
    if (verb === "pull") return pull(subscription, call);
    const { ackIds = [], ackDeadlineSeconds } = (body === "" ? {} : readJson(body)) as {
      readonly ackIds?: readonly string[];
      readonly ackDeadlineSeconds?: number;
    };
    if (verb === "acknowledge") {
      acknowledged.push(...ackIds);
      subscription.waiting = subscription.waiting.filter(({ ackId }) => !ackIds.includes(ackId));
    } else if (verb === "modifyAckDeadline") {
      for (const one of subscription.waiting)
        if (ackIds.includes(one.ackId)) one.leasedUntil = Date.now() + Number(ackDeadlineSeconds) * 1_000;
      for (const wake of wakes) wake();
    } else if (method === "GET") return { body: { name, ...subscription.settings } };
    else if (method === "DELETE") subscriptions.delete(name);
    return { body: {} };
  }

  return {
    faults,
    topics,
    subscriptions,
    /** How posted notices were answered, and which pulled ones were acknowledged. */
    posted,
    acknowledged,
    /** What calls were authorised with. */
    tokens,
    publish,
    mayPublish: (topic: string) =>
      topics
        .get(topic)
        ?.bindings.some(({ role, members }) => role === "roles/pubsub.publisher" && members.includes(publisher)) ===
      true,
    /** A topic that Gmail may publish to, with a subscription. */
    arrange(topic: string, subscription: string, more: object = {}) {
      topics.set(topic, { etag: 1, bindings: [{ role: "roles/pubsub.publisher", members: [publisher] }] });
      subscriptions.set(subscription, { settings: { topic, ackDeadlineSeconds: 10, ...more }, topic, waiting: [] });
    },
    async handle(call: Call): Promise<Reply> {
      const found = /^\/v1\/(projects\/[^/]+\/(topics|subscriptions)\/[^/:]+)(?::(\w+))?$/.exec(call.path);
      if (found === null) return refuse(404, "NOT_FOUND");
      tokens.add(call.headers.authorization);
      const [, name = "", kind = "", verb] = found;
      if (call.method === "PUT") return create(kind, name, call.body);
      if (call.method === "DELETE" && faults.refusesDelete) refuse(403, "PERMISSION_DENIED");
      return kind === "topics" ? ofTopic(name, call, verb) : ofSubscription(name, call, verb);
    },
    /** Ends what waits. */
    close() {
      for (const wake of wakes) wake();
    },
  };
}
