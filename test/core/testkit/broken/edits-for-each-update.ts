/** Makes a call for each update. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ render, send }) => ({
  preview(address, { resume, onMessage }) {
    const never = new AbortController().signal;
    let [id] = resume;
    let calls: Promise<unknown> = Promise.resolve();
    let closed = false;
    const show = async (text: string) => {
      const [part] = render({ text: text.slice(-200), media: [], buttons: [] }, address);
      if (part === undefined) return;
      const { messageId } = await send(id === undefined ? part : { ...part, replaces: id }, address, never);
      if (id === undefined) onMessage([messageId]);
      id = messageId;
    };
    return {
      update(text) {
        if (!closed) calls = calls.then(() => show(text)).catch(() => {});
      },
      async close() {
        closed = true;
        await calls;
        return id === undefined ? [] : [id];
      },
    };
  },
}));

export const broken: Broken = {
  channel,
  caughtBy: "preview > keeps the platform's pace",
  alsoCaughtBy: ["preview > continues its first message by its key"],
  says: /the channel must limit the rate/,
};
