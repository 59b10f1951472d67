/** The page: the selected person, the chats and the open chat. */
import { createComposer } from "./composer.js";
import { byId, toast } from "./dom.js";
import { createDrawer } from "./drawer.js";
import { createLog } from "./log.js";
import { createMenus } from "./menus.js";
import { createModel } from "./model.js";
import { createSide } from "./side.js";

const model = createModel();
const composer = createComposer(model);
const drawer = createDrawer();
const app = byId("app");

const actions = {
  reply: (message) => composer.reply(message),
  edit: (message) => composer.edit(message),
  remove: (message) => attempt({ do: "remove", message: message.message_id }),
  command: (text) => composer.command(text),
  react(message, emoji) {
    const mine = model.room().reactions.get(message.message_id)?.get(model.me) ?? [];
    return attempt({ do: "react", message: message.message_id, emoji: mine.includes(emoji) ? [] : [emoji] });
  },
  pickReaction: (message, anchor) => menus.pickReaction(message, anchor),
  async approve(message, button) {
    button.disabled = true;
    try {
      await model.approve(message);
      button.textContent = "Approved";
    } catch (error) {
      button.disabled = false;
      toast(error.message);
    }
  },
  async press(message, data, button) {
    button.classList.add("waiting");
    button.setAttribute("aria-busy", "true");
    const result = await attempt({ do: "press", message: message.message_id, data });
    const settle = () => {
      button.classList.remove("waiting");
      button.removeAttribute("aria-busy");
    };
    if (result === undefined || model.presses.get(result.callbackId) === "answered") return settle();
    model.presses.set(result.callbackId, settle);
    setTimeout(settle, 15_000);
  },
  jump(id) {
    const node = log.node.querySelector(`[data-id="${id}"]`);
    node?.scrollIntoView({ block: "center" });
    node?.focus();
    // Highlights the message even if the browser shows no focus ring, as after a mouse click.
    node?.classList.add("found");
    setTimeout(() => node?.classList.remove("found"), 1600);
  },
};

const side = createSide(model, { become, enter });
const log = createLog(model, actions);
const menus = createMenus(model, { attempt, react: actions.react });

async function attempt(action) {
  try {
    return await model.act(action);
  } catch (error) {
    toast(error.message);
    return undefined;
  }
}

function draw(options) {
  side.drawPeople();
  const room = model.room();
  if (room === undefined) {
    side.drawChats();
    return;
  }
  model.look();
  side.drawChats();
  side.drawTopics(room);
  side.drawBar(room);
  log.draw(room, options);
  composer.enter();
}

/** Draws once for all events of a frame. */
let waiting = false;
function drawSoon() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    draw();
  });
}

function remember() {
  sessionStorage.setItem("playground", JSON.stringify({ me: model.me, roomKey: model.roomKey, thread: model.thread }));
}

function become(id) {
  const old = model.room();
  model.me = id;
  const chats = model.chats(id);
  const same =
    old?.bot === undefined ? chats.find((room) => room.key === old?.key) : chats.find((room) => room.bot === old.bot);
  model.roomKey = (same ?? chats[0])?.key ?? "";
  remember();
  draw();
}

function enter(key, thread = 1) {
  model.roomKey = key;
  model.thread = thread;
  app.dataset.view = "room";
  remember();
  draw({ jump: true });
  byId("entry").focus();
}

function drawConnection() {
  const state = byId("connection");
  state.textContent = model.connected ? "Connected" : "Connecting…";
  state.classList.toggle("on", model.connected);
}

function showNotice(event) {
  const settle = model.presses.get(event.callbackId);
  model.presses.set(event.callbackId, "answered");
  if (typeof settle === "function") settle();
  if (event.personId !== model.me || event.text === undefined) return;
  if (!event.alert) {
    toast(event.text);
    return;
  }
  byId("alert-text").textContent = event.text;
  byId("alert").showModal();
}

model.on((event) => {
  if (event.type === "connection") drawConnection();
  else if (event.type === "call") void drawer.refresh();
  else if (event.type === "notice") showNotice(event);
  else drawSoon();
});

byId("back").addEventListener("click", () => leave());
document.addEventListener("visibilitychange", () => drawSoon());

function leave() {
  app.dataset.view = "list";
  byId("chats").querySelector('[aria-current="true"]')?.focus();
}

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || document.querySelector(":popover-open, dialog[open]") !== null) return;
  if (log.node.contains(document.activeElement)) log.leave();
  else if (!drawer.close()) leave();
});

model.connect();
