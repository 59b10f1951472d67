/** What the protocol reports of one connection beside messages: the bot's name, its rooms, and what the operator should know. */
import type { LiveConnection } from "./keep-connected.ts";
import { createLineName } from "./line-name.ts";
import type { LineLink, LineProtocol } from "./line-protocol.ts";
import { createLineRooms } from "./line-rooms.ts";
import type { SessionLink } from "./line-session.ts";

type Reports = Pick<LineLink, "welcome" | "inRoom" | "outOfRoom" | "nameTaken" | "renamed" | "left">;

export interface LineReports extends Reports {
  currentName(): string;
  /** Asks again for what the bot lacks: its name, and rooms. */
  askForMissing(): void;
}

/** `onRenamed` is called for a person who has another name now. */
export function createLineReports(
  { name: wanted, rooms: { names, join } = { names: [], join: () => "" } }: Pick<LineProtocol, "name" | "rooms">,
  link: SessionLink,
  {
    onRenamed,
    ...pacing
  }: Pick<Parameters<typeof createLineRooms>[0], "fold" | "now" | "turn"> & { onRenamed(from: string, to: string): void },
): LineReports {
  const rooms = createLineRooms({ ...pacing, names, join: (room) => link.write(join(room)) });
  const name = wanted && createLineName(wanted, { write: link.write, fold: pacing.fold });
  let welcomed = false;
  let own: { readonly detail?: string | undefined; readonly code?: string | undefined } = {};
  const named = (): LiveConnection["identity"] => name && { id: name.current(), username: name.current() };
  const report = (identity = named()) => {
    if (!welcomed) return;
    const [other, missing] = [name?.problem(), rooms.missing()];
    const detail = [own.detail, other, missing?.detail].filter((text) => text !== undefined).join(" ");
    link.welcome(identity, detail || undefined, own.code ?? (other === undefined ? missing?.code : "name_taken"));
  };
  void link.lost.then(rooms.close);
  return {
    currentName: () => name?.current() ?? "",
    welcome(identity, detail, code) {
      welcomed = true;
      own = { detail, code };
      report(identity);
    },
    nameTaken() {
      // After the welcome the bot has a name, and asked for the one that it wants.
      if (!welcomed) name?.taken();
    },
    renamed(from, to) {
      if (name?.isOwn(from)) {
        name.changed(to);
        report();
      } else {
        onRenamed(from, to);
        if (welcomed) name?.left(from);
      }
    },
    left(gone) {
      if (welcomed) name?.left(gone);
    },
    inRoom(room) {
      rooms.inRoom(room);
      report();
    },
    outOfRoom(room, error) {
      const isNamed = rooms.outOfRoom(room, error);
      if (isNamed) report();
      return isNamed;
    },
    askForMissing() {
      name?.askBack();
      rooms.joinMissing();
    },
  };
}
