/** A person in a room of the stand-in, and what they see there. */
import type { Content, MatrixEvent, Room, World } from "./world.ts";

/** The texts of a user's messages in a room as clients show them now, oldest first. */
export function shownTexts(
  { events }: Room,
  user: string,
  { thread }: { readonly thread?: string } = {},
): readonly string[] {
  return events.flatMap((event) => {
    const { type, sender, event_id: id, content, removedBy } = event;
    const relation = (content["m.relates_to"] ?? {}) as Content;
    if (type !== "m.room.message" || sender !== user || removedBy !== undefined || relation.rel_type === "m.replace")
      return [];
    if ((relation.rel_type === "m.thread" ? relation.event_id : undefined) !== thread || content.url !== undefined)
      return [];
    const edit = editsOf(events, id, user).at(-1);
    return [String(((edit?.content["m.new_content"] as Content | undefined) ?? content).body)];
  });
}

const editsOf = (events: readonly MatrixEvent[], id: string, user: string) =>
  events.filter(({ content, sender, removedBy }) => {
    const { rel_type: type, event_id: target } = (content["m.relates_to"] ?? {}) as Content;
    return type === "m.replace" && target === id && sender === user && removedBy === undefined;
  });

export interface Person {
  readonly id: string;
  /** Writes a text, or content with other members, and resolves with its event. */
  say(room: Room, text: string, more?: Content): MatrixEvent;
  edit(room: Room, id: string, text: string): MatrixEvent;
  react(room: Room, id: string, key: string): MatrixEvent;
  sendFile(
    room: Room,
    file: {
      readonly uri: string;
      readonly name: string;
      readonly type: string;
      readonly size: number;
      readonly caption?: string;
    },
  ): MatrixEvent;
}

export function createPerson(world: World, id: string): Person {
  const add = (room: Room, type: string, content: Content) => {
    world.entered(room, id);
    return world.append(room, { type, sender: id, content });
  };
  return {
    id,
    say: (room, body, more = {}) => add(room, "m.room.message", { msgtype: "m.text", body, "m.mentions": {}, ...more }),
    edit: (room, target, body) =>
      add(room, "m.room.message", {
        ...{ msgtype: "m.text", body: `* ${body}`, "m.mentions": {} },
        "m.new_content": { msgtype: "m.text", body, "m.mentions": {} },
        "m.relates_to": { rel_type: "m.replace", event_id: target },
      }),
    react: (room, target, key) =>
      add(room, "m.reaction", { "m.relates_to": { rel_type: "m.annotation", event_id: target, key } }),
    sendFile(room, { uri, name, type, size, caption }) {
      const kind = /^(image|video|audio)\//.exec(type)?.[1] ?? "file";
      const info = { mimetype: type, size };
      return add(room, "m.room.message", {
        msgtype: `m.${kind}`,
        body: caption ?? name,
        filename: name,
        url: uri,
        info,
      });
    },
  };
}
