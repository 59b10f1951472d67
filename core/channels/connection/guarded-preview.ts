/** A channel's preview as the core calls it: its messages are known even if its `close` fails. */
import { isObject, isTextList, kindOf, pluginDeadlines, unusable } from "../../host/index.ts";
import type { ChannelPreview } from "../../sdk/contract.ts";
import type { GuardedCalls } from "./guarded-calls.ts";

interface PreviewOptions {
  readonly resume: readonly string[];
  onMessage(messageIds: readonly string[]): void;
  onUncertain?(): void;
}

/** `open` passes the options to the plugin and returns the plugin's preview. */
export function openPreview<Options extends PreviewOptions>(
  calls: GuardedCalls,
  options: Options,
  open: (options: Options) => unknown,
): ChannelPreview {
  const ids = new KnownIds(options);
  const made = calls.atOnce("preview", () =>
    open({ ...options, onMessage: (found) => ids.add(found), onUncertain: () => options.onUncertain?.() }),
  );
  if (!isObject(made) || typeof made.update !== "function" || typeof made.close !== "function")
    throw unusable(calls.asked("preview"), "update or close is missing");
  return guardPreview(made as unknown as ChannelPreview, ids, calls);
}

/** The ids of a preview's messages reported so far, in case its `close` does not return them. */
class KnownIds {
  readonly #onMessage: (messageIds: readonly string[]) => void;
  #ids: readonly string[];
  #open = true;

  constructor({
    resume,
    onMessage,
  }: { readonly resume: readonly string[]; onMessage(messageIds: readonly string[]): void }) {
    this.#ids = resume;
    this.#onMessage = onMessage;
  }

  get all(): readonly string[] {
    return this.#ids;
  }

  add(ids: unknown): void {
    if (!this.#open || !isTextList(ids)) return;
    this.#ids = ids;
    this.#onMessage(ids);
  }

  end(): void {
    this.#open = false;
  }
}

function guardPreview(
  preview: ChannelPreview,
  ids: KnownIds,
  { asked, onFault, withoutAnswer, timely }: GuardedCalls,
): ChannelPreview {
  return {
    update: (text) => withoutAnswer("preview update", () => preview.update(text)),
    async close() {
      try {
        const shown: unknown = await timely("preview close", pluginDeadlines.closePreview, () => preview.close());
        if (isTextList(shown)) return shown;
        onFault(unusable(asked("preview close"), kindOf(shown)));
      } catch (error) {
        onFault(error as Error);
      } finally {
        ids.end();
      }
      return ids.all;
    },
  };
}
