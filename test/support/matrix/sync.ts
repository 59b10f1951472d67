/** `/sync` and `/messages`: what of a room is new for a user. */
import { type Content, clientEvent, type MatrixEvent, Refusal, type Room, type User, type World } from "./world.ts";

/** What of a filter the stand-in knows; other members are ignored, as a homeserver ignores them. */
interface EventFilter {
  readonly types?: readonly string[];
  readonly limit?: number;
  readonly lazy_load_members?: boolean;
}

export function readFilter(text: string | undefined, stored: ReadonlyMap<string, Content>): Content {
  if (text === undefined) return {};
  if (!text.startsWith("{")) {
    const found = stored.get(text);
    if (found === undefined) throw new Refusal(400, "M_INVALID_PARAM", "No such filter");
    return found;
  }
  try {
    return JSON.parse(text) as Content;
  } catch {
    throw new Refusal(400, "M_NOT_JSON", "The filter is not JSON");
  }
}

export function positionOf(token: string | undefined, letters = "s"): number | undefined {
  if (token === undefined) return undefined;
  const [, letter = "", digits] = /^([a-z])(\d+)$/.exec(token) ?? [];
  if (digits === undefined || !letters.includes(letter)) throw new Refusal(400, "M_INVALID_PARAM", "Invalid token");
  // `t` is the position in front of its event.
  return Number(digits) - (letter === "t" ? 1 : 0);
}

const matches = ({ type }: MatrixEvent, { types }: EventFilter) => types === undefined || types.includes(type);

function joinedRoom(
  world: World,
  room: Room,
  {
    since,
    user,
    device,
    filter,
  }: {
    readonly since: number | undefined;
    readonly user: User;
    readonly device: string;
    readonly filter: Content;
  },
): Content | undefined {
  const { timeline: given = {}, state: wanted = {} } = (filter.room ?? {}) as {
    readonly timeline?: EventFilter;
    readonly state?: EventFilter;
  };
  const { limit = 10 } = given;
  const joinedAt = room.state.get(`m.room.member|${user.id}`)?.at ?? 0;
  const joinedBefore = room.events.some(
    ({ type, state_key: key, content, at }) =>
      type === "m.room.member" && key === user.id && content.membership === "join" && at <= (since ?? 0),
  );
  const from = since !== undefined && joinedBefore ? since : 0;
  const isNew = since === undefined || (!joinedBefore && joinedAt > since);
  const fresh = room.events.filter(({ at }) => at > from);
  const found = fresh.filter((event) => matches(event, given));
  const events = found.slice(-limit);
  if (fresh.length === 0) return undefined;
  const limited = found.length > events.length;
  const first = events[0]?.at ?? world.position() + 1;
  const senders = new Set(events.map(({ sender }) => sender));
  const state = [...room.state.values()].filter(
    (event) =>
      matches(event, wanted) &&
      event.at < first &&
      (event.type === "m.room.member" && wanted.lazy_load_members === true
        ? senders.has(event.state_key ?? "")
        : isNew || (limited && event.at > from)),
  );
  const isCounted = isNew || limited || events.some(({ type }) => type === "m.room.member");
  const [joined, invited] = [world.members(room, "join"), world.members(room, "invite")];
  return {
    timeline: { events: events.map((event) => clientEvent(event, device)), limited, prev_batch: `t${first}` },
    state: { events: state.map((event) => clientEvent(event, device)) },
    account_data: { events: [] },
    ephemeral: { events: [] },
    unread_notifications: { notification_count: 0, highlight_count: 0 },
    summary: isCounted
      ? {
          "m.joined_member_count": joined.length,
          "m.invited_member_count": invited.length,
          "m.heroes": [...joined, ...invited].filter((id) => id !== user.id).slice(0, 5),
        }
      : {},
  };
}

/** The answer to a sync; `undefined`: nothing is new. */
export function syncAnswer(world: World, { since, ...who }: Parameters<typeof joinedRoom>[2]): Content | undefined {
  const { user } = who;
  const join: Record<string, unknown> = {};
  const invite: Record<string, unknown> = {};
  const leave: Record<string, unknown> = {};
  for (const room of world.rooms.values()) {
    const own = room.state.get(`m.room.member|${user.id}`);
    const isNew = own !== undefined && own.at > (since ?? 0);
    const membership = own?.content.membership;
    if (membership === "join") {
      const joined = joinedRoom(world, room, { since, ...who });
      if (joined !== undefined) join[room.id] = joined;
    } else if (membership === "invite" && isNew) {
      const shown = ["m.room.name|", "m.room.encryption|", "m.room.create|"].flatMap(
        (key) => room.state.get(key) ?? [],
      );
      const stripped = [...shown, own].flatMap((event) =>
        event === undefined
          ? []
          : [{ type: event.type, sender: event.sender, state_key: event.state_key, content: event.content }],
      );
      invite[room.id] = { invite_state: { events: stripped } };
    } else if (isNew && since !== undefined)
      leave[room.id] = { timeline: { events: [], limited: false, prev_batch: "t1" }, state: { events: [] } };
  }
  const types = (filterOf(who.filter.account_data).types ?? undefined) as readonly string[] | undefined;
  const data = [...user.accountData].filter(
    ([type, { at }]) => at > (since ?? 0) && (types === undefined || types.includes(type)),
  );
  const isNews = [join, invite, leave].some((group) => Object.keys(group).length > 0) || data.length > 0;
  if (!isNews && since !== undefined) return undefined;
  return {
    next_batch: `s${world.position()}`,
    rooms: { join, invite, leave },
    account_data: { events: data.map(([type, { content }]) => ({ type, content })) },
    presence: { events: [] },
    to_device: { events: [] },
    device_lists: { changed: [], left: [] },
    device_one_time_keys_count: {},
  };
}

const filterOf = (value: unknown) => (value ?? {}) as EventFilter;

export function messagesAnswer(
  room: Room,
  query: URLSearchParams,
  device: string,
  { ignoresTo = false } = {},
): Content {
  if (!["b", "f"].includes(query.get("dir") ?? "")) throw new Refusal(400, "M_MISSING_PARAM", "Missing or invalid dir");
  const filter = filterOf(readFilter(query.get("filter") ?? undefined, new Map()));
  const limit = Number(query.get("limit") ?? 10);
  const start = query.get("from") ?? `s${room.events.at(-1)?.at ?? 0}`;
  const from = positionOf(start, "st") ?? 0;
  const to = ignoresTo ? undefined : positionOf(query.get("to") ?? undefined, "st");
  const isBack = query.get("dir") === "b";
  const all = room.events
    .filter(({ at }) => (isBack ? at <= from && at > (to ?? 0) : at > from && at <= (to ?? Number.POSITIVE_INFINITY)))
    .filter((event) => matches(event, filter));
  const chunk = (isBack ? all.toReversed() : all).slice(0, limit);
  const senders = new Set(chunk.map(({ sender }) => sender));
  const state = [...room.state.values()].filter(
    ({ type, state_key: key }) =>
      filter.lazy_load_members === true && type === "m.room.member" && senders.has(key ?? ""),
  );
  const end = chunk.at(-1);
  return {
    start,
    ...(all.length > chunk.length && end !== undefined && { end: isBack ? `t${end.at}` : `s${end.at}` }),
    chunk: chunk.map((event) => clientEvent(event, device)),
    state: state.map((event) => clientEvent(event, device)),
  };
}
