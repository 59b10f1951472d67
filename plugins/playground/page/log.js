/** Shows the messages of the open chat. */
import { avatar, byId, el, roving } from "./dom.js";
import { renderMessage } from "./message.js";
import { titleOf, typingOf } from "./side.js";
import { createStops } from "./stops.js";

/** `actions` contains the functions that a message's tools call. */
export function createLog(model, actions) {
  const log = byId("log");
  const scroll = byId("scroll");
  const newer = byId("newer");
  /** Articles by message id, with the data that they were created from. */
  let shown = new Map();
  let shownPlace = "";

  function drawLog(room, { jump = false } = {}) {
    const place = `${model.me}|${room.key}|${model.thread}`;
    const fresh = place !== shownPlace;
    if (fresh) {
      shown = new Map();
      log.replaceChildren();
      shownPlace = place;
    }
    const atEnd = scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 80;
    const messages = model.messages(room, model.thread);
    const next = new Map();
    const newest = messages.at(-1)?.message_id;
    const added = newest !== undefined && !shown.has(newest);
    const nodes = [];
    let before;
    let day = "";
    for (const album of albumsOf(messages)) {
      const [message] = album;
      const today = new Date(message.date * 1000).toLocaleDateString([], {
        weekday: "long",
        day: "numeric",
        month: "long",
      });
      if (today !== day) nodes.push(keep(next, `day ${today}`, "", () => el("p", { class: "day" }, today)));
      const first =
        today !== day || before === undefined || before.from.id !== message.from.id || message.date - before.date > 300;
      const reactions = room.reactions.get(message.message_id);
      const approved = room.approved.has(message.message_id);
      const draw = () =>
        renderMessage(message, {
          mine: message.from.id === model.me,
          first,
          group: room.bot === undefined,
          album: album.length > 1 ? album : undefined,
          reactions,
          me: model.me,
          nameOf: model.nameOf,
          approves: model.approves && room.bot !== undefined,
          approved,
          actions,
        });
      nodes.push(keep(next, message.message_id, [...album, album.length, reactions, first, approved], draw));
      day = today;
      before = message;
    }
    if (typingOf(model, room)) nodes.push(keep(next, "typing", "", typingNode));
    if (messages.every((message) => message.forum_topic_created))
      nodes.push(keep(next, "empty", "", () => emptyNode(room)));
    shown = next;
    arrange(nodes);
    stops.settle();
    if (fresh || jump || atEnd) toEnd();
    else if (added) newer.hidden = false;
  }

  /**
   * Creates an article only if its data has changed, so that the focus, open quotes and revealed spoilers are
   * preserved.
   */
  function keep(next, key, parts, draw) {
    const old = shown.get(key);
    const same = old !== undefined && (parts === "" || parts.every((part, index) => part === old.parts[index]));
    const entry = same ? old : { parts, node: draw() };
    if (!same && old !== undefined) {
      const focused = old.node.contains(document.activeElement);
      // Makes screen readers wait until a growing message stops changing.
      entry.node.setAttribute("aria-busy", "true");
      setTimeout(() => entry.node.removeAttribute("aria-busy"), 1500);
      entry.node.classList.add("settled");
      old.node.replaceWith(entry.node);
      if (focused) entry.node.focus();
    }
    next.set(key, entry);
    return entry.node;
  }

  /** Orders the nodes with as few moves as possible, so that the live region announces only new ones. */
  function arrange(nodes) {
    let at = log.firstChild;
    for (const node of nodes) {
      if (node === at) at = at.nextSibling;
      else log.insertBefore(node, at);
    }
    while (at !== null) {
      const next = at.nextSibling;
      at.remove();
      at = next;
    }
  }

  function typingNode() {
    return el("div", { class: "typing", "aria-hidden": "true" }, el("i"), el("i"), el("i"));
  }

  function emptyNode(room) {
    const start =
      room.bot === undefined
        ? undefined
        : el("button", { class: "primary", type: "button", onclick: () => actions.command("/start") }, "Send /start");
    const text =
      room.bot === undefined
        ? `Nothing has been said here. The bot hears mentions, replies and commands.`
        : "This is a chat platform for trying the gateway, on this machine only. The bot is your gateway; " +
          "nothing that you write here reaches a real platform.";
    const intro = room.bot === undefined ? undefined : el("p", {}, peopleText());
    return el(
      "div",
      { class: "empty" },
      avatar(titleOf(model, room), room.bot ?? room.chat.id, "large"),
      el("p", {}, text),
      intro,
      start,
    );
  }

  /** Who the others are: a visitor plays all of them. */
  function peopleText() {
    const others = model.people.filter(({ id }) => id !== model.me).map((person) => person.first_name);
    const who =
      others.length === 0
        ? ""
        : ` ${new Intl.ListFormat("en-GB").format(others)} are other people, whom you can play too: choose ` +
          "one above the chats.";
    return `You are ${model.person()?.first_name}.${who} The bot answers those whom you have approved.`;
  }

  function toEnd() {
    scroll.scrollTop = scroll.scrollHeight;
    newer.hidden = true;
  }

  roving(log, "article", { keys: ["ArrowUp", "ArrowDown"] });
  const stops = createStops(log);
  newer.addEventListener("click", () => toEnd());
  scroll.addEventListener("scroll", () => {
    if (scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 80) newer.hidden = true;
  });
  // An image that finishes loading must not push the newest message out of view.
  log.addEventListener("load", () => newer.hidden && toEnd(), true);

  /** Moves the focus one step back: from a control to its message, from a message to the field. */
  function leave() {
    const article = document.activeElement.closest("article");
    if (article === null || article === document.activeElement) byId("entry").focus();
    else article.focus();
  }

  return { draw: drawLog, leave, node: log };
}

/** Groups images and videos that were sent as one album. */
function albumsOf(messages) {
  const albums = [];
  for (const message of messages) {
    const last = albums.at(-1);
    const isPicture = message.photo !== undefined || message.video !== undefined;
    if (isPicture && message.media_group_id !== undefined && last?.[0].media_group_id === message.media_group_id)
      last.push(message);
    else albums.push([message]);
  }
  return albums;
}
