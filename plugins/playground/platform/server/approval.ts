/** Approves pairing codes from the page. The person at the page is also the operator of the gateway behind the bot. */
import type { Core } from "../core.ts";
import { isRecord } from "../params.ts";

export interface PairingCode {
  readonly channel: string;
  readonly code: string;
  readonly account?: string;
  /** The id of the person who received the code. */
  readonly sender: string;
}

export type Approve = (pairing: PairingCode) => Promise<void>;

/** Matches the command in the bot's text. The page uses the same pattern for its button. */
const pattern = /pairing approve ([a-z0-9_-]{1,64}) ([A-Z2-9]{8})(?: --account ([a-z0-9_-]{1,64}))?/;

/**
 * Approves the code in a message that a bot sent to this person in their direct chat. Throws with one sentence if there
 * is none.
 */
export async function approvePairing(core: Core, approve: Approve | undefined, asked: unknown): Promise<object> {
  if (approve === undefined)
    throw new Error("this playground has no gateway that could approve; use the command in the message");
  const { person, message } = isRecord(asked) ? asked : {};
  const rooms = [...core.world.rooms.values()].filter((room) => room.bot !== undefined && room.chat.id === person);
  const room = rooms.find(({ messages }) => messages.get(Number(message))?.from.is_bot === true);
  const [, channel, code, account] = pattern.exec(room?.messages.get(Number(message))?.text ?? "") ?? [];
  if (room === undefined || channel === undefined || code === undefined)
    throw new Error("there is no pairing code in this message");
  await approve({ channel, code, sender: String(person), account });
  room.approved.add(Number(message));
  core.emit({ type: "room", room: room.key });
  return {};
}
