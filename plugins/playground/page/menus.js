/** The menu of a chat, and the reaction picker. */
import { byId, el } from "./dom.js";

/** `attempt` performs an action as the current person; `react` sets a reaction. */
export function createMenus(model, { attempt, react }) {
  function drawMenu(room) {
    const menu = byId("more-menu");
    const bot = model.botOf(room) ?? model.bots[0];
    const item = (text, run) =>
      el(
        "button",
        {
          type: "button",
          onclick() {
            menu.hidePopover();
            void run();
          },
        },
        text,
      );
    const items = [];
    if (room.bot !== undefined)
      items.push(
        item(room.blocked ? "Unblock the bot" : "Block the bot", () =>
          attempt({ do: "block", blocked: !room.blocked }),
        ),
      );
    else {
      const status = room.members[bot.id];
      const become = (next) => () => attempt({ do: "member", user: bot.id, status: next });
      const away = status === "left" || status === "kicked" || status === undefined;
      if (away) items.push(item("Add the bot", become("member")));
      else {
        items.push(
          status === "administrator"
            ? item("Bot: take administrator away", become("member"))
            : item("Bot: make administrator", become("administrator")),
        );
        items.push(item("Remove the bot", become("kicked")));
      }
    }
    if (room.forum) items.push(newTopicForm(menu));
    menu.replaceChildren(...items);
  }

  function newTopicForm(menu) {
    const name = el("input", {
      type: "text",
      maxlength: 128,
      required: true,
      placeholder: "New topic",
      "aria-label": "Name of the new topic",
    });
    const form = el("form", { class: "menu-form" }, name, el("button", { class: "primary" }, "Add"));
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      menu.hidePopover();
      const result = await attempt({ do: "topic", name: name.value });
      if (result !== undefined) model.thread = result.topic;
    });
    return form;
  }

  function pickReaction(message, anchor) {
    const menu = byId("reaction-menu");
    const choose = (emoji) => {
      menu.hidePopover();
      void react(message, emoji);
      byId("log").querySelector(`[data-id="${message.message_id}"]`)?.focus();
    };
    menu.replaceChildren(
      ...model.reactions.map((emoji) =>
        el("button", { type: "button", "aria-label": emoji, onclick: () => choose(emoji) }, emoji),
      ),
    );
    menu.showPopover();
    const box = anchor.getBoundingClientRect();
    menu.style.left = `${Math.max(8, Math.min(box.left, innerWidth - menu.offsetWidth - 8))}px`;
    menu.style.top = `${Math.max(8, Math.min(box.bottom + 4, innerHeight - menu.offsetHeight - 8))}px`;
    menu.querySelector("button").focus();
  }

  byId("more-menu").addEventListener("beforetoggle", (event) => {
    if (event.newState === "open") drawMenu(model.room());
  });

  return { pickReaction };
}
