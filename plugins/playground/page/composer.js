/** The message field: text, files, replies, edits and the command menu. */
import { byId, el, iconButton, toast } from "./dom.js";
import { sizeOf } from "./message.js";

export function createComposer(model) {
  const entry = byId("entry");
  const list = byId("commands");
  const opener = byId("open-commands");
  const drafts = new Map();
  let place = "";
  let replyTo;
  let editing;
  let files = [];
  let chosen = 0;

  const placeNow = () => `${model.me}|${model.roomKey}|${model.thread}`;

  function grow() {
    if (entry.offsetParent === null) {
      entry.style.height = "";
      return;
    }
    entry.style.height = "auto";
    entry.style.height = `${Math.min(entry.scrollHeight, 200)}px`;
  }

  function setText(text) {
    entry.value = text;
    grow();
    hideCommands();
  }

  function hideCommands() {
    list.hidden = true;
    opener.setAttribute("aria-expanded", "false");
    entry.removeAttribute("aria-activedescendant");
  }

  function showBanner() {
    const target = editing ?? replyTo;
    const banner = byId("banner");
    banner.hidden = target === undefined;
    if (target === undefined) return;
    const title = editing ? "Edit message" : `Reply to ${target.from.first_name}`;
    banner.replaceChildren(
      el("div", {}, el("strong", {}, title), el("span", {}, (target.text ?? target.caption ?? "Media").slice(0, 120))),
      iconButton("close", "Cancel", () => cancel()),
    );
  }

  function showFiles() {
    const box = byId("attached");
    box.hidden = files.length === 0;
    box.replaceChildren(
      ...files.map((file) =>
        el(
          "span",
          { class: "attachment" },
          file.name,
          el("small", {}, sizeOf(file.size)),
          iconButton("close", `Remove ${file.name}`, () => {
            files = files.filter((one) => one !== file);
            showFiles();
            entry.focus();
          }),
        ),
      ),
    );
  }

  function addFiles(more) {
    files = [...files, ...more].slice(0, 10);
    showFiles();
    entry.focus();
  }

  /** Cancels a reply or edit. Returns false if there was none. */
  function cancel() {
    const any = replyTo !== undefined || editing !== undefined;
    if (editing !== undefined) setText("");
    replyTo = undefined;
    editing = undefined;
    showBanner();
    if (any) entry.focus();
    return any;
  }

  function menu() {
    const room = model.room();
    const bot = model.botOf(room);
    if (bot === undefined || room === undefined) return [];
    const group = room.bot === undefined;
    const commands = group ? bot.menu.group : bot.menu.private;
    return commands.map((one) => ({ ...one, text: group ? `/${one.command}@${bot.username}` : `/${one.command}` }));
  }

  function matching() {
    const match = /^\/([a-z0-9_]*)$/i.exec(entry.value);
    return match === null ? [] : menu().filter((one) => one.command.startsWith(match[1].toLowerCase()));
  }

  function showCommands() {
    const commands = matching();
    const open = commands.length > 0;
    chosen = Math.min(chosen, Math.max(commands.length - 1, 0));
    list.hidden = !open;
    opener.setAttribute("aria-expanded", String(open));
    if (!open) return hideCommands();
    entry.setAttribute("aria-activedescendant", `command-${chosen}`);
    list.replaceChildren(
      ...commands.map((one, index) =>
        el(
          "div",
          {
            class: "option",
            role: "option",
            id: `command-${index}`,
            "aria-selected": String(index === chosen),
            onmousedown: (event) => event.preventDefault(),
            onclick: () => pick(one),
          },
          el("strong", {}, `/${one.command}`),
          el("span", {}, one.description),
        ),
      ),
    );
    list.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }

  function pick(one) {
    setText(`${one.text} `);
    entry.focus();
  }

  async function send() {
    const text = entry.value.trim();
    const room = model.room();
    if (room === undefined || (text === "" && files.length === 0)) return;
    const sent = { text: entry.value, files, replyTo, editing };
    const action = sent.editing
      ? { do: "edit", message: sent.editing.message_id, text }
      : {
          do: "say",
          text,
          ...(sent.replyTo ? { replyTo: sent.replyTo.message_id } : {}),
          ...(room.forum ? { thread: model.thread } : {}),
        };
    files = [];
    replyTo = undefined;
    editing = undefined;
    setText("");
    showFiles();
    showBanner();
    try {
      await model.act(action, sent.files);
    } catch (error) {
      toast(error.message);
      // Restores the text and files if the platform refuses the message.
      if (entry.value === "") setText(sent.text);
      files = sent.files;
      showFiles();
    }
  }

  function editLast() {
    const room = model.room();
    if (room === undefined) return;
    const own = model
      .messages(room, model.thread)
      .filter((message) => message.from.id === model.me && message.text !== undefined);
    if (own.length > 0) edit(own.at(-1));
  }

  function edit(message) {
    editing = message;
    replyTo = undefined;
    showBanner();
    setText(message.text ?? message.caption ?? "");
    entry.focus();
  }

  function commandKey(event) {
    const commands = matching();
    if (list.hidden || commands.length === 0) return false;
    if (event.key === "ArrowDown") chosen = (chosen + 1) % commands.length;
    else if (event.key === "ArrowUp") chosen = (chosen + commands.length - 1) % commands.length;
    else if (event.key === "Tab" || (event.key === "Enter" && entry.value.slice(1) !== commands[chosen].command)) {
      pick(commands[chosen]);
      return true;
    } else if (event.key === "Escape") {
      hideCommands();
      return true;
    } else return false;
    showCommands();
    return true;
  }

  entry.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (commandKey(event)) {
      event.preventDefault();
      event.stopPropagation();
    } else if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      void send();
    } else if (event.key === "ArrowUp" && entry.value === "") {
      event.preventDefault();
      editLast();
    }
  });
  // On the whole form, so that it also works from the buttons next to the field.
  byId("composer").addEventListener("keydown", (event) => {
    if (event.key === "Escape" && cancel()) event.stopPropagation();
  });
  entry.addEventListener("input", () => {
    chosen = 0;
    grow();
    showCommands();
  });
  entry.addEventListener("paste", (event) => {
    if (event.clipboardData.files.length > 0) {
      event.preventDefault();
      addFiles(event.clipboardData.files);
    }
  });
  byId("composer").addEventListener("submit", (event) => {
    event.preventDefault();
    void send();
  });
  byId("attach").addEventListener("click", () => byId("file").click());
  byId("file").addEventListener("change", (event) => {
    addFiles(event.target.files);
    event.target.value = "";
  });
  opener.addEventListener("click", () => {
    const open = list.hidden;
    setText(open ? "/" : "");
    if (open) showCommands();
    entry.focus();
  });
  const pane = document.querySelector(".room");
  pane.addEventListener("dragover", (event) => event.preventDefault());
  pane.addEventListener("drop", (event) => {
    event.preventDefault();
    addFiles(event.dataTransfer.files);
  });

  return {
    edit,
    cancel,
    reply(message) {
      cancel();
      replyTo = message;
      showBanner();
      entry.focus();
    },
    command(text) {
      setText(text);
      void send();
    },
    /** Called when the chat or the person may have changed. Each combination has its own draft. */
    enter() {
      const next = placeNow();
      opener.hidden = menu().length === 0;
      if (next === place) return;
      // What was written before the chats were loaded is for the first of them.
      drafts.set(place === "" ? next : place, editing ? "" : entry.value);
      place = next;
      replyTo = undefined;
      editing = undefined;
      files = [];
      showFiles();
      showBanner();
      setText(drafts.get(next) ?? "");
    },
  };
}
