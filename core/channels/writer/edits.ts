/** Edits that arrive after their message has begun its turn: answered, mentioned in the next turn, or ignored. */
import type { Inbound, Silent } from "../../contract/index.ts";
import type { CompleteParsed } from "../../host/index.ts";
import { readEdited, type Store, type StoredEvent } from "../../state/index.ts";
import { latestVersion, type MessageEvents, placeOfMessage, type StoredMessages } from "./stored-message.ts";

export type EditedMessages = "answer" | "note" | "ignore";

export function editedMessages(options: Readonly<Record<string, unknown>> | undefined): EditedMessages {
  const asked = options?.editedMessages;
  return asked === "answer" || asked === "ignore" ? asked : "note";
}

/** Question marks of any script: of two texts, the one with more of them asks something that the other does not. */
const questions = (text: string): number => text.match(/[?？؟⁇⁈՞]/gu)?.length ?? 0;

export interface Edits {
  /** For the `ingress` station: why an edit needs no turn; `undefined` if it goes on. */
  look(inbound: Inbound, event: StoredEvent): Promise<Silent | undefined>;
  /** Whether an admitted edit asks for an answer of its own. */
  asks(inbound: Inbound): Promise<boolean>;
}

export function createEdits({
  store,
  messages,
  parse,
  setting,
}: {
  readonly store: Pick<Store, "event">;
  readonly messages: Pick<StoredMessages, "find" | "first">;
  /** What the channel reads in one event, alone. */
  readonly parse: (event: StoredEvent) => CompleteParsed | Promise<CompleteParsed>;
  readonly setting: (at: Pick<Inbound, "channel" | "account">) => EditedMessages;
}): Edits {
  /** The message as it was before the edit. */
  async function before({ message, edits }: MessageEvents, inbound: Inbound): Promise<CompleteParsed> {
    const earlier = edits.filter(({ id }) => id < inbound.id).at(-1) ?? message;
    if (earlier === undefined) return undefined;
    const { body } = await latestVersion(earlier.body, (raw) => parse({ ...earlier, body: raw }));
    return await parse({ ...earlier, body });
  }

  return {
    async look(inbound, event) {
      const message = await messages.first(placeOfMessage(inbound));
      const taken = message === undefined ? undefined : readEdited(message.body);
      if (taken?.edits.some(({ key }) => key === event.dedupeKey) === true)
        return { silent: "edit_taken_up", detail: "The turn of the message reads the edited text." };
      if (setting(inbound) !== "ignore") return undefined;
      return { silent: "edit_ignored", option: ["editedMessages"] };
    },
    async asks(inbound) {
      if (setting(inbound) === "answer") return true;
      const found = await messages.find(placeOfMessage(inbound));
      const earlier = await before(found, inbound);
      if (earlier === null || earlier === undefined || "silent" in earlier)
        return inbound.chat.kind !== "direct" && inbound.mention;
      if (inbound.mention && !earlier.mention) return true;
      // An unanswered message is often edited to try again.
      const report = found.message === undefined ? null : await store.event(found.message.id);
      return report?.outcome === "failed" || questions(inbound.text) > questions(earlier.text);
    },
  };
}
