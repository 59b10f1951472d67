/** Takes the answers to calls out of what a server sends over HTTP: a JSON text, or a stream of events. */
import { parseExact } from "service-gateway/sdk/tools";
import type { Answers } from "./answers.ts";

type Message = Parameters<Answers["passed"]>[0];

/** `call`: the id of the call that the response is to. */
export function withoutAnswers(response: Response, answers: Answers, call: string | number | undefined): Response {
  const type = response.headers.get("content-type") ?? "";
  const isStream = type.startsWith("text/event-stream");
  if (response.body === null || !(isStream || type.includes("json"))) return response;
  const reader = isStream
    ? events((data) => passedText(data, answers))
    : whole((text) => passedText(text, answers, call));
  const body = response.body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(reader)
    .pipeThrough(new TextEncoderStream());
  return new Response(body, response);
}

/** One message, or a list of them, as text. Other texts stay as they are. */
function passedText(text: string, answers: Answers, call?: string | number): string {
  let message: unknown;
  try {
    message = parseExact(text);
  } catch {
    const id = call ?? answers.idIn(text);
    return id === undefined ? text : JSON.stringify(answers.unreadable(id));
  }
  if (Array.isArray(message)) return JSON.stringify(message.map((one) => passed(one, answers)));
  if (isMessage(message)) return JSON.stringify(passed(message, answers));
  return call === undefined ? text : JSON.stringify(answers.unreadable(call));
}

const isMessage = (value: unknown): value is Message =>
  typeof value === "object" && value !== null && "jsonrpc" in value;

const passed = (value: unknown, answers: Answers): unknown => (isMessage(value) ? answers.passed(value) : value);

function whole(change: (text: string) => string): TransformStream<string, string> {
  const pieces: string[] = [];
  return new TransformStream({
    transform: (piece) => void pieces.push(piece),
    flush: (controller) => controller.enqueue(change(pieces.join(""))),
  });
}

/** Changes the data of each event. Linear in the length of a line, however many pieces it arrives in. */
function events(change: (data: string) => string): TransformStream<string, string> {
  let begun: string[] = [];
  let data: string[] = [];
  function line(text: string, controller: TransformStreamDefaultController<string>): void {
    const value = /^data: ?(.*)$/s.exec(text)?.[1];
    if (value !== undefined) data.push(value);
    else {
      if (text === "" && data.length > 0) {
        const changed = change(data.join("\n"));
        for (const one of changed.split("\n")) controller.enqueue(`data: ${one}\n`);
        data = [];
      }
      controller.enqueue(`${text}\n`);
    }
  }
  return new TransformStream({
    transform(piece, controller) {
      const lines = piece.split(/\r\n|\n|\r(?!$)/);
      for (const [index, text] of lines.entries()) {
        begun.push(text);
        if (index === lines.length - 1) break;
        line(begun.join("").replace(/\r$/, ""), controller);
        begun = [];
      }
    },
    flush(controller) {
      if (begun.some((piece) => piece !== "")) line(begun.join(""), controller);
      for (const one of data) controller.enqueue(`data: ${one}\n`);
    },
  });
}
