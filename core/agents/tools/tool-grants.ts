/** Grants: what a person may do without a question. A grant belongs to a person, in one conversation, for one tool. */
import type { Json } from "../../contract/index.ts";
import type { Store } from "../../state/index.ts";
import type { ApprovalRequest } from "./approval-requests.ts";
import type { AskedCall } from "./approval-texts.ts";
import { approvalsNamespace as namespace } from "./approvals-namespace.ts";
import type { Person } from "./requester.ts";

/** Rows under `grant:` are of versions in which a grant belonged to a conversation. They are not read, and expire. */
const prefix = "granted:";
/** A conversation that lasts longer asks again. */
const grantMs = 30 * 24 * 60 * 60_000;

/** As it is stored. The members that name the person are those by which `privacy` finds a row. */
export interface Grant extends Person {
  readonly sessionKey: string;
  readonly tool: string;
  /** The owner who gave it, in words. */
  readonly by: string;
  readonly byOwner?: Person;
}

type GrantedTool = Pick<AskedCall, "tool" | "definition">;

export interface ToolGrants {
  /** Allows the holder of a request its tool for the rest of the conversation. */
  give(request: ApprovalRequest): Promise<void>;
  /** The grant of a person for the tool, as it is now, in the conversation, as it is now. */
  of(person: Person, sessionKey: string, tool: GrantedTool): Promise<Grant | undefined>;
}

const keyOf = (
  { channel, account, senderId }: Person,
  { sessionKey, generation, tool, definition }: GrantedTool & Pick<ApprovalRequest, "sessionKey" | "generation">,
) => `${prefix}${JSON.stringify([sessionKey, generation, tool, definition, channel, account, senderId])}`;

export function createToolGrants({
  store,
  now,
}: {
  readonly store: Pick<Store, "get" | "set" | "session">;
  readonly now: () => number;
}): ToolGrants {
  return {
    async give({ sessionKey, generation, call, holder, by = "", byOwner }) {
      if (holder === undefined) return;
      const { channel, account, senderId } = holder;
      const grant: Grant = { channel, account, senderId, sessionKey, tool: call.tool, by, byOwner };
      const key = keyOf(holder, { ...call, sessionKey, generation });
      await store.set(namespace, key, grant as unknown as Json, { expiresAt: now() + grantMs });
    },
    async of(person, sessionKey, tool) {
      const generation = (await store.session(sessionKey))?.generation ?? 0;
      const found = await store.get(namespace, keyOf(person, { ...tool, sessionKey, generation }));
      return found === null ? undefined : (found as unknown as Grant);
    },
  };
}

/**
 * Withdraws the grants that `matches` names: those of a conversation that is deleted, whose number a new one would
 * take, and those of a person who may no longer write.
 */
export async function withdrawGrants(
  store: Pick<Store, "list" | "delete">,
  matches: (grant: Grant) => boolean,
): Promise<void> {
  for (const { key, value } of await store.list(namespace, { prefix }))
    if (matches(value as unknown as Grant)) await store.delete(namespace, key);
}
