/** The person behind a sender, for sessions and budgets. Kept in memory, because every message asks. */
import type { GatewayConfig } from "../../config/index.ts";
import type { Address, Inbound, Json } from "../../contract/index.ts";
import type { LastRecipient, Store } from "../../state/index.ts";
import {
  configuredPeople,
  createStoredPeople,
  type LinkedPerson,
  linksNamespace,
  type StoredPeople,
} from "./people.ts";

/** How long links are not read again: a command, or another node, may have changed them. */
const trustedMs = 2_000;

export interface IdentityLinks {
  /** Reads the links. Before the first event. */
  load(): Promise<void>;
  /** A promise while the links have to be read again. */
  fresh(): Promise<void> | undefined;
  /** `undefined` for a sender who is not linked, and for one who is not a person. */
  personOf(inbound: Pick<Inbound, "channel" | "sender" | "authority">): LinkedPerson | undefined;
  /** Where a linked person wrote last in a direct chat. */
  lastPlace(person: LinkedPerson): Promise<LastRecipient | undefined>;
  /** A linked person has written in a direct chat. Written only on a change. */
  wrote(person: LinkedPerson, place: LastRecipient): void;
  readonly people: StoredPeople;
}

const placeKey = ({ name }: LinkedPerson): string => `place:${name}`;

const isSamePlace = (one: Address, other: Address): boolean =>
  (["channel", "account", "chat", "thread"] as const).every((member) => one[member] === other[member]);

export function createIdentityLinks({
  config,
  store,
}: {
  readonly config: () => Pick<GatewayConfig, "session">;
  readonly store: Pick<Store, "get" | "set" | "update">;
}): IdentityLinks {
  const configured = () => configuredPeople(config().session.identityLinks);
  const stored = createStoredPeople({ store, configured });
  let people: readonly LinkedPerson[] = [];
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;
  /** By id, of these people and of this configuration. */
  let index:
    | { readonly of: unknown; readonly by: unknown; readonly byId: ReadonlyMap<string, LinkedPerson> }
    | undefined;
  const places = new Map<string, LastRecipient>();

  function load(): Promise<void> {
    reading ??= stored
      .all()
      .then((all) => {
        people = all;
        readAt = performance.now();
      })
      .finally(() => {
        reading = undefined;
      });
    return reading;
  }

  function byId(): ReadonlyMap<string, LinkedPerson> {
    const { identityLinks } = config().session;
    if (index?.of === people && index.by === identityLinks) return index.byId;
    // The configuration comes last, so that it decides.
    const entries = [...people, ...configured()].flatMap((person) =>
      person.ids.map(({ channel, id }) => [`${channel}\n${id}`, person] as const),
    );
    index = { of: people, by: identityLinks, byId: new Map(entries) };
    return index.byId;
  }

  const changed = <T>(result: T): Promise<T> => load().then(() => result);

  return {
    load,
    fresh: () => (performance.now() - readAt < trustedMs ? undefined : load()),
    personOf({ channel, sender, authority }) {
      if (authority !== "channel" || sender.isBot === true || sender.anonymous === true) return undefined;
      return byId().get(`${channel}\n${sender.id}`);
    },
    async lastPlace(person) {
      const known = places.get(person.name);
      if (known !== undefined) return known;
      return ((await store.get(linksNamespace, placeKey(person))) ?? undefined) as unknown as LastRecipient | undefined;
    },
    wrote(person, place) {
      const known = places.get(person.name);
      if (known !== undefined && isSamePlace(known, place)) return;
      places.set(person.name, place);
      // The next message makes up for a failed write.
      store.set(linksNamespace, placeKey(person), place as unknown as Json).catch(() => places.delete(person.name));
    },
    people: {
      all: stored.all,
      link: async (one, other) => await changed(await stored.link(one, other)),
      unlink: async (id) => await changed(await stored.unlink(id)),
    },
  };
}
