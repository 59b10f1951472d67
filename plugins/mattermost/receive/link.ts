/** A WebSocket of Node with guarded handlers: what the server sends never ends the gateway. */
import { type OnFault, onEvent, onMessage } from "service-gateway/sdk/channel";

/** How a WebSocket is heard. */
export interface LinkHandlers {
  opened(): void;
  text(text: string): void;
  /** It could not be opened, or broke. */
  broken(): void;
  closed(code: number): void;
}

export interface Link {
  /** Does nothing unless the WebSocket is open; returns whether it is. */
  send(text: string): boolean;
  close(): void;
  /** Resolves when nothing of it is left. */
  readonly ended: Promise<unknown>;
}

/** `headers` are those of the first request, which Node's own WebSocket takes as well. */
export function openLink(
  address: string,
  { headers, fault, ...on }: LinkHandlers & { readonly headers: Readonly<Record<string, string>>; fault: OnFault },
): Link {
  const socket = new WebSocket(address, { headers } as never);
  const emitter = { on: (event: string, listener: EventListener) => socket.addEventListener(event, listener) };
  const source = "the Mattermost server";
  const ended = Promise.withResolvers<void>();
  onEvent(emitter, "open", { source, fault, handle: on.opened });
  onEvent(emitter, "error", { source, fault, handle: on.broken });
  onMessage(emitter, "message", { source, fault, check: textOf, handle: on.text });
  onEvent<readonly [{ readonly code: number }]>(emitter, "close", {
    ...{ source, fault },
    handle({ code }) {
      ended.resolve();
      on.closed(code);
    },
  });
  return {
    send(text) {
      if (socket.readyState !== WebSocket.OPEN) return false;
      socket.send(text);
      return true;
    },
    close: () => socket.close(),
    ended: ended.promise,
  };
}

function textOf(event: unknown): string | undefined {
  const { data } = event as { readonly data?: unknown };
  return typeof data === "string" ? data : undefined;
}
