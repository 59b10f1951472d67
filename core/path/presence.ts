/** What people see while a turn runs: the acknowledging reaction, typing, and the preview that grows. None of it may fail a turn. */
import type { ChannelConnection, ChannelPreview } from "../sdk.ts";
import type { Address, Inbound } from "../types.ts";
import type { Acknowledgement } from "./acknowledging.ts";
import type { LiveAccount } from "./live-account.ts";

/** A quick answer needs no typing before it. */
const typingAfterMs = 300;
const typingEveryMs = 5_000;
/** A turn that shows no progress for so long is no longer said to be typing. */
const typingWithoutProgressMs = 120_000;

/** A platform that refuses it twice in a row will go on to refuse it, and may mind being asked. */
const mostTypingErrors = 2;

export interface Presence {
  /** Whether anybody sees the answer grow. */
  readonly shows: boolean;
  /** The whole text so far, as people may see it. */
  show(text: string): void;
  /** Something could not be shown. */
  failed(error: unknown): void;
  /** The turn goes on. */
  progress(): void;
  /** The turn is over: nothing more is shown. Resolves with the preview's message ids, which the reply takes over or which are removed. */
  close(): Promise<readonly string[]>;
  /** The answer is there, or none will come: nobody need be told any more that the message was seen. */
  done(): void;
}

interface PresenceOptions {
  readonly connection: ChannelConnection;
  readonly address: Address;
  readonly now: () => number;
  readonly typing: boolean;
  readonly preview: boolean;
  /** Says "seen" by a reaction on the message that is answered. */
  readonly acknowledge?: (() => Acknowledgement) | undefined;
  /** The message that is answered. */
  readonly trigger: string | undefined;
  /** Messages of a preview that a killed process left. */
  readonly resume: readonly string[];
  readonly onPreviewMessage: (messageIds: readonly string[]) => void;
  readonly onError: (error: unknown, what: string) => void;
}

/** For turns whose answer goes nowhere, or only at the end. */
export const noPresence: Presence = { shows: false, show() {}, failed() {}, progress() {}, close: async () => [], done() {} };

/** Typing, from a moment after the beginning until nothing has happened for long, or the platform does not want it. */
function createTyping({ connection, address, now, onError }: PresenceOptions): { progress(): void; stop(): void } {
  let lastProgress = now();
  let errors = 0;
  const type = () => {
    if (now() - lastProgress > typingWithoutProgressMs || errors >= mostTypingErrors) return;
    timer = setTimeout(type, typingEveryMs);
    connection.typing?.(address).then(
      () => {
        errors = 0;
      },
      (error: unknown) => {
        errors += 1;
        onError(error, "typing");
      },
    );
  };
  let timer = setTimeout(type, typingAfterMs);
  return {
    progress() {
      lastProgress = now();
    },
    stop: () => clearTimeout(timer),
  };
}

function createPresence(options: PresenceOptions): Presence {
  const { connection, address, trigger } = options;
  const typing = options.typing && connection.typing !== undefined ? createTyping(options) : undefined;
  let preview: ChannelPreview | undefined;
  const acknowledgement = options.acknowledge?.();

  return {
    shows: options.preview && connection.preview !== undefined,
    show(text) {
      preview ??= connection.preview?.(address, {
        resume: options.resume,
        onMessage: options.onPreviewMessage,
        ...(trigger === undefined ? {} : { trigger }),
      });
      preview?.update(text);
    },
    failed: (error) => options.onError(error, "preview"),
    progress() {
      typing?.progress();
    },
    async close() {
      typing?.stop();
      if (preview === undefined) return options.resume;
      try {
        return await preview.close();
      } catch (error) {
        options.onError(error, "preview");
        return options.resume;
      }
    },
    done() {
      acknowledgement?.done();
    },
  };
}

/** What the account can show of a turn: all of it where a person waits, nothing but the end where a machine asked. */
export function showPresence(
  live: LiveAccount,
  address: Address,
  options: Pick<PresenceOptions, "now" | "resume" | "trigger" | "onPreviewMessage" | "onError"> & {
    readonly inbound: Inbound;
    readonly acknowledge?: ((messageId: string) => Acknowledgement) | undefined;
  },
): Presence {
  const { inbound, acknowledge, ...rest } = options;
  const { trigger } = rest;
  const { capabilities, connection } = live;
  const waits = inbound.authority === "channel";
  const seen = trigger === undefined || acknowledge === undefined || !capabilities.reactions ? undefined : () => acknowledge(trigger);
  return createPresence({
    ...rest,
    acknowledge: seen,
    connection,
    address,
    typing: waits && capabilities.typing,
    preview: waits && capabilities.edits,
  });
}
