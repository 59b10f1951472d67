/** The initial state for the page. */
import type { Core } from "../core.ts";
import { reactionEmoji } from "../reactions.ts";
import type { Bot, Room } from "../world.ts";

const shownMessages = 200;
const shownPeople = 20;

export function pageState(core: Core): object {
  const { world } = core;
  const people = [...world.people.values()].slice(0, shownPeople);
  for (const person of people) for (const bot of world.bots) world.direct(bot, person.id);
  const shown = new Set(people.map((person) => person.id));
  const rooms = [...world.rooms.values()].filter((room) => room.bot === undefined || shown.has(room.chat.id));
  return {
    people,
    bots: world.bots.map((bot) => ({ ...bot.user, menu: menuOf(bot) })),
    rooms: rooms.filter((room) => room.migratedTo === undefined).map(roomState),
    reactions: reactionEmoji,
    now: core.now(),
  };
}

function menuOf(bot: Bot): unknown {
  return { private: firstMenu(bot, "all_private_chats"), group: firstMenu(bot, "all_group_chats") };
}

function firstMenu(bot: Bot, scope: string): unknown {
  return bot.menus.get(`${scope}:`) ?? bot.menus.get("default:") ?? [];
}

function roomState(room: Room): unknown {
  return {
    key: room.key,
    chat: room.chat,
    bot: room.bot,
    members: Object.fromEntries(room.members),
    blocked: room.blocked,
    topics: [...room.topics.values()],
    messages: [...room.messages.values()].slice(-shownMessages),
    approved: [...room.approved],
    reactions: [...room.reactions].map(([id, all]) => [
      id,
      [...all].map(([userId, list]) => [userId, list.map((one) => one.emoji)]),
    ]),
  };
}
