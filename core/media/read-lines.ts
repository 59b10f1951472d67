/** Lines of a stream, read so that a flood of them does not stop the event loop. */
import { asText, type Emitter, messageHandler, type OnFault, onMessage } from "../listeners/index.ts";
import { createLineReader } from "./line-reader.ts";

/** A stream of text: a socket or a pipe after `setEncoding`. */
export interface TextStream extends Emitter {
  pause(): unknown;
  resume(): unknown;
}

/** How long lines are handled before everything else has its turn, in milliseconds. */
const sliceMs = 10;

/**
 * Calls `onLine` for each complete line of the stream, without its line feed (a carriage return before it stays). Lines
 * are handled for at most 10 ms at a time. The stream is paused meanwhile, so the sender has to wait and nothing piles
 * up. A line of more than `maxChars` (UTF-16 units) calls `onTooLong` once; nothing more is read then. `source` names
 * the sender in faults. `room` returns a promise while no further line can be taken; the stream waits for it.
 *
 * @example
 * readLines(socket.setEncoding("utf8"), (line) => handle(line), {
 *   source: "the server irc.example.org",
 *   maxChars: 16_384,
 *   onTooLong: () => socket.destroy(),
 * });
 */
export function readLines(
  stream: TextStream,
  onLine: (line: string) => void,
  {
    room,
    maxChars,
    onTooLong,
    ...guard
  }: {
    readonly source: string;
    readonly maxChars: number;
    readonly onTooLong: () => void;
    /** Receives what a line breaks. Default: a warning on the standard error. */
    readonly fault?: OnFault;
    readonly room?: (() => Promise<unknown> | undefined) | undefined;
  },
): void {
  const read = createLineReader(onLine, { maxChars, onTooLong });
  /** Read from the stream, and not handled from `at` on. */
  let text = "";
  let at = 0;
  let isResting = false;
  /** When the lines of this turn of the event loop began. */
  let began: number | undefined;

  function go(): void {
    if (began === undefined) {
      began = performance.now();
      // The pieces that have arrived together are one slice.
      setImmediate(() => {
        if (!isResting) began = undefined;
      });
    }
    while (at < text.length) {
      const full = room?.();
      if (full !== undefined || performance.now() - began > sliceMs) {
        rest(full);
        return;
      }
      const from = at;
      at = text.indexOf("\n", from) + 1 || text.length;
      try {
        read(text.slice(from, at));
      } catch (error) {
        // What has arrived behind the line is handled all the same.
        rest(undefined);
        throw error;
      }
    }
    text = "";
    at = 0;
  }

  function rest(until: Promise<unknown> | undefined): void {
    isResting = true;
    stream.pause();
    const goOn = () =>
      setImmediate(() => {
        isResting = false;
        began = undefined;
        take("");
        if (!isResting) stream.resume();
      });
    if (until === undefined) goOn();
    else until.then(goOn, goOn);
  }

  const handler = {
    ...guard,
    check: asText,
    handle(piece: string) {
      text = at === 0 ? text + piece : text.slice(at) + piece;
      at = 0;
      if (!isResting) go();
    },
  };
  const take = messageHandler("data", handler);
  onMessage(stream, "data", handler);
}
