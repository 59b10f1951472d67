/**
 * How many questions people cause and owners get. The counts are in the store, so that they hold over a restart and on
 * all nodes, and each is changed in one step, so that two questions at the same moment cannot take one place.
 */
import type { Address, Json } from "../../contract/index.ts";
import type { Store } from "../../state/index.ts";
import { approvalsNamespace as namespace } from "./approvals-namespace.ts";
import { keyOfPerson, type Person } from "./requester.ts";

/** Open questions that one requester may have, in all chats of an account together. */
export const mostOpen = 3;
/** Questions that an owner gets within an hour. */
export const mostAnHour = 20;
const hourMs = 60 * 60_000;

/** The place of a question, and whose it is. */
export interface AskedPlace {
  readonly address: Address;
  /** The owner's id; for another place, that of the chat. */
  readonly owner: string;
  /** The owner's own turn asks. Others cannot use up these questions. */
  readonly own: boolean;
}

export interface ApprovalLimits {
  /**
   * Takes a place among the requester's open questions, until `close` or the given time. The same question takes one
   * place only.
   */
  open(requester: Person, question: { readonly key: string; readonly until: number }): Promise<boolean>;
  close(requester: Person, key: string): Promise<void>;
  /**
   * Counts a question to an owner. `full`: they had too many in the last hour. The first time in that hour, `notice`
   * says until when, for the one notice.
   */
  ask(place: AskedPlace, key: string): Promise<"asked" | "full" | { readonly notice: number }>;
}

/** The members that name the person are those by which `privacy` finds a row. */
interface OpenQuestions extends Person {
  readonly open: readonly { readonly key: string; readonly until: number }[];
}

interface AskedQuestions extends Person {
  readonly asked: readonly { readonly key: string; readonly at: number }[];
  /** When the owner was notified. */
  readonly noticedAt?: number;
}

const openKey = (requester: Person) => `open:${JSON.stringify(keyOfPerson(requester))}`;
const askedKey = ({ address: { channel, account }, owner, own }: AskedPlace) =>
  `asked:${JSON.stringify([channel, account, owner, own ? "own" : "others"])}`;

export function createApprovalLimits({
  store,
  now,
}: {
  readonly store: Pick<Store, "update">;
  readonly now: () => number;
}): ApprovalLimits {
  const openIn = (value: Json | null) =>
    ((value as unknown as OpenQuestions | null)?.open ?? []).filter(({ until }) => until > now());

  return {
    async open(requester, { key, until }) {
      let isOpen = false;
      await store.update(
        namespace,
        openKey(requester),
        (value) => {
          const open = openIn(value);
          const isKnown = open.some((one) => one.key === key);
          isOpen = isKnown || open.length < mostOpen;
          if (isKnown || !isOpen) return undefined;
          return { ...requester, open: [...open, { key, until }] } as unknown as Json;
        },
        { expiresAt: until },
      );
      return isOpen;
    },
    async close(requester, key) {
      await store.update(
        namespace,
        openKey(requester),
        (value) => {
          if (value === null) return undefined;
          const open = openIn(value).filter((one) => one.key !== key);
          return open.length === 0 ? null : ({ ...requester, open } as unknown as Json);
        },
        { expiresAt: now() + hourMs },
      );
    },
    async ask(place, key) {
      let result: Awaited<ReturnType<ApprovalLimits["ask"]>> = "asked";
      await store.update(
        namespace,
        askedKey(place),
        (value) => {
          const known = value as unknown as AskedQuestions | null;
          const asked = (known?.asked ?? []).filter(({ at }) => at > now() - hourMs);
          if (asked.some((one) => one.key === key)) {
            result = "asked";
            return undefined;
          }
          const { channel, account } = place.address;
          const whose: Person = { channel, account, senderId: place.owner };
          const noticedAt = known?.noticedAt;
          const [first] = asked;
          if (asked.length < mostAnHour || first === undefined) {
            result = "asked";
            const next = [...asked, { key, at: now() }];
            return { ...whose, asked: next, ...(noticedAt !== undefined && { noticedAt }) } as unknown as Json;
          }
          if (noticedAt !== undefined && noticedAt > now() - hourMs) {
            result = "full";
            return undefined;
          }
          result = { notice: first.at + hourMs };
          return { ...whose, asked, noticedAt: now() } as unknown as Json;
        },
        { expiresAt: now() + hourMs },
      );
      return result;
    },
  };
}
