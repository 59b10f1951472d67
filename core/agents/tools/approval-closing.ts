/**
 * Closes requests for approval and shows the owners how each ended: after an answer, with the end of the turn, and
 * after a crash in between. What is shown is noted in the request, so that the next process shows what this one could
 * not.
 */
import type { Address } from "../../contract/index.ts";
import type { PluginLog } from "../../sdk/contract.ts";
import type { Store } from "../../state/index.ts";
import { endText } from "./approval-ends.ts";
import { type ApprovalRequest, type ApprovalRequests, aboutOf } from "./approval-requests.ts";
import { approvalEnded, type approvalQuestion } from "./approval-texts.ts";
import type { Person } from "./requester.ts";

/**
 * When it is looked again whether a question that is still being sent has arrived. After that, the next start closes
 * it.
 */
const looksMs = [250, 500, 1_000, 2_000, 5_000, 15_000, 60_000];

export interface Closing {
  /** Shows how a request ended, if it has. Never rejects. */
  show(key: string, request: ApprovalRequest): Promise<void>;
  /** The call that was allowed has begun: only now do the owners read that it was. Never rejects. */
  began(key: string): Promise<void>;
  /** Whether an owner can still answer a question of the event's turn. */
  isOpen(event: string): Promise<boolean>;
  /**
   * The turn of an event has ended: no question of it stays open, and none that was answered without effect looks as if
   * it had one.
   */
  ended(event: string): Promise<void>;
  /** The same if the event of the request has ended, and the process did too before it closed the request. */
  endedEarlier(request: ApprovalRequest): Promise<boolean>;
  /** The same for all requests. Call once, at the start. Never rejects. */
  mend(): Promise<void>;
  /**
   * A run asks a new question about a tool. What an earlier run has asked about it is void: the model has found other
   * words for the call, and an owner would allow both.
   */
  replace(
    event: string,
    asks: { readonly tool: string; readonly plugin: string; hasAsked(key: string): boolean },
  ): Promise<void>;
}

export interface ClosingOptions {
  readonly requests: ApprovalRequests;
  readonly store: Pick<Store, "sentBy" | "event">;
  /** As in `ApprovalsOptions`. */
  readonly say: (
    saying: {
      readonly address: Address;
      readonly text: string;
      readonly buttons: ReturnType<typeof approvalQuestion>["buttons"];
      readonly replaces: string;
      readonly about?: Person;
    },
    key: string,
  ) => Promise<string>;
  readonly edits: (at: Pick<Address, "channel" | "account">) => boolean;
  /** Stores the question to be sent, if it is not; resolves with the events that send it. */
  readonly ask: (request: ApprovalRequest) => Promise<readonly string[]>;
  /** The requester may have another question open. */
  readonly makeRoom: (key: string, request: ApprovalRequest) => Promise<unknown>;
  readonly log: Pick<PluginLog, "warn">;
  readonly now: () => number;
}

export function createClosing({ requests, store, say, edits, ask, makeRoom, log, now }: ClosingOptions): Closing {
  /** The last message of a question, which has the buttons. `"on its way"`: it is still being sent. */
  async function messageOf(event: string) {
    // In this order: a message is recorded before its event ends.
    const isSent = (await store.event(event))?.state === "settled";
    const messages = await store.sentBy(event);
    const last = messages.at(-1);
    if (last === undefined) return isSent ? undefined : "on its way";
    return { messageId: last.messageId, isOnly: messages.length === 1 };
  }

  /**
   * Puts the end in the place of every message of the question, so that no dead buttons stay. False: one is still being
   * sent.
   */
  async function tryShow(key: string, request: ApprovalRequest, text: string): Promise<boolean> {
    const { at, call, code } = request;
    const events = request.events.length > 0 ? request.events : await ask(request);
    let isComplete = true;
    for (const [index, address] of at.entries()) {
      const event = events[index];
      const message = event !== undefined && edits(address) ? await messageOf(event) : undefined;
      if (message === "on its way") isComplete = false;
      if (message === undefined || message === "on its way") continue;
      // The buttons are below the last message of a long question; what it is about stays above. An empty row removes
      // them.
      const shown = message.isOnly ? approvalEnded(call, text) : text;
      const about = aboutOf(request);
      await say(
        { address, text: shown, buttons: [[]], replaces: message.messageId, ...about },
        `approval-end:${code}:${index}`,
      );
    }
    if (isComplete) await requests.shown(key, code);
    return isComplete;
  }

  async function show(key: string, request: ApprovalRequest, looks = looksMs): Promise<void> {
    const text = endText(request);
    if (text === undefined || request.shown === true) return;
    try {
      if (await tryShow(key, request, text)) return;
    } catch (error) {
      log.warn(
        { tool: request.call.tool, error: String(error) },
        "the message of a request for approval could not be updated",
      );
      return;
    }
    const [nextMs, ...more] = looks;
    if (nextMs !== undefined) setTimeout(() => void show(key, request, more), nextMs).unref();
  }

  async function close(key: string): Promise<void> {
    const withdrawn = await requests.withdraw(key);
    if (withdrawn !== null) await makeRoom(key, withdrawn);
    const request = withdrawn ?? (await requests.read(key));
    if (request !== null) await show(key, request);
  }

  async function ended(event: string): Promise<void> {
    await Promise.all((await requests.keysOf(event)).map(close));
  }

  async function endedEarlier({ event }: ApprovalRequest): Promise<boolean> {
    if (event === undefined || (await store.event(event))?.state !== "settled") return false;
    await ended(event);
    return true;
  }

  return {
    show: (key, request) => show(key, request),
    ended,
    endedEarlier,
    async began(key) {
      const request = await requests.begun(key).catch(() => null);
      if (request?.begun === true) await show(key, request);
    },
    async isOpen(event) {
      const all = await Promise.all((await requests.keysOf(event)).map((key) => requests.read(key)));
      return all.some((request) => request?.state === "waiting" && now() < request.until);
    },
    async mend() {
      try {
        const left = new Map<string, ApprovalRequest>();
        for (const request of await requests.all()) {
          if (request.event !== undefined && request.shown !== true) left.set(request.event, request);
        }
        for (const request of left.values()) await endedEarlier(request);
      } catch (error) {
        log.warn(
          { error: String(error) },
          "requests for approval that an earlier process left open could not be closed",
        );
      }
    },
    async replace(event, { tool, plugin, hasAsked }) {
      const others = (await requests.keysOf(event)).filter((key) => !hasAsked(key));
      for (const key of others) {
        const { call } = (await requests.read(key)) ?? {};
        // Read once more: the call of another step may have taken its question up meanwhile.
        if (call?.tool !== tool || call.plugin !== plugin || hasAsked(key)) continue;
        const request = await requests.withdraw(key, "replaced");
        if (request === null) continue;
        await makeRoom(key, request);
        void show(key, request);
      }
    },
  };
}
