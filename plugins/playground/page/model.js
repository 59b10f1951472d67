/** The state of the page: the platform's state, kept up to date by its events, and the selected person and chat. */

export function createModel() {
  const model = {
    people: [],
    bots: [],
    rooms: new Map(),
    reactions: [],
    me: 0,
    roomKey: "",
    thread: 1,
    connected: false,
    /** Current actions of bots, such as typing, by room and thread. They expire. */
    typing: new Map(),
    /** The last message that each person has seen, by room and thread. */
    seen: new Map(),
    /** Button presses that wait for an answer: callback id to button. */
    presses: new Map(),
    /** Whether the page can approve pairing codes on behalf of the gateway's operator. */
    approves: false,
  };
  const listeners = [];
  const emit = (event) => {
    for (const listener of listeners) listener(event);
  };
  let buffered = [];
  let loading = false;

  async function load() {
    loading = true;
    const state = await (await fetch("/_playground/state")).json();
    const first = model.people.length === 0;
    model.people = state.people;
    model.bots = state.bots;
    model.reactions = state.reactions;
    model.approves = state.approves === true;
    model.rooms = new Map(state.rooms.map((room) => [room.key, readRoom(room)]));
    if (first) begin(model);
    loading = false;
    for (const event of buffered) apply(event);
    buffered = [];
    emit({ type: "state" });
  }

  function receive(event) {
    if (loading && event.type !== "call") buffered.push(event);
    else apply(event);
  }

  let reload;
  function apply(event) {
    const room = model.rooms.get(event.room);
    if (event.type === "menu" || event.type === "room" || (event.type === "message" && room === undefined)) {
      clearTimeout(reload);
      reload = setTimeout(load, 60);
    } else if (event.type === "message" || event.type === "edit") {
      room?.messages.set(event.message.message_id, event.message);
      if (event.type === "message") model.typing.delete(placeKey(event.room, threadOf(event.message)));
    } else if (event.type === "delete") room?.messages.delete(event.messageId);
    else if (event.type === "reaction" && room !== undefined) {
      const all = new Map(room.reactions.get(event.messageId));
      if (event.reactions.length === 0) all.delete(event.from.id);
      else
        all.set(
          event.from.id,
          event.reactions.map((one) => one.emoji),
        );
      room.reactions.set(event.messageId, all);
    } else if (event.type === "action") showTyping(event);
    emit(event);
  }

  function showTyping(event) {
    const key = placeKey(event.room, event.thread ?? 1);
    clearTimeout(model.typing.get(key)?.timer);
    const timer = setTimeout(() => {
      model.typing.delete(key);
      emit({ type: "action", room: event.room });
    }, 5000);
    model.typing.set(key, { name: event.from.first_name, action: event.action, timer });
  }

  function connect() {
    const source = new EventSource("/_playground/events");
    source.onopen = () => {
      // Events were missed while the connection was down, so the whole state is loaded again. Before it is there, there
      // is no chat to write in.
      load().then(
        () => {
          model.connected = source.readyState === EventSource.OPEN;
          emit({ type: "connection" });
        },
        () => undefined,
      );
    };
    source.onerror = () => {
      model.connected = false;
      emit({ type: "connection" });
    };
    source.onmessage = ({ data }) => receive(JSON.parse(data));
  }

  return Object.assign(model, {
    connect,
    on: (listener) => listeners.push(listener),
    emit,
    room: () => model.rooms.get(model.roomKey),
    person: () => model.people.find((person) => person.id === model.me),
    botOf: (room) =>
      model.bots.find((bot) => bot.id === room?.bot) ?? model.bots.find((bot) => room?.members[bot.id] !== undefined),
    chats: (me) => chatsOf(model, me),
    nameOf: (id) => [...model.people, ...model.bots].find((user) => user.id === id)?.first_name ?? "Somebody",
    messages: (room, thread) =>
      [...room.messages.values()].filter((message) => !room.forum || threadOf(message) === thread),
    unread: (me, room, thread) => unreadOf(model, me, room, thread),
    look: () => markSeen(model),
    act: (action, files) => act(model, action, files),
    approve: (message) => post("/_playground/approve", { person: model.me, message: message.message_id }),
  });
}

function readRoom(room) {
  return {
    ...room,
    forum: room.chat.is_forum === true,
    messages: new Map(room.messages.map((message) => [message.message_id, message])),
    approved: new Set(room.approved),
    reactions: new Map(room.reactions.map(([id, all]) => [id, new Map(all)])),
  };
}

/** Initializes the page: marks all earlier messages as seen and restores this tab's last selection. */
function begin(model) {
  for (const person of model.people) {
    for (const room of model.rooms.values()) {
      for (const message of room.messages.values())
        model.seen.set(seenKey(person.id, room, threadOf(message)), message.message_id);
    }
  }
  const kept = JSON.parse(sessionStorage.getItem("playground") ?? "{}");
  model.me = model.people.some((person) => person.id === kept.me) ? kept.me : (model.people[0]?.id ?? 0);
  const room = model.rooms.get(kept.roomKey);
  model.roomKey =
    room !== undefined && isMine(room, model.me) ? kept.roomKey : (chatsOf(model, model.me)[0]?.key ?? "");
  model.thread = kept.thread ?? 1;
}

export function isMine(room, me) {
  return room.bot === undefined
    ? ["creator", "administrator", "member"].includes(room.members[me])
    : room.chat.id === me;
}

function chatsOf(model, me) {
  return [...model.rooms.values()].filter((room) => isMine(room, me)).sort((a, b) => (b.bot ? 1 : 0) - (a.bot ? 1 : 0));
}

export function threadOf(message) {
  return message.is_topic_message ? message.message_thread_id : 1;
}

export function placeKey(room, thread) {
  return `${room}|${thread}`;
}

function seenKey(me, room, thread) {
  return `${me}|${placeKey(room.key, room.forum ? thread : 1)}`;
}

/** The number of unread messages of a person in a room or one of its topics. */
function unreadOf(model, me, room, thread) {
  let count = 0;
  for (const message of room.messages.values()) {
    const own = threadOf(message);
    if (message.from.id === me || message.forum_topic_created || (thread !== undefined && room.forum && own !== thread))
      continue;
    if (message.message_id > (model.seen.get(seenKey(me, room, own)) ?? 0)) count += 1;
  }
  return count;
}

/** Marks the visible messages as seen. */
function markSeen(model) {
  const room = model.rooms.get(model.roomKey);
  // On a phone, the list may cover the chat, which is then not visible.
  if (room === undefined || document.hidden || document.querySelector(".room").offsetParent === null) return;
  for (const message of room.messages.values()) {
    const thread = threadOf(message);
    if (!room.forum || thread === model.thread) model.seen.set(seenKey(model.me, room, thread), message.message_id);
  }
}

/** Performs an action as the current person in the current chat. Throws with the platform's reason. */
async function act(model, action, files = []) {
  const room = model.rooms.get(model.roomKey);
  const bot = model.bots.find((one) => one.id === room.bot)?.username;
  const body = { person: model.me, chat: room.chat.id, ...(bot === undefined ? {} : { bot }), ...action };
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  if (files.length > 0) {
    const form = new FormData();
    form.set("json", JSON.stringify(body));
    for (const [index, file] of files.entries()) form.set(`file${index}`, file);
    Object.assign(init, { headers: {}, body: form });
  }
  return read(await fetch("/_playground/act", init));
}

async function post(path, body) {
  return read(
    await fetch(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
  );
}

async function read(answer) {
  const result = await answer.json();
  if (!answer.ok) throw new Error(result.error);
  return result;
}
