/** The buttons below the list of `/model`, one for each allowed model. */
import { isFullModelName, type ModelTable, modelNames, typedName } from "../../config/index.ts";
import type { Button, Json } from "../../contract/index.ts";
import type { CommandCall } from "../../sdk/contract.ts";
import type { Store } from "../../state/index.ts";

/** More are a wall; the text lists all models. Those with an alias come first. */
const mostButtons = 12;
const inRow = 2;
/** What a button can carry. */
const mostBytes = 64;
/** So many lists of a conversation have buttons that work. */
const mostLists = 10;
const setting = "modelLists";

export interface ModelButtons {
  /** The buttons for an answer to this call, which are remembered. */
  offer(call: CommandCall, table: ModelTable | undefined, current: string | undefined): Promise<Rows>;
  /** Whether a press is one of such a button. */
  isOffered(call: CommandCall): Promise<boolean>;
}

type Rows = readonly (readonly Button[])[];

function buttonsOf(table: ModelTable | undefined, current: string | undefined): readonly Button[] {
  return modelNames(table)
    .filter(isFullModelName)
    .map((model) => ({ model, name: typedName(model, table) }))
    .toSorted((one, other) => Number(one.name === one.model) - Number(other.name === other.model))
    .flatMap(({ model, name }): readonly Button[] => {
      const value = `/model ${name}`;
      if (Buffer.byteLength(value) > mostBytes) return [];
      return [{ text: `${model === current ? "✓ " : ""}${name}`, value }];
    })
    .slice(0, mostButtons);
}

export function createModelButtons({
  store,
  now,
}: {
  readonly store: Pick<Store, "session" | "updateSession" | "findSent">;
  readonly now: () => number;
}): ModelButtons {
  const listsOf = async ({ route }: CommandCall): Promise<readonly Json[]> => {
    const lists = (await store.session(route.sessionKey))?.settings[setting];
    return Array.isArray(lists) ? lists : [];
  };
  return {
    async offer(call, table, current) {
      const buttons = buttonsOf(table, current);
      if (buttons.length < 2) return [];
      const { route, inbound } = call;
      const lists = [...(await listsOf(call)), inbound.id].slice(-mostLists);
      await store.updateSession(route.sessionKey, {
        ...{ agentId: route.agentId, at: now(), settings: { [setting]: lists } },
      });
      return Array.from({ length: Math.ceil(buttons.length / inRow) }, (_, row) =>
        buttons.slice(row * inRow, (row + 1) * inRow),
      );
    },
    async isOffered(call) {
      const { channel, account, chat, messageId = "" } = call.inbound;
      const sent = await store.findSent({ channel, account, chat: chat.id, messageId });
      return sent !== null && (await listsOf(call)).includes(sent.unitId);
    },
  };
}
