/** What the writers of messages do to them afterwards, in this gateway: they edit and delete them. */
import { rm } from "node:fs/promises";
import { join, resolve, sep } from "node:path";
import { type AgentTurns, createForgetMessage, type WaitingEvents } from "../../agents/index.ts";
import {
  type Accounts,
  createDeletions,
  createEdits,
  createStoredMessages,
  type Deletions,
  type Edits,
  editedMessages,
  type StoredMessages,
} from "../../channels/index.ts";
import type { Inbound } from "../../contract/index.ts";
import { whenKnown } from "../../host/index.ts";
import type { StoredEvent } from "../../state/index.ts";
import type { Base } from "../base.ts";
import type { GatewaySpeech } from "./speech.ts";

export interface WriterChanges {
  readonly messages: StoredMessages;
  readonly deletions: Deletions;
  readonly edits: Edits;
}

export function createWriterChanges({
  store,
  stateDirectory,
  log,
  now,
  waitingEvents,
  sessionOf,
  parts,
}: Pick<Base, "store" | "stateDirectory" | "log" | "now"> & {
  readonly waitingEvents: WaitingEvents;
  readonly sessionOf: (inbound: Inbound) => string;
  /** They are created after this one. */
  readonly parts: () => {
    readonly accounts: Accounts;
    readonly turns: Pick<AgentTurns, "stopEvents">;
    readonly speech: Pick<GatewaySpeech, "recall" | "forget">;
  };
}): WriterChanges {
  const parse = (event: StoredEvent) => parts().accounts.parse(event, [event]);
  const messages = createStoredMessages({ store, parse, now });
  const forgetMessage = createForgetMessage({ store, waiting: waitingEvents });

  async function read([first, ...more]: readonly StoredEvent[]): Promise<Inbound | undefined> {
    if (first === undefined) return undefined;
    const { accounts, speech } = parts();
    const parsed = await whenKnown(accounts.parse(first, [first, ...more]), speech.recall);
    return parsed === null || parsed === undefined || "silent" in parsed ? undefined : parsed;
  }

  /** Only a file that a channel has fetched into its own folder. */
  async function removeFile(path: string): Promise<void> {
    const isMedia = resolve(path).startsWith(join(stateDirectory, sep)) && path.split(sep).at(-2) === "media";
    if (isMedia) await rm(path, { force: true });
  }

  return {
    messages,
    edits: createEdits({
      store,
      messages,
      parse,
      setting: ({ channel, account }) => editedMessages(parts().accounts.get(channel, account)?.options),
    }),
    deletions: createDeletions({
      ...{ store, messages, log, now },
      parse: read,
      sessionOf,
      stop: (unitIds) => parts().turns.stopEvents(unitIds),
      async forget(words) {
        for (const path of await forgetMessage(words)) await removeFile(path);
      },
      async forgetSounds(events) {
        for (const event of events) {
          const inbound = await read([event]);
          if (inbound !== undefined) await parts().speech.forget(inbound);
        }
      },
    }),
  };
}
