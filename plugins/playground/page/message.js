/** Renders one message as an article: sender, quoted message, content, buttons, reactions and tools. */
import { avatar, el, icon, iconButton } from "./dom.js";
import { renderText } from "./text.js";

/**
 * `actions` contains reply, edit, remove, react, pickReaction, press, approve, command and jump. `album` contains the
 * messages shown together with this one.
 */
export function renderMessage(
  message,
  { mine, first, group, album, reactions, me, nameOf, approves, approved, actions },
) {
  if (isService(message)) return service(message);
  const sender = message.from.first_name;
  const others = group && !mine;
  const article = el(
    "article",
    {
      class: `message ${mine ? "mine" : "theirs"} ${first ? "first" : ""} ${others ? "grouped" : ""}`,
      tabindex: -1,
      "data-id": message.message_id,
      "aria-label": `${mine ? "You" : sender}, ${timeOf(message.date)}`,
    },
    others && first ? avatar(sender, message.from.id, "tiny") : undefined,
    el(
      "div",
      { class: "stack" },
      fitted(
        el("div", { class: "bubble" }, bubble(message, { others, first, sender, album, actions })),
        message,
        album,
      ),
      message.reply_markup ? keyboard(message, actions) : undefined,
      approves && message.from.is_bot && pairingCommand.test(message.text ?? "")
        ? approval(message, approved, actions)
        : undefined,
      reactionRow(message, reactions, me, nameOf, actions),
    ),
    tools(message, mine, actions),
  );
  return article;
}

function isService(message) {
  return (
    message.forum_topic_created !== undefined ||
    message.forum_topic_closed !== undefined ||
    message.migrate_to_chat_id !== undefined ||
    message.migrate_from_chat_id !== undefined
  );
}

function service(message) {
  const name = message.from.first_name;
  const text =
    message.forum_topic_created !== undefined
      ? `${name} began the topic “${message.forum_topic_created.name}”`
      : message.forum_topic_closed !== undefined
        ? `${name} closed the topic`
        : "The group became a supergroup";
  return el("p", { class: "service", "data-id": message.message_id }, text);
}

/** Matches the command in a pairing text. The platform uses the same pattern. */
const pairingCommand = /pairing approve [a-z0-9_-]{1,64} [A-Z2-9]{8}/;

function approval(message, approved, actions) {
  const attributes = {
    class: "key",
    type: "button",
    disabled: approved ? true : undefined,
    onclick: (event) => actions.approve(message, event.currentTarget),
  };
  return el(
    "div",
    { class: "keyboard", role: "group", "aria-label": "For the operator" },
    el("button", attributes, approved ? "Approved" : "Approve this code"),
    approved ? undefined : el("p", { class: "explained" }, "On this page you are the operator too."),
  );
}

const mostSide = 360;
const leastWidth = 160;

/** Fits the bubble to its image, so that long captions wrap and no gap is left next to the image. */
function fitted(node, message, album) {
  const picture = message.photo?.at(-1) ?? message.video ?? (message.animation?.width ? message.animation : undefined);
  if (album === undefined && picture?.width === undefined) return node;
  const { width, height } = album === undefined ? picture : { width: mostSide, height: mostSide };
  const scale = Math.min(1, mostSide / width, mostSide / height);
  node.classList.add("pictured");
  node.style.setProperty("--picture", `${Math.max(leastWidth, Math.round(width * scale))}px`);
  return node;
}

/** Arranges the images and videos of an album in two or three columns. */
function grid(album) {
  return el(
    "div",
    { class: "album", "data-columns": album.length === 2 || album.length === 4 ? 2 : 3 },
    album.map((one) => el("div", { class: "cell", "data-id": one.message_id, tabindex: -1 }, media(one))),
  );
}

function bubble(message, { others, first, sender, album, actions }) {
  const spoken = album?.find((one) => one.caption !== undefined) ?? message;
  const text = spoken.text ?? spoken.caption;
  const entities = spoken.entities ?? spoken.caption_entities;
  const answered = message.reply_to_message;
  return [
    others && first ? el("span", { class: `sender tone-${Math.abs(message.from.id) % 6}` }, sender) : undefined,
    message.forward_origin ? el("span", { class: "forwarded" }, "Forwarded") : undefined,
    answered !== undefined && answered.forum_topic_created === undefined
      ? quote(message, answered, actions)
      : undefined,
    album === undefined ? media(message) : grid(album),
    text === undefined
      ? undefined
      : el("div", { class: "text", dir: "auto" }, renderText(text, entities, actions.command)),
    el("span", { class: "meta" }, message.edit_date ? "edited " : "", el("time", {}, timeOf(message.date))),
  ];
}

function quote(message, answered, actions) {
  const text = message.quote?.text ?? answered.text ?? answered.caption ?? "Media";
  return el(
    "button",
    {
      class: "quote",
      type: "button",
      "aria-label": `Answers ${answered.from.first_name}`,
      onclick: () => actions.jump(answered.message_id),
    },
    el("span", { class: "quote-name" }, answered.from.first_name),
    el("span", { class: "quote-text" }, text.slice(0, 120)),
  );
}

const address = (file) => `/_playground/files/${encodeURIComponent(file.file_id)}`;

function media(message) {
  const { photo, sticker, animation, video, video_note: note, audio, voice, document: file } = message;
  if (photo !== undefined) {
    const { width, height } = photo.at(-1);
    return el("img", { class: "photo", src: address(photo.at(-1)), alt: message.caption ?? "Photo", width, height });
  }
  if (sticker !== undefined)
    return el("img", { class: "sticker", src: address(sticker), alt: `Sticker ${sticker.emoji ?? ""}` });
  if (animation !== undefined && /^image\//.test(animation.mime_type)) {
    return el("img", { class: "photo", src: address(animation), alt: message.caption ?? "Animation" });
  }
  const moving = animation ?? video ?? note;
  if (moving !== undefined) {
    return el("video", {
      class: note ? "note" : "photo",
      src: address(moving),
      controls: true,
      preload: "metadata",
      "aria-label": "Video",
    });
  }
  const sound = voice ?? audio;
  if (sound !== undefined) {
    return el("audio", {
      src: address(sound),
      controls: true,
      preload: "metadata",
      "aria-label": voice ? "Voice note" : "Audio",
    });
  }
  if (file === undefined) return undefined;
  return el(
    "a",
    { class: "document", href: address(file), download: file.file_name ?? "file" },
    el("span", { class: "document-icon" }, icon("file")),
    el("span", { class: "document-name" }, file.file_name ?? "File", el("small", {}, sizeOf(file.file_size))),
  );
}

function keyboard(message, actions) {
  const rows = message.reply_markup.inline_keyboard.map((row) =>
    el(
      "div",
      { class: "keys" },
      row.map((button) => {
        if (button.url !== undefined) {
          return el(
            "a",
            { class: "key", href: button.url, target: "_blank", rel: "noopener noreferrer" },
            button.text,
            " ↗",
          );
        }
        if (button.copy_text !== undefined) {
          return el(
            "button",
            { class: "key", type: "button", onclick: () => navigator.clipboard.writeText(button.copy_text.text) },
            button.text,
          );
        }
        const press = (event) => actions.press(message, button.callback_data, event.currentTarget);
        return el("button", { class: "key", type: "button", onclick: press }, button.text);
      }),
    ),
  );
  return el("div", { class: "keyboard", role: "group", "aria-label": "Buttons" }, rows);
}

function reactionRow(message, reactions, me, nameOf, actions) {
  if (reactions === undefined || reactions.size === 0) return undefined;
  const counted = new Map();
  for (const [id, list] of reactions) for (const emoji of list) counted.set(emoji, [...(counted.get(emoji) ?? []), id]);
  return el(
    "div",
    { class: "chips", role: "group", "aria-label": "Reactions" },
    [...counted].map(([emoji, ids]) => {
      const names = ids.map((id) => (id === me ? "you" : nameOf(id))).join(", ");
      return el(
        "button",
        {
          class: "chip",
          type: "button",
          "aria-pressed": String(ids.includes(me)),
          "aria-label": `${emoji} by ${names}`,
          title: names,
          onclick: () => actions.react(message, emoji),
        },
        emoji,
        ids.length > 1 ? el("span", {}, String(ids.length)) : undefined,
      );
    }),
  );
}

function tools(message, mine, actions) {
  const bar = el(
    "div",
    { class: "tools", role: "toolbar", "aria-label": "Message tools" },
    iconButton("react", "React", (event) => actions.pickReaction(message, event.currentTarget)),
    iconButton("reply", "Reply", () => actions.reply(message)),
    mine ? iconButton("edit", "Edit", () => actions.edit(message)) : undefined,
    mine ? iconButton("remove", "Delete", () => actions.remove(message)) : undefined,
  );
  // The rail is as tall as the message, so that the tools stay visible while scrolling through it.
  return el("div", { class: "rail" }, bar);
}

export function timeOf(seconds) {
  return new Date(seconds * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
}

export function sizeOf(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1024 * 1024 ? `${Math.round(bytes / 1024)} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
