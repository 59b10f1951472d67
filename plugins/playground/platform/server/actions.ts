/** The actions of people that the page or a script can request over HTTP. */
import type { Core } from "../core.ts";
import type { MediaKind } from "../methods/media.ts";
import type { Upload } from "../multipart.ts";
import type { People } from "../people/people.ts";
import type { SayOptions } from "../people/saying.ts";
import type { MemberStatus } from "../world.ts";

type Action = Readonly<Record<string, unknown>>;

const maxFiles = 10;
const statuses: ReadonlySet<string> = new Set(["administrator", "member", "left", "kicked", "restricted"]);

/** Runs `{ do, person, chat, ... }`. Throws with one sentence if the action is invalid. */
export function runAction(core: Core, act: People, action: Action, files: readonly Upload[]): unknown {
  const person = numberIn(action, "person");
  const chat = action.chat === undefined ? person : numberIn(action, "chat");
  const bot = typeof action.bot === "string" ? { bot: action.bot } : {};
  switch (action.do) {
    case "say":
      return { messages: say(core, act, action, files, { person, chat, bot }) };
    case "edit":
      return { message: act.edit(person, chat, numberIn(action, "message"), textIn(action, "text"), bot) };
    case "remove":
      act.remove(person, chat, numberIn(action, "message"), bot);
      return {};
    case "press":
      return { callbackId: act.press(person, chat, numberIn(action, "message"), textIn(action, "data"), bot) };
    case "react":
      act.react(person, chat, numberIn(action, "message"), textsIn(action, "emoji"), bot);
      return {};
    case "block":
      act.block(person, action.blocked === true, bot);
      return {};
    case "member":
      if (!statuses.has(String(action.status))) throw new Error(`status: one of ${[...statuses].join(", ")}`);
      act.setMember(chat, numberIn(action, "user"), action.status as MemberStatus);
      return {};
    case "topic":
      return { topic: act.createTopic(person, chat, textIn(action, "name").trim().slice(0, 128)) };
    default:
      throw new Error("do: one of say, edit, remove, press, react, block, member, topic");
  }
}

interface Where {
  readonly person: number;
  readonly chat: number;
  readonly bot: Pick<SayOptions, "bot">;
}

/** Sends a message. Several files form an album, with the text on the first. */
function say(
  core: Core,
  act: People,
  action: Action,
  files: readonly Upload[],
  { person, chat, bot }: Where,
): readonly unknown[] {
  const text = action.text === undefined ? "" : textIn(action, "text");
  const options: SayOptions = {
    ...bot,
    ...(action.replyTo === undefined ? {} : { replyTo: numberIn(action, "replyTo") }),
    ...(action.thread === undefined ? {} : { thread: numberIn(action, "thread") }),
  };
  // A text that is too long for one message is split like in a person's app.
  if (files.length === 0)
    return text.length > 4096 ? act.paste(person, chat, text, options) : [act.say(person, chat, text, options)];
  if (files.length > maxFiles) throw new Error(`at most ${maxFiles} files at once`);
  const album = files.length > 1 ? { album: `album-${core.newId()}` } : {};
  return files.map((file, index) => {
    const media = { ...file, kind: kindOf(file, action.asFile === true) };
    return act.say(person, chat, index === 0 ? text : "", { ...options, ...album, media });
  });
}

function kindOf({ mimeType }: Upload, asFile: boolean): MediaKind {
  if (asFile) return "document";
  if (mimeType === "image/gif") return "animation";
  if (/^image\/(?:png|jpeg|webp)$/.test(mimeType)) return "photo";
  if (mimeType.startsWith("video/")) return "video";
  if (mimeType === "audio/ogg" || mimeType === "audio/webm") return "voice";
  return mimeType.startsWith("audio/") ? "audio" : "document";
}

function numberIn(action: Action, name: string): number {
  const value = action[name];
  if (typeof value !== "number" || !Number.isSafeInteger(value)) throw new Error(`${name}: a whole number is needed`);
  return value;
}

function textIn(action: Action, name: string): string {
  const value = action[name];
  if (typeof value !== "string") throw new Error(`${name}: a text is needed`);
  return value;
}

function textsIn(action: Action, name: string): readonly string[] {
  const value = action[name];
  if (!Array.isArray(value) || value.length > 3 || !value.every((one) => typeof one === "string")) {
    throw new Error(`${name}: a list of at most 3 texts is needed`);
  }
  return value;
}
