/**
 * What the protocol reports of one connection beside messages: the bot's name, its rooms, and what the operator should
 * know.
 */
import type { AddressBook } from "../address-book.ts";
import type { LiveConnection } from "../keep-connected.ts";
import { createBotName } from "./name.ts";
import type { LineLink, LineProtocol } from "./protocol.ts";
import { createRooms } from "./rooms.ts";
import type { SessionLink } from "./session.ts";

type Reports = Pick<LineLink, "welcome" | "inRoom" | "outOfRoom" | "nameTaken" | "renamed" | "left">;

export interface ConnectionReports extends Reports {
  currentName(): string;
  isBot(name: string): boolean;
  /** The server does not let the bot into this room, if it is one that the bot asked for. */
  roomRefused(room: string, detail: string): void;
  /** Asks again for what the bot lacks: its name, and rooms. */
  askForMissing(): void;
}

export function createReports(
  { name: wanted, rooms: { names, join } = { names: [], join: () => "" } }: Pick<LineProtocol, "name" | "rooms">,
  link: SessionLink,
  {
    people,
    ...pacing
  }: Pick<Parameters<typeof createRooms>[0], "fold" | "now" | "turn"> & { readonly people: AddressBook },
): ConnectionReports {
  const rooms = createRooms({ ...pacing, names, join: (room) => link.write(join(room)) });
  const name = wanted && createBotName(wanted, { write: link.write, fold: pacing.fold });
  let welcomed = false;
  let own: { readonly [Name in keyof Omit<LiveConnection, "lost">]?: LiveConnection[Name] | undefined } = {};
  const named = (): LiveConnection["identity"] => name && { id: name.current(), username: name.current() };
  const report = () => {
    if (!welcomed) return;
    const [other, missing] = [name?.problem(), rooms.missing()];
    // The hint of the name follows the details, so the name is the last of them.
    const detail = [own.detail, missing?.detail, other].filter((text) => text !== undefined).join(" ");
    link.welcome(
      own.identity ?? named(),
      detail || undefined,
      own.code ?? (other === undefined ? missing?.code : "name_taken"),
    );
  };
  const isBot = (other: string) => name?.isOwn(other) ?? false;
  const isMeant = (who: string | undefined) => who === undefined || isBot(who);
  void link.lost.then(rooms.close);
  return {
    currentName: () => name?.current() ?? "",
    isBot,
    welcome(identity, detail, code) {
      welcomed = true;
      own = { identity: identity ?? own.identity, detail, code };
      report();
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
        people.rename(from, to);
        if (welcomed) name?.left(from);
      }
    },
    left(gone) {
      people.forget(gone);
      if (welcomed) name?.left(gone);
    },
    inRoom(room, who) {
      if (!isMeant(who)) return;
      rooms.inRoom(room);
      report();
    },
    outOfRoom(room, detail, who) {
      if (!isMeant(who)) return;
      rooms.outOfRoom(room, detail);
      report();
    },
    roomRefused(room, detail) {
      // What a room that the bot is in refuses is a message.
      if (rooms.isIn(room)) return;
      rooms.outOfRoom(room, detail);
      report();
    },
    askForMissing() {
      name?.askBack();
      rooms.joinMissing();
    },
  };
}
