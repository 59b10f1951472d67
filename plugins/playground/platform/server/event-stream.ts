/** Sends platform events to any number of open pages, as server-sent events. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { onEvent } from "service-gateway/sdk/channel";
import type { PlatformEvent } from "../core.ts";

export interface EventStream {
  open(request: IncomingMessage, response: ServerResponse): void;
  close(): void;
}

const maxPages = 20;
/** A page that reads too slowly is disconnected. It reconnects and loads the whole state. */
const maxUnsentBytes = 4 * 1024 * 1024;
const pulseMs = 15_000;
/** Calls are announced at most this often, in milliseconds. The page loads them when it shows them. */
const callsMs = 250;

export function createEventStream(on: (listener: (event: PlatformEvent) => void) => () => void): EventStream {
  const pages = new Set<ServerResponse>();
  let stop: (() => void) | undefined;
  let pulse: NodeJS.Timeout | undefined;
  let announced: NodeJS.Timeout | undefined;

  function write(text: string): void {
    for (const page of pages) {
      if (page.writableLength > maxUnsentBytes) page.destroy();
      else page.write(text);
    }
  }

  function hear(event: PlatformEvent): void {
    if (event.type !== "call") {
      write(`data: ${JSON.stringify(event)}\n\n`);
      return;
    }
    announced ??= setTimeout(() => {
      announced = undefined;
      write('data: {"type":"call"}\n\n');
    }, callsMs);
  }

  function rest(): void {
    stop?.();
    stop = undefined;
    clearInterval(pulse);
    clearTimeout(announced);
    announced = undefined;
  }

  return {
    open(_request, response) {
      if (pages.size >= maxPages) {
        response.writeHead(503).end();
        return;
      }
      response.writeHead(200, {
        "content-type": "text/event-stream",
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
      });
      response.write("retry: 1000\n\n");
      if (pages.size === 0) {
        stop = on(hear);
        pulse = setInterval(() => write(": here\n\n"), pulseMs);
      }
      pages.add(response);
      onEvent(response, "close", {
        source: "the page",
        handle() {
          pages.delete(response);
          if (pages.size === 0) rest();
        },
      });
    },
    close() {
      for (const page of pages) page.end();
      pages.clear();
      rest();
    },
  };
}
