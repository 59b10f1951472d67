/**
 * The line of requests to the writer. All requests of one event-loop turn, and those that arrive while the writer is
 * busy, are sent as one message and committed together.
 */
import { cannotStore, HostError, reasonOf } from "../../../contract/index.ts";
import { faultText, onEvent, onMessage } from "../../../listeners/index.ts";
import { asReply } from "./check-messages.ts";
import { unpackFailure } from "./failure.ts";
import type { InputOf, OperationName, Reply, Request, ResultOf, WriterOptions } from "./protocol.ts";
import { startHere, startThread, type WriterSide } from "./writer-side.ts";

const maxBatch = 4_096;
/** Total characters of event bodies in one message, unless a single body is larger. */
const maxBatchWeight = 16_000_000;
/** Above these limits, new events are rejected, so that a stalled disk does not fill the memory. */
const maxWaiting = 20_000;
const maxWaitingWeight = 256_000_000;
/** If no write was attempted for this time, in milliseconds, the disk may have room again. */
const troubleMs = 30_000;

interface Waiting {
  readonly name: OperationName;
  readonly input: unknown;
  readonly durable: boolean;
  /** Rough size, in characters. */
  readonly weight: number;
  resolve(result: unknown): void;
  reject(error: Error): void;
}

export interface WriteQueue {
  write<Name extends OperationName>(
    name: Name,
    input: InputOf<Name>,
    options?: { readonly durable?: boolean; readonly weight?: number; readonly arrival?: boolean },
  ): Promise<ResultOf<Name>>;
  /** Whether no write is running or waiting. */
  isIdle(): boolean;
  /** Why the last transaction found no room on the disk; `undefined` if that was too long ago. */
  trouble(): string | undefined;
  /** Sends waiting requests, closes the database and ends the writer. */
  close(): Promise<void>;
}

const source = "the writer of the state";

interface Other {
  readonly type: "other";
}

/** Under `node --watch`, Node reports by the same way which modules the thread has loaded. */
const asReplyOrOther = (message: unknown): Reply | Other | undefined =>
  asReply(message) ??
  (typeof message === "object" && message !== null && !("type" in message) ? { type: "other" } : undefined);

function untilReady(worker: WriterSide, directory: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (reason: string, cause?: unknown) =>
      reject(new HostError("state_unreadable", { directory, reason }, { cause }));
    const stop = onMessage(worker, "message", {
      ...{ source, check: asReplyOrOther },
      handle(reply) {
        if (reply.type === "other") return;
        stop();
        if (reply.type === "ready") resolve();
        else
          reject(
            reply.type === "refused"
              ? unpackFailure(reply.failure)
              : new Error("The writer answered before it was ready."),
          );
      },
    });
    onEvent<readonly [unknown]>(worker, "error", {
      source,
      once: true,
      handle: (error) => failed(reasonOf(error), error),
    });
    onEvent(worker, "exit", { source, once: true, handle: () => failed("the writer ended") });
  });
}

export async function openQueue(options: WriterOptions, { thread }: { readonly thread: boolean }): Promise<WriteQueue> {
  const worker = thread ? startThread(options) : await startHere(options);
  await untilReady(worker, options.directory);
  return createQueue(worker, options.directory);
}

/** Creates a list of waiting requests in order. Those at its beginning are sent as one message. */
function createLine() {
  let waiting: Waiting[] = [];
  let weight = 0;
  return {
    length: () => waiting.length,
    weight: () => weight,
    add(operation: Waiting) {
      waiting.push(operation);
      weight += operation.weight;
    },
    take(): readonly Waiting[] {
      let count = 0;
      let taken = 0;
      while (
        count < waiting.length &&
        count < maxBatch &&
        (count === 0 || taken + (waiting[count]?.weight ?? 0) <= maxBatchWeight)
      ) {
        taken += waiting[count]?.weight ?? 0;
        count += 1;
      }
      weight -= taken;
      const batch = count === waiting.length ? waiting : waiting.slice(0, count);
      waiting = count === waiting.length ? [] : waiting.slice(count);
      return batch;
    },
    clear(): readonly Waiting[] {
      const all = waiting;
      waiting = [];
      weight = 0;
      return all;
    },
  };
}

function createQueue(worker: WriterSide, directory: string): WriteQueue {
  /** New events, which platforms and clients are waiting to have confirmed, and events that follow from them. */
  const arrivals = createLine();
  const rest = createLine();
  let arrivalsNext = true;
  const waiting = () => arrivals.length() + rest.length();
  /** The requests that the writer is processing. */
  let sent: readonly Waiting[] = [];
  let scheduled = false;
  let closing: Promise<void> | undefined;
  let gone: Error | undefined;
  const idle: (() => void)[] = [];
  let full: { readonly at: number; readonly reason: string } | undefined;

  /**
   * Alternates between the lines, so that neither waits for more than one message of the other. If everything shared
   * one commit, a batch of updates would be confirmed late and the next batch fetched late, with idle time in between.
   */
  const takeBatch = (): readonly Waiting[] => {
    const first = (arrivalsNext ? arrivals : rest).take();
    arrivalsNext = !arrivalsNext;
    return first.length > 0 ? first : (arrivalsNext ? arrivals : rest).take();
  };

  const flush = () => {
    scheduled = false;
    if (sent.length > 0 || waiting() === 0 || gone) return;
    sent = takeBatch();
    const request: Request = {
      names: sent.map((operation) => operation.name),
      inputs: sent.map((operation) => operation.input),
      durable: sent.some((operation) => operation.durable),
    };
    // A busy writer keeps the process alive; an idle one does not.
    worker.ref();
    worker.postMessage(request);
  };

  const answer = (batch: readonly Waiting[], reply: Reply) => {
    if (reply.type === "undone") {
      const error = unpackFailure(reply.failure);
      if (cannotStore(error)) full = { at: performance.now(), reason: String(error.details.reason) };
      for (const operation of batch) operation.reject(error);
    } else if (reply.type === "done") {
      const { results, failures } = reply;
      full = undefined;
      for (const [index, failure] of failures) batch[index]?.reject(unpackFailure(failure));
      // Resolving an already rejected promise has no effect.
      for (const [index, operation] of batch.entries()) operation.resolve(results === null ? null : results[index]);
    }
  };

  const receive = (reply: Reply | Other) => {
    if (reply.type === "other") return;
    const batch = sent;
    sent = [];
    // The writer starts the next transaction while the callers of this one are answered.
    flush();
    if (sent.length === 0) worker.unref();
    answer(batch, reply);
    if (sent.length === 0 && waiting() === 0) for (const done of idle.splice(0)) done();
  };

  const fail = (error: Error) => {
    gone ??= error;
    for (const operation of [...sent, ...arrivals.clear(), ...rest.clear()]) operation.reject(gone);
    sent = [];
    for (const done of idle.splice(0)) done();
  };
  const closed = () => new HostError("state_unreadable", { directory, reason: "the store is closed" });
  const unreadable = (reason: string, cause?: unknown) =>
    new HostError("state_unreadable", { directory, reason }, { cause });
  onMessage(worker, "message", {
    ...{ source, check: asReplyOrOther, handle: receive },
    // Which writes it has made is unknown.
    fault: (fault) => fail(unreadable(faultText(fault))),
  });
  onEvent<readonly [unknown]>(worker, "error", { source, handle: (error) => fail(unreadable(reasonOf(error), error)) });
  onEvent(worker, "exit", { source, handle: () => fail(closed()) });
  worker.unref();

  const shut = async () => {
    if (!gone && (sent.length > 0 || waiting() > 0)) await new Promise<void>((resolve) => idle.push(resolve));
    if (gone) return;
    const ended = new Promise<void>((resolve) => void onEvent(worker, "exit", { source, once: true, handle: resolve }));
    worker.ref();
    worker.postMessage(null);
    await ended;
  };

  return {
    isIdle: () => sent.length === 0 && waiting() === 0,
    trouble: () => (full !== undefined && performance.now() - full.at < troubleMs ? full.reason : undefined),
    write(name, input, { durable = false, weight = 0, arrival = false } = {}) {
      if (closing || gone) return Promise.reject(closing ? closed() : gone);
      if (name === "accept" && (waiting() >= maxWaiting || arrivals.weight() > maxWaitingWeight)) {
        return Promise.reject(new HostError("state_full", { reason: "too many events wait for the disk" }));
      }
      return new Promise((resolve, reject) => {
        const line = arrival ? arrivals : rest;
        line.add({ name, input, durable, weight, resolve: resolve as (result: unknown) => void, reject });
        if (sent.length > 0 || scheduled) return;
        scheduled = true;
        setImmediate(flush);
      });
    },
    close() {
      closing ??= shut();
      return closing;
    },
  };
}
