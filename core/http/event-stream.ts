/** Server-sent events: writes `data:` lines until the iterable ends, the client disconnects or the server closes. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { FastifyReply } from "fastify";
import type { Json } from "../contract/index.ts";
import { onEvent } from "../listeners/index.ts";
import { onClientEnd } from "./client-end.ts";

/** A comment at this interval keeps proxies and our own idle timeout from closing a quiet stream. */
const keepAliveMs = 15_000;

/** An event with an id, which a browser sends back as `Last-Event-ID` when it connects again. */
export interface NumberedEvent {
  readonly id: string;
  readonly data: Json;
}

export interface EventStreams {
  /**
   * Streams the events. `stays` is called before each event and periodically; once it returns false, nothing more is
   * sent. If it rejects, as when the state cannot be read, the stream ends, and the client connects again.
   */
  send(reply: FastifyReply, events: AsyncIterable<Json>, stays?: () => Promise<boolean>): void;
  /** The same for events with ids. */
  sendNumbered(reply: FastifyReply, events: AsyncIterable<NumberedEvent>, stays?: () => Promise<boolean>): void;
  /** Ends all streams, because a closing server would otherwise wait for them forever. */
  end(): void;
}

export function createEventStreams(options: { readonly onError: (error: unknown) => void }): EventStreams {
  const open = new Set<() => void>();

  const pump = async (
    request: IncomingMessage,
    response: ServerResponse,
    events: AsyncIterable<string>,
    stays: () => Promise<boolean>,
  ): Promise<void> => {
    const iterator = events[Symbol.asyncIterator]();
    let gone = false;
    let giveUp = () => {};
    const leave = (): void => {
      gone = true;
      giveUp();
    };
    /**
     * Not `Promise.race` with one promise for the whole stream, because that promise would retain every event until the
     * stream ends.
     */
    const orLeft = <Step>(step: Promise<Step>) =>
      new Promise<Step | "left">((resolve, reject) => {
        giveUp = () => resolve("left");
        if (gone) giveUp();
        step.then(resolve, reject);
      });
    const beat = setInterval(() => {
      // If the client does not read, nothing more is written, so that the idle timeout closes the connection.
      if (!response.writableNeedDrain) response.write(": keep-alive\n\n");
      stays().then((stay) => stay || leave(), leave);
    }, keepAliveMs);
    open.add(leave);
    onClientEnd(request, response, leave);
    onEvent(response, "error", { source: "a client", handle: leave });
    try {
      for (;;) {
        const next = await orLeft(iterator.next());
        if (next === "left" || next.done === true || !(await stays())) break;
        if (!response.write(next.value)) await orLeft(drained(response));
      }
    } finally {
      clearInterval(beat);
      open.delete(leave);
      response.end();
      // Not awaited: a generator that waits for its next event answers `return` only after that event.
      Promise.resolve(iterator.return?.()).catch(options.onError);
    }
  };

  function begin(reply: FastifyReply, events: AsyncIterable<string>, stays = async () => true): void {
    const headers = reply.getHeaders();
    const response = reply.hijack().raw;
    response.writeHead(reply.statusCode, {
      ...(headers as Record<string, string>),
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store",
      "x-accel-buffering": "no",
    });
    response.flushHeaders();
    pump(reply.request.raw, response, events, stays).catch(options.onError);
  }

  return {
    send: (reply, events, stays) =>
      begin(
        reply,
        rendered(events, (data) => `data: ${JSON.stringify(data)}\n\n`),
        stays,
      ),
    sendNumbered: (reply, events, stays) =>
      begin(
        reply,
        rendered(events, ({ id, data }) => `id: ${id}\ndata: ${JSON.stringify(data)}\n\n`),
        stays,
      ),
    end() {
      for (const leave of open) leave();
    },
  };
}

/** Not a generator, which would answer `return` only after its next event. */
function rendered<T>(events: AsyncIterable<T>, render: (event: T) => string): AsyncIterable<string> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = events[Symbol.asyncIterator]();
      return {
        async next() {
          const step = await iterator.next();
          return step.done === true ? { done: true, value: undefined } : { done: false, value: render(step.value) };
        },
        async return() {
          await iterator.return?.();
          return { done: true, value: undefined };
        },
      };
    },
  };
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => void onEvent(response, "drain", { source: "a client", handle: resolve, once: true }));
}
