/** Draws the people, the chats, and the topics and title of the open chat. */
import { avatar, byId, el, roving } from "./dom.js";
import { placeKey } from "./model.js";

export function titleOf(model, room) {
  return room.bot === undefined ? room.chat.title : model.nameOf(room.bot);
}

export function typingOf(model, room) {
  return model.typing.get(placeKey(room.key, room.forum ? model.thread : 1));
}

function badge(count) {
  return count === 0
    ? undefined
    : el("span", { class: "badge", "aria-label": `${count} unread` }, count > 99 ? "99+" : String(count));
}

/** Redraws a list and keeps the focus on the same item. */
function redraw(container, nodes) {
  const focused = container.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  container.replaceChildren(...nodes);
  if (focused !== undefined) container.querySelector(`[data-key="${focused}"]`)?.focus();
}

function lastText(model, room) {
  const last = [...room.messages.values()].filter((message) => message.forum_topic_created === undefined).at(-1);
  if (last === undefined) return room.bot === undefined ? "No messages yet" : "Say hello";
  const text = last.text ?? last.caption ?? "Media";
  const from = last.from.id === model.me ? "You: " : room.bot === undefined ? `${last.from.first_name}: ` : "";
  return `${from}${text.replace(/\s+/g, " ").slice(0, 60)}`;
}

const actionTexts = {
  typing: "is typing",
  upload_photo: "is sending a photo",
  upload_document: "is sending a file",
  record_voice: "is recording",
};

/** `become(personId)` and `enter(roomKey, thread)` are called for a selection. */
export function createSide(model, { become, enter }) {
  function drawPeople() {
    redraw(
      byId("people"),
      model.people.map((person) => {
        const unread = model.chats(person.id).reduce((sum, room) => sum + model.unread(person.id, room), 0);
        const mine = person.id === model.me;
        return el(
          "button",
          {
            type: "button",
            role: "radio",
            "aria-checked": String(mine),
            tabindex: mine ? 0 : -1,
            "data-key": person.id,
            onclick: () => become(person.id),
          },
          avatar(person.first_name, person.id, "small"),
          el("span", {}, person.first_name),
          mine ? undefined : badge(unread),
        );
      }),
    );
  }

  function drawChats() {
    redraw(
      byId("chats"),
      model.chats(model.me).map((room) => {
        const open = room.key === model.roomKey;
        return el(
          "li",
          {},
          el(
            "button",
            {
              type: "button",
              class: "chat",
              "data-key": room.key,
              tabindex: open ? 0 : -1,
              "aria-current": open ? "true" : undefined,
              onclick: () => enter(room.key),
            },
            avatar(titleOf(model, room), room.bot ?? room.chat.id),
            el(
              "span",
              { class: "chat-text" },
              el("strong", {}, titleOf(model, room)),
              el("small", {}, lastText(model, room)),
            ),
            badge(model.unread(model.me, room)),
          ),
        );
      }),
    );
  }

  function drawTopics(room) {
    const box = byId("topics");
    box.hidden = !room.forum;
    if (!room.forum) return;
    const tabs = room.topics.map((topic) => {
      const on = topic.id === model.thread;
      return el(
        "button",
        {
          type: "button",
          role: "tab",
          "data-key": topic.id,
          "aria-selected": String(on),
          tabindex: on ? 0 : -1,
          onclick: () => enter(room.key, topic.id),
        },
        topic.closed ? `${topic.name} (closed)` : topic.name,
        on ? undefined : badge(model.unread(model.me, room, topic.id)),
      );
    });
    redraw(box, tabs);
  }

  function drawBar(room) {
    const typing = typingOf(model, room);
    const members = Object.keys(room.members).length;
    byId("room-title").textContent = titleOf(model, room);
    byId("room-avatar").replaceChildren(avatar(titleOf(model, room), room.bot ?? room.chat.id));
    const idle =
      room.bot === undefined
        ? `${members} members`
        : room.blocked
          ? "blocked by you"
          : `@${model.botOf(room).username}`;
    byId("room-subtitle").textContent = typing ? `${typing.name} ${actionTexts[typing.action] ?? "is busy"}…` : idle;
    byId("room-subtitle").classList.toggle("busy", typing !== undefined);
    document.title = `${titleOf(model, room)} · Playground`;
  }

  roving(byId("people"), '[role="radio"]', {
    keys: ["ArrowLeft", "ArrowRight"],
    onMove: (next) => become(Number(next.dataset.key)),
  });
  roving(byId("chats"), ".chat", { keys: ["ArrowUp", "ArrowDown"] });
  roving(byId("topics"), '[role="tab"]', {
    keys: ["ArrowLeft", "ArrowRight"],
    onMove(next) {
      enter(model.roomKey, Number(next.dataset.key));
      byId("topics").querySelector('[aria-selected="true"]').focus();
    },
  });

  return { drawPeople, drawChats, drawTopics, drawBar };
}
