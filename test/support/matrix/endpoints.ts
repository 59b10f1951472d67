/** The endpoints of the client-server API that a bot or a person uses, as strict as the specification. */
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { messagesAnswer, positionOf, readFilter, syncAnswer } from "./sync.ts";
import { type Content, clientEvent, Refusal, type Room, type User, type World } from "./world.ts";

export interface Request {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Buffer;
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal;
}

export interface Media {
  readonly bytes: Buffer;
  readonly type: string;
  readonly name: string | null;
}

/** What the stand-in remembers beside the world. */
export interface Memory {
  readonly media: Map<string, Media>;
  /** The answers to sends, by device, path and transaction. */
  readonly sent: Map<string, Content>;
  readonly filters: Map<string, Content>;
  readonly typing: { readonly room: string; readonly user: string; readonly isTyping: boolean }[];
  readonly receipts: { readonly room: string; readonly user: string; readonly event: string }[];
  readonly uploadBytes: number;
  /** A homeserver of before Matrix 1.11, and one that does not limit `/messages`. */
  readonly isOld: boolean;
  readonly ignoresTo: boolean;
}

interface Session {
  readonly world: World;
  readonly memory: Memory;
  readonly request: Request;
  readonly user: User;
  readonly device: string;
  /** The decoded values of the path. */
  readonly at: readonly string[];
  body(): Content;
}

type Endpoint = (session: Session) => unknown;

/** Bytes and a type, in place of JSON. */
export class RawAnswer {
  readonly media: Media;

  constructor(media: Media) {
    this.media = media;
  }
}

function roomIn({ world, user }: Session, id = ""): Room {
  const room = world.rooms.get(id);
  if (room === undefined) throw new Refusal(403, "M_FORBIDDEN", `User ${user.id} not in room ${id}`);
  world.entered(room, user.id);
  return room;
}

function eventIn(room: Room, id = "") {
  const event = room.events.find(({ event_id: one }) => one === id);
  if (event === undefined) throw new Refusal(404, "M_NOT_FOUND", "Could not find event");
  return event;
}

/** Canonical JSON has whole numbers only. */
function hasFraction(value: unknown): boolean {
  if (typeof value === "number") return !Number.isSafeInteger(value);
  return typeof value === "object" && value !== null && Object.values(value).some(hasFraction);
}

function checkContent(session: Session, room: Room, type: string, content: Content): void {
  if (hasFraction(content)) throw new Refusal(400, "M_BAD_JSON", "Floats are not allowed");
  // What the homeserver adds to an event.
  if (Buffer.byteLength(JSON.stringify(content)) + 1_000 > 65_536)
    throw new Refusal(413, "M_TOO_LARGE", "event too large");
  const { msgtype, body, format, formatted_body: html, "m.relates_to": relation = {} } = content;
  const { rel_type: kind, event_id: target, key } = relation as Content;
  if (type === "m.room.message") {
    if (typeof msgtype !== "string" || typeof body !== "string")
      throw new Refusal(400, "M_BAD_JSON", "msgtype and body are required");
    if (html !== undefined && format !== "org.matrix.custom.html")
      throw new Refusal(400, "M_BAD_JSON", "formatted_body needs its format");
    if (/^m\.(?:image|file|audio|video)$/.test(msgtype) && !/^mxc:\/\/\S+\/\S+$/.test(String(content.url)))
      throw new Refusal(400, "M_BAD_JSON", "url is required");
    if (kind === "m.replace" && typeof (content["m.new_content"] as Content | undefined)?.body !== "string")
      throw new Refusal(400, "M_BAD_JSON", "m.new_content is required");
  }
  if (kind !== undefined && typeof target !== "string") throw new Refusal(400, "M_BAD_JSON", "event_id is required");
  if (type !== "m.reaction") return;
  if (kind !== "m.annotation" || typeof key !== "string" || key === "")
    throw new Refusal(400, "M_BAD_JSON", "an annotation has a key");
  if (
    annotations(room, String(target)).some(
      ({ sender, content: other }) => sender === session.user.id && (other["m.relates_to"] as Content).key === key,
    )
  )
    throw new Refusal(400, "M_DUPLICATE_ANNOTATION", "Can't send same reaction twice");
}

const annotations = ({ events }: Room, target: string) =>
  events.filter(
    ({ type, content, removedBy }) =>
      type === "m.reaction" && removedBy === undefined && (content["m.relates_to"] as Content).event_id === target,
  );

/** Once for each transaction of a device. */
function once(session: Session, act: () => Content): Content {
  const { memory, device, request } = session;
  const key = `${device} ${request.method} ${request.path.replace("/r0/", "/v3/")}`;
  const answer = memory.sent.get(key) ?? act();
  memory.sent.set(key, answer);
  return answer;
}

const join: Endpoint = ({ world, user, at: [id = ""] }) => {
  const room = world.rooms.get(id) ?? world.rooms.get(world.aliases.get(id) ?? "");
  if (room === undefined) throw new Refusal(404, "M_NOT_FOUND", "No known servers");
  const membership = world.membershipOf(room, user.id);
  if (
    membership !== "invite" &&
    membership !== "join" &&
    room.state.get("m.room.join_rules|")?.content.join_rule !== "public"
  )
    throw new Refusal(403, "M_FORBIDDEN", "You are not invited to this room.");
  if (membership !== "join") world.setMembership(room, user.id, "join");
  return { room_id: room.id };
};

const download: Endpoint = ({ memory, at: [host = "", id = ""], world }) => {
  const media = host === world.host ? memory.media.get(id) : undefined;
  if (media === undefined) throw new Refusal(404, "M_NOT_FOUND", "Not found");
  return new RawAnswer(media);
};

const upload: Endpoint = ({ world, memory, request }) => {
  if (request.bytes.length > memory.uploadBytes)
    throw new Refusal(413, "M_TOO_LARGE", "Upload request body is too large");
  const id = randomBytes(12).toString("hex");
  const type = String(request.headers["content-type"] ?? "application/octet-stream");
  memory.media.set(id, { bytes: request.bytes, type, name: request.query.get("filename") });
  return { content_uri: `mxc://${world.host}/${id}` };
};

const sync: Endpoint = async ({ world, memory, request: { query, signal }, user, device }) => {
  const filter = readFilter(query.get("filter") ?? undefined, memory.filters);
  const since = positionOf(query.get("since") ?? undefined);
  const timeout = Number(query.get("timeout") ?? 0);
  const answer = () => syncAnswer(world, { since, user, device, filter });
  const empty = () => ({ next_batch: `s${Math.max(since ?? 0, world.position())}` });
  for (const until = performance.now() + timeout; ; ) {
    const found = answer();
    const left = until - performance.now();
    if (found !== undefined || left <= 0 || signal.aborted) return found ?? empty();
    let stop = () => {};
    const changes = new Promise<void>((resolve) => {
      stop = world.onChange(resolve);
    });
    const late = new AbortController();
    await Promise.race([
      changes,
      sleep(left, undefined, { signal: AbortSignal.any([signal, late.signal]) }).catch(() => {}),
    ]);
    late.abort();
    stop();
  }
};

export const endpoints: readonly (readonly [method: string, pattern: RegExp, Endpoint])[] = [
  [
    "GET",
    /^client\/v3\/account\/whoami$/,
    ({ user, device }) => ({ user_id: user.id, device_id: device, is_guest: false }),
  ],
  [
    "GET",
    /^client\/v3\/profile\/([^/]+)(?:\/displayname)?$/,
    ({ world, at: [id = ""] }) => {
      const found = world.users.get(id);
      if (found === undefined) throw new Refusal(404, "M_NOT_FOUND", "Profile was not found");
      return found.name === undefined ? {} : { displayname: found.name };
    },
  ],
  ["GET", /^client\/v3\/sync$/, sync],
  [
    "POST",
    /^client\/v3\/user\/([^/]+)\/filter$/,
    ({ memory, body }) => {
      const id = `f${memory.filters.size + 1}`;
      memory.filters.set(id, body());
      return { filter_id: id };
    },
  ],
  [
    "GET",
    /^client\/v3\/user\/([^/]+)\/account_data\/([^/]+)$/,
    ({ user, at: [, type = ""] }) => {
      const found = user.accountData.get(type);
      if (found === undefined) throw new Refusal(404, "M_NOT_FOUND", "Account data not found");
      return found.content;
    },
  ],
  [
    "PUT",
    /^client\/v3\/user\/([^/]+)\/account_data\/([^/]+)$/,
    ({ world, user, at: [, type = ""], body }) => {
      world.setAccountData(user, type, body());
      return {};
    },
  ],
  [
    "POST",
    /^client\/v3\/createRoom$/,
    ({ world, user, body }) => {
      const {
        name,
        invite = [],
        is_direct: isDirect = false,
      } = body() as { readonly name?: string; readonly invite?: readonly string[]; readonly is_direct?: boolean };
      const unknown = invite.find((id) => !world.users.has(id));
      if (unknown !== undefined) throw new Refusal(403, "M_FORBIDDEN", `${unknown} cannot be invited`);
      return { room_id: world.createRoom(user.id, { ...(name !== undefined && { name }), invite, isDirect }).id };
    },
  ],
  ["POST", /^client\/v3\/join\/([^/]+)$/, join],
  ["POST", /^client\/v3\/rooms\/([^/]+)\/join$/, join],
  [
    "POST",
    /^client\/v3\/rooms\/([^/]+)\/leave$/,
    ({ world, user, at: [id = ""] }) => {
      world.setMembership(world.room(id), user.id, "leave");
      return {};
    },
  ],
  [
    "POST",
    /^client\/v3\/rooms\/([^/]+)\/invite$/,
    (session) => {
      const room = roomIn(session, session.at[0]);
      session.world.setMembership(room, String(session.body().user_id), "invite", { by: session.user.id });
      return {};
    },
  ],
  [
    "GET",
    /^client\/v3\/joined_rooms$/,
    ({ world, user }) => ({
      joined_rooms: [...world.rooms.values()]
        .filter((room) => world.membershipOf(room, user.id) === "join")
        .map(({ id }) => id),
    }),
  ],
  [
    "GET",
    /^client\/v3\/rooms\/([^/]+)\/joined_members$/,
    (session) => {
      const names = session.world.members(roomIn(session, session.at[0]), "join");
      return {
        joined: Object.fromEntries(
          names.map((id) => [id, { display_name: session.world.users.get(id)?.name ?? null }]),
        ),
      };
    },
  ],
  [
    "GET",
    /^client\/v3\/rooms\/([^/]+)\/state\/([^/]+)\/?([^/]*)$/,
    (session) => {
      const room = roomIn(session, session.at[0]);
      const found = room.state.get(`${session.at[1]}|${session.at[2] ?? ""}`);
      if (found === undefined) throw new Refusal(404, "M_NOT_FOUND", "Event not found.");
      return found.content;
    },
  ],
  [
    "PUT",
    /^client\/v3\/rooms\/([^/]+)\/send\/([^/]+)\/([^/]+)$/,
    (session) => {
      const {
        world,
        user,
        device,
        at: [id, type = "", txn = ""],
      } = session;
      const room = roomIn(session, id);
      const content = session.body();
      return once(session, () => {
        checkContent(session, room, type, content);
        return { event_id: world.append(room, { type, sender: user.id, content, device, txn }).event_id };
      });
    },
  ],
  [
    "PUT",
    /^client\/v3\/rooms\/([^/]+)\/redact\/([^/]+)\/([^/]+)$/,
    (session) => {
      const room = roomIn(session, session.at[0]);
      const { reason } = session.body();
      return once(session, () => ({
        event_id: session.world.redact(room, session.user.id, session.at[1] ?? "", reason).event_id,
      }));
    },
  ],
  [
    "GET",
    /^client\/v3\/rooms\/([^/]+)\/event\/([^/]+)$/,
    (session) => {
      const room = roomIn(session, session.at[0]);
      return clientEvent(eventIn(room, session.at[1]), session.device);
    },
  ],
  [
    "GET",
    /^client\/v3\/rooms\/([^/]+)\/messages$/,
    (session) => {
      const room = roomIn(session, session.at[0]);
      return messagesAnswer(room, session.request.query, session.device, session.memory);
    },
  ],
  [
    "GET",
    /^client\/v1\/rooms\/([^/]+)\/relations\/([^/]+)\/m\.annotation\/m\.reaction$/,
    (session) => {
      const room = roomIn(session, session.at[0]);
      const { event_id: target } = eventIn(room, session.at[1]);
      return {
        chunk: annotations(room, target)
          .toReversed()
          .map((event) => clientEvent(event, session.device)),
      };
    },
  ],
  [
    "PUT",
    /^client\/v3\/rooms\/([^/]+)\/typing\/([^/]+)$/,
    (session) => {
      const { typing, timeout } = session.body();
      const room = roomIn(session, session.at[0]);
      if (typeof typing !== "boolean" || (typing && !Number.isSafeInteger(timeout)))
        throw new Refusal(400, "M_BAD_JSON", "typing is required");
      if (session.at[1] !== session.user.id)
        throw new Refusal(403, "M_FORBIDDEN", "Cannot set another user's typing state");
      session.memory.typing.push({ room: room.id, user: session.user.id, isTyping: typing });
      return {};
    },
  ],
  [
    "POST",
    /^client\/v3\/rooms\/([^/]+)\/receipt\/m\.read\/([^/]+)$/,
    (session) => {
      const room = roomIn(session, session.at[0]);
      session.memory.receipts.push({
        room: room.id,
        user: session.user.id,
        event: eventIn(room, session.at[1]).event_id,
      });
      return {};
    },
  ],
  [
    "GET",
    /^client\/v3\/directory\/room\/([^/]+)$/,
    ({ world, at: [alias = ""] }) => {
      const id = world.aliases.get(alias);
      if (id === undefined) throw new Refusal(404, "M_NOT_FOUND", `Room alias ${alias} not found`);
      return { room_id: id, servers: [world.host] };
    },
  ],
  [
    "POST",
    /^client\/v3\/keys\/query$/,
    ({ world, body }) => {
      const asked = Object.keys((body().device_keys ?? {}) as Content);
      const found = asked.map((id) => [
        id,
        Object.fromEntries((world.users.get(id)?.keys ?? []).map((device) => [device, { device_id: device }])),
      ]);
      return { device_keys: Object.fromEntries(found), failures: {} };
    },
  ],
  ["POST", /^media\/v3\/upload$/, upload],
  ["GET", /^client\/v1\/media\/config$/, ({ memory }) => ({ "m.upload.size": memory.uploadBytes })],
  [
    "GET",
    /^client\/v1\/media\/download\/([^/]+)\/([^/]+)$/,
    (session) => {
      if (session.memory.isOld) throw new Refusal(404, "M_UNRECOGNIZED", "Unrecognized request");
      return download(session);
    },
  ],
  [
    "GET",
    /^media\/v3\/download\/([^/]+)\/([^/]+)(?:\/[^/]*)?$/,
    (session) => {
      // Since Matrix 1.12, what is uploaded can be fetched with a token only, at the other address.
      if (!session.memory.isOld) throw new Refusal(404, "M_NOT_FOUND", "Not found");
      return download(session);
    },
  ],
];
