/** The platform of the contract: a homeserver with the bot, a person, another one, and their rooms. */
import type { ChannelPlatform } from "../../../core/testkit/channel/options.ts";
import { startHomeserver } from "../../support/matrix/homeserver.ts";
import { createPerson, shownTexts } from "../../support/matrix/person.ts";
import type { Content, MatrixEvent } from "../../support/matrix/world.ts";
import { reservePort } from "../../support/ports.ts";

export const token = "syt_bot_correct-horse-battery";

export async function openPlatform(): Promise<ChannelPlatform> {
  // While the homeserver is away, the channel must not reach another one at its port.
  const { port, release } = await reservePort();
  const server = await startHomeserver({ port });
  const { world } = server;
  const bot = world.addUser("bot", { name: "Breadbot", token }).id;
  const [ada, eve] = ["ada", "eve"].map((name) =>
    createPerson(world, world.addUser(name, { name: name === "ada" ? "Ada" : "Eve" }).id),
  ) as [ReturnType<typeof createPerson>, ReturnType<typeof createPerson>];
  const direct = world.createRoom(ada.id, { invite: [bot], isDirect: true });
  const group = world.createRoom(ada.id, { name: "Bakery", invite: [eve.id, bot] });
  const other = world.createRoom(ada.id, { name: "Elsewhere" });
  world.setMembership(direct, bot, "join");
  for (const id of [eve.id, bot]) world.setMembership(group, id, "join");
  const roots = new Map<string, string>();
  let last: MatrixEvent | undefined;

  const rootOf = (isThread: boolean, room: typeof direct) => {
    if (!isThread) return undefined;
    const root = roots.get(room.id) ?? ada.say(room, "The root of a thread").event_id;
    roots.set(room.id, root);
    return root;
  };
  const sent = () => direct.events.filter(({ sender, type }) => sender === bot && type === "m.room.message");
  const isSend = (path: string) => path.includes("/send/m.room.message/");
  const limited = { errcode: "M_LIMIT_EXCEEDED", error: "Too Many Requests", retry_after_ms: 2_000 };
  const onSend = (fault: ReturnType<typeof server.fault>, { isOnce = true } = {}) => {
    server.fault = ({ path }) => {
      if (!isSend(path)) return undefined;
      if (isOnce) server.fault = () => undefined;
      return fault;
    };
  };

  return {
    options: { homeserver: server.url },
    groups: { inside: group.id, outside: other.id },
    async write(text, { group: isGroup = false, thread = false, mention = false, file } = {}) {
      const room = isGroup ? group : direct;
      const root = rootOf(thread, room);
      const relation =
        root === undefined
          ? {}
          : {
              "m.relates_to": {
                rel_type: "m.thread",
                event_id: root,
                is_falling_back: true,
                "m.in_reply_to": { event_id: root },
              },
            };
      if (file !== undefined) {
        const { name = "file", mimeType = "text/plain", bytes } = file;
        const id = `file${server.media.size}`;
        server.media.set(id, { bytes: Buffer.from(bytes), type: mimeType, name });
        last = ada.sendFile(room, {
          uri: `mxc://${world.host}/${id}`,
          name,
          type: mimeType,
          size: bytes.length,
          caption: text,
        });
        return;
      }
      const pill = mention ? { "m.mentions": { user_ids: [bot] } } : {};
      last = ada.say(room, mention ? `Breadbot: ${text}` : text, { ...relation, ...pill });
    },
    read: ({ group: isGroup = false, thread = false } = {}) => {
      const room = isGroup ? group : direct;
      return shownTexts(room, bot, thread ? { thread: roots.get(room.id) ?? "" } : {});
    },
    others: () => shownTexts(group, bot),
    async edit(text) {
      if (last !== undefined)
        last = { ...ada.edit(world.room(last.room_id), last.event_id, text), event_id: last.event_id };
    },
    async delete() {
      if (last !== undefined) world.redact(world.room(last.room_id), ada.id, last.event_id);
    },
    async forge(text) {
      const content = {
        sender: eve.id,
        room_id: group.id,
        event_id: "$forged",
        "m.new_content": { body: text, sender: eve.id },
      };
      last = ada.say(direct, text, {
        ...content,
        formatted_body: `<mx-reply>${eve.id}</mx-reply>${text}`,
        format: "org.matrix.custom.html",
      });
    },
    history: () =>
      sent().map(({ content }) => String(((content["m.new_content"] as Content | undefined) ?? content).body)),
    files: () =>
      sent().flatMap(({ content }) => {
        const media = server.media.get(/^mxc:\/\/[^/]+\/(.+)$/.exec(String(content.url))?.[1] ?? "");
        return media === undefined ? [] : [{ bytes: media.bytes, name: media.name ?? "", mimeType: media.type }];
      }),
    reactions: () =>
      direct.events
        .filter(
          ({ type, sender, removedBy, content }) =>
            type === "m.reaction" &&
            sender === bot &&
            removedBy === undefined &&
            (content["m.relates_to"] as Content).event_id === last?.event_id,
        )
        .map(({ content }) => String((content["m.relates_to"] as Content).key)),
    typing: () => server.typing.filter(({ isTyping }) => isTyping).length,
    async fail(ability) {
      if (ability === "away") return await server.away();
      if (ability === "back") return await server.back();
      if (ability === "reset") return server.cut();
      if (ability === "lose") return server.media.clear();
      if (ability === "cut") onSend({ breaks: "after" });
      if (ability === "hang") onSend({ breaks: "hangs-after" });
      if (ability === "limit") onSend({ status: 429, body: limited, headers: { "retry-after": "2" } });
      if (ability === "refuse")
        onSend(
          { status: 403, body: { errcode: "M_FORBIDDEN", error: "You don't have permission" } },
          { isOnce: false },
        );
      if (ability === "silent") {
        server.fault = () => ({ breaks: "hangs-after" });
        server.cut();
      }
      // A homeserver repeats what was not stored before `since`, so the same place is asked for again.
      if (ability === "repeat" && last !== undefined) server.repeat(last.room_id);
    },
    async close() {
      await server.close();
      release();
    },
  };
}
