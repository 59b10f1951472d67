/**
 * The only place that attaches handlers to what other processes, threads, sockets and clients send. An exception of a
 * handler is a fault of its source: it never reaches the event loop, where it would end the gateway.
 */
import { described, type OnFault, reportFault, warnOfFaults } from "./faults.ts";

/** An event emitter of Node, or an object with the same methods. */
export interface Emitter {
  on(event: never, listener: never): unknown;
  off?(event: never, listener: never): unknown;
}

type Listener = (...given: readonly unknown[]) => void;

interface Guard {
  /** Names the source in faults, as an operator would: `the writer of the state`. */
  readonly source: string;
  /** Receives the faults of the source. Default: a warning on the standard error. */
  readonly fault?: OnFault;
}

export interface MessageHandler<T> extends Guard {
  /** Returns the typed message; `undefined` if the value is not one, which is a fault of the source. */
  readonly check: (value: unknown) => T | undefined;
  /** Handles a message. An exception or a rejection is a fault of the source. */
  readonly handle: (message: T) => unknown;
}

export interface EventHandler<Given extends readonly unknown[]> extends Guard {
  /** Handles an event. An exception or a rejection is a fault of the source. */
  readonly handle: (...given: Given) => unknown;
  /** Handles only the first event. */
  readonly once?: boolean;
}

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === "object" && value !== null && typeof (value as { readonly then?: unknown }).then === "function";

/** Created with the first fault only, because a handler of each request has one. */
function warnings(): OnFault {
  let warn: OnFault | undefined;
  return (fault) => {
    warn ??= warnOfFaults();
    warn(fault);
  };
}

/** Runs a handler; what it throws, now or later, is a fault of its source. */
function run(work: () => unknown, { source, fault }: Required<Guard>, event: string): void {
  const failed = (error: unknown) => reportFault(fault, { source, kind: "handler", event }, error);
  try {
    const done = work();
    if (isThenable(done)) done.then(undefined, failed);
  } catch (error) {
    failed(error);
  }
}

/** `once` of an emitter would leave the listener behind if an event of another kind ends the wait. */
function attach(emitter: Emitter, event: string, listener: Listener): () => void {
  emitter.on(event as never, listener as never);
  return () => void emitter.off?.(event as never, listener as never);
}

/**
 * A handler of messages that do not come by an event emitter, such as rows of a table or a callback of a library. It
 * never throws. `event` names a message in faults.
 */
export function messageHandler<T>(
  event: string,
  { source, check, handle, fault: given }: MessageHandler<T>,
): (value: unknown) => void {
  const fault = given ?? warnings();
  const receive = (value: unknown): unknown => {
    const message = check(value);
    if (message !== undefined) return handle(message);
    reportFault(fault, { source, kind: "shape", event }, described(value));
    return undefined;
  };
  return (value) => run(() => receive(value), { source, fault }, event);
}

/**
 * Handles the messages that a source sends by an event with one value: `message`, `data`, `notification`. Each value
 * passes `check` first. Returns a function that stops listening.
 *
 * @example
 * const source = "the process of a.ts";
 * onMessage(child, "message", { source, check: asReply, handle: settle, fault: (fault) => end(faultText(fault)) });
 */
export function onMessage<T>(emitter: Emitter, event: string, handler: MessageHandler<T>): () => void {
  return attach(emitter, event, messageHandler(event, handler));
}

/**
 * Handles an event that carries no message: `error`, `close`, `exit`, `connection`. Returns a function that stops
 * listening.
 *
 * @example
 * onEvent(socket, "error", { source: "the IRC server", handle: () => socket.destroy() });
 */
export function onEvent<Given extends readonly unknown[] = readonly []>(
  emitter: Emitter,
  event: string,
  { source, handle, once = false, fault: given }: EventHandler<Given>,
): () => void {
  const fault = given ?? warnings();
  const stop = attach(emitter, event, (...given) => {
    if (once) stop();
    run(() => handle(...(given as unknown as Given)), { source, fault }, event);
  });
  return stop;
}

/** The check of `data` that is bytes. */
export const asBytes = (value: unknown): Buffer | undefined => (Buffer.isBuffer(value) ? value : undefined);
/** The check of `data` that is text, as after `setEncoding`. */
export const asText = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
