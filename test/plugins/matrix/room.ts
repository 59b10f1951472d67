/** A whole gateway with the channel, on a homeserver with the bot and two people. */
import { createTestHost, type TestHost } from "service-gateway/testkit";
import { expect, onTestFinished } from "vitest";
import matrix from "../../../plugins/matrix/index.ts";
import { type Homeserver, startHomeserver } from "../../support/matrix/homeserver.ts";
import { createPerson, type Person, shownTexts } from "../../support/matrix/person.ts";
import type { Room, RoomOptions } from "../../support/matrix/world.ts";
import { token } from "./platforms.ts";

export interface Place {
  readonly server: Homeserver;
  readonly bot: string;
  readonly ada: Person;
  readonly eve: Person;
  /** A room that Ada creates, and that the bot is in. */
  room(options?: RoomOptions): Room;
  /** A room that Ada creates, with an invitation of the bot. */
  invite(options?: RoomOptions): Room;
  texts(room: Room, thread?: string): readonly string[];
  /** Waits until the bot's texts in a room are these. */
  sees(room: Room, texts: readonly unknown[], thread?: string): Promise<void>;
  start(config?: object, how?: Partial<Parameters<typeof createTestHost>[0]>): Promise<TestHost>;
}

export const open = {
  dmPolicy: "open",
  allowFrom: ["*"],
  groupPolicy: "open",
  groups: { "*": { requireMention: true } },
};

export async function openPlace(options: Parameters<typeof startHomeserver>[0] = {}): Promise<Place> {
  const server = await startHomeserver(options);
  onTestFinished(() => server.close());
  const { world } = server;
  const bot = world.addUser("bot", { name: "Breadbot", token }).id;
  const [ada, eve] = [
    createPerson(world, world.addUser("ada", { name: "Ada" }).id),
    createPerson(world, world.addUser("eve").id),
  ];
  const invite = (more: RoomOptions = {}) => world.createRoom(ada.id, { invite: [bot], ...more });
  const texts = (room: Room, thread?: string) => shownTexts(room, bot, thread === undefined ? {} : { thread });
  return {
    ...{ server, bot, ada, eve, invite, texts },
    room(more) {
      const room = invite(more);
      world.setMembership(room, bot, "join");
      return room;
    },
    sees: async (room, wanted, thread) => expect.poll(() => texts(room, thread), { timeout: 8_000 }).toEqual(wanted),
    async start(config = open, how = {}) {
      const host = await createTestHost({
        plugins: [matrix],
        config: { channels: { matrix: { homeserver: server.url, accessToken: token, ...config } } },
        ...how,
      });
      onTestFinished(() => host.close());
      await expect
        .poll(async () => (await host.accounts()).find(({ channel }) => channel === "matrix")?.state)
        .toBe("connected");
      return host;
    },
  };
}
