/** The live preview of the postbox: one message that grows by edits, one call at a time. */
import type { Address } from "service-gateway/sdk";
import type { ChannelPreview } from "service-gateway/sdk/channel";
import type { Call } from "./calls.ts";
import { mailTo } from "./mail.ts";
import { maxUnits } from "./platform.ts";

const editEveryMs = 40;

export interface PreviewOptions {
  readonly resume: readonly string[];
  readonly key?: string;
  onMessage(ids: readonly string[]): void;
}

export function createPreview(
  call: Call,
  address: Address,
  { resume, key, onMessage }: PreviewOptions,
): ChannelPreview {
  let [id] = resume;
  let wanted = "";
  let shown = "";
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let closed = false;

  async function show(text: string): Promise<void> {
    if (id === undefined) {
      const { body } = await call("POST", "messages", mailTo(address, { text, ...(key !== undefined && { key }) }));
      id = String(body.id);
      onMessage([id]);
    } else await call("PUT", `messages/${id}`, { text });
    shown = text;
  }

  function look(): void {
    timer = undefined;
    if (closed || running !== undefined || wanted === shown) return;
    running = show(wanted)
      .catch(() => {})
      .finally(() => {
        running = undefined;
        timer ??= closed ? undefined : setTimeout(look, editEveryMs);
      });
  }

  return {
    update(text) {
      wanted = text.slice(-maxUnits);
      timer ??= closed || running !== undefined ? undefined : setTimeout(look, editEveryMs);
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await running;
      return id === undefined ? [] : [id];
    },
  };
}
