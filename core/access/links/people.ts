/** Which ids on several platforms are one person: by the configuration, and by `/link`. Stored in one row. */
import { randomInt } from "node:crypto";
import type { Json } from "../../contract/index.ts";
import type { Store } from "../../state/index.ts";

/** Where everything about links is stored. */
export const linksNamespace = "identity-links";
const peopleKey = "people";

/** An id of a person on one platform. */
export interface LinkedId {
  readonly channel: string;
  readonly id: string;
}

/** A person with at least two ids. */
export interface LinkedPerson {
  /** The name in the configuration, or a generated one that begins with `~`. */
  readonly name: string;
  readonly ids: readonly LinkedId[];
  /** By `session.identityLinks`: no command changes it. */
  readonly configured?: true;
}

/** Why two ids cannot be linked. */
export type LinkRefusal = "same" | "linked_already" | "linked_to_others" | "configured" | "full";

const letters = "abcdefghjkmnpqrstuvwxyz23456789";
const nameLength = 12;
/** Ids of one person, and people. */
const [mostIds, mostPeople] = [20, 10_000];

export const isSameId = (one: LinkedId, other: LinkedId): boolean =>
  one.channel === other.channel && one.id === other.id;

export const writtenId = ({ channel, id }: LinkedId): string => `${channel}:${id}`;

/** As the configuration writes it; the id may contain colons. */
function parseLinkedId(text: string): LinkedId | undefined {
  const [, channel, id] = /^([a-z][a-z0-9-]*):(.+)$/s.exec(text) ?? [];
  return channel === undefined || id === undefined ? undefined : { channel, id };
}

/** The people of the configuration. */
export function configuredPeople(links: Readonly<Record<string, readonly string[]>> = {}): readonly LinkedPerson[] {
  return Object.entries(links).map(([name, ids]) => ({
    name,
    ids: ids.flatMap((text) => parseLinkedId(text) ?? []),
    configured: true,
  }));
}

const newName = (): string =>
  `~${Array.from({ length: nameLength }, () => letters[randomInt(letters.length)]).join("")}`;

const readPeople = (value: Json | null): readonly LinkedPerson[] => (value ?? []) as unknown as readonly LinkedPerson[];

export interface StoredPeople {
  all(): Promise<readonly LinkedPerson[]>;
  /** Makes one person of both ids. An id that belongs to another person stays with that one. */
  link(one: LinkedId, other: LinkedId): Promise<LinkedPerson | LinkRefusal>;
  /** Takes an id away from its person, who is gone with the last but one. Resolves with the person as before. */
  unlink(id: LinkedId): Promise<LinkedPerson | undefined>;
}

/** `configured`: ids of the configuration, which no one can link in a chat. */
export function createStoredPeople({
  store,
  configured,
}: {
  readonly store: Pick<Store, "get" | "update">;
  readonly configured: () => readonly LinkedPerson[];
}): StoredPeople {
  const change = (update: (people: readonly LinkedPerson[]) => readonly LinkedPerson[] | undefined) =>
    store.update(linksNamespace, peopleKey, (value) => {
      const next = update(readPeople(value));
      if (next === undefined) return undefined;
      return next.length === 0 ? null : (next as unknown as Json);
    });
  return {
    all: async () => readPeople(await store.get(linksNamespace, peopleKey)),
    async link(one, other) {
      let result: LinkedPerson | LinkRefusal = "same";
      if (isSameId(one, other)) return result;
      const isConfigured = (id: LinkedId) => configured().some(({ ids }) => ids.some((each) => isSameId(each, id)));
      if (isConfigured(one) || isConfigured(other)) return "configured";
      await change((people) => {
        const personOf = (id: LinkedId) => people.find(({ ids }) => ids.some((each) => isSameId(each, id)));
        const [first, second] = [personOf(one), personOf(other)];
        if (first !== undefined && second !== undefined) {
          result = first === second ? "linked_already" : "linked_to_others";
          return undefined;
        }
        const before = first ?? second;
        if ((before?.ids.length ?? 0) >= mostIds || people.length >= mostPeople) {
          result = "full";
          return undefined;
        }
        const added = [one, other].filter((id) => before?.ids.some((each) => isSameId(each, id)) !== true);
        result = { name: before?.name ?? newName(), ids: [...(before?.ids ?? []), ...added] };
        return [...people.filter((person) => person !== before), result];
      });
      return result;
    },
    async unlink(id) {
      let found: LinkedPerson | undefined;
      await change((people) => {
        found = people.find(({ ids }) => ids.some((each) => isSameId(each, id)));
        if (found === undefined) return undefined;
        const rest = found.ids.filter((each) => !isSameId(each, id));
        const others = people.filter((person) => person !== found);
        return rest.length < 2 ? others : [...others, { ...found, ids: rest }];
      });
      return found;
    },
  };
}
