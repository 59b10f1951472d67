/** Parses `multipart/form-data`: fields as texts, and of files only the name, type and size. */
import type { Readable } from "node:stream";
import { Busboy } from "@fastify/busboy";
import { type Json, reasonOf } from "../../contract/index.ts";
import { HttpProblem } from "../../http/index.ts";
import { onEvent } from "../../listeners/index.ts";
import { collectFields, decodeFormBytes, maxFormFields } from "./form-text.ts";

/** Whether a body of this type has to be parsed by `parseMultipart`. */
export const isMultipart = (type: string | undefined): type is string =>
  /^\s*multipart\/form-data\s*(?:;|$)/i.test(type ?? "");

const source = "a client";
const longestName = 1_000;

/** Parses a body, whose size is limited already. Rejects with `HttpProblem`. */
export function parseMultipart(body: Buffer, type: string): Promise<Json> {
  const { promise, resolve, reject } = Promise.withResolvers<Json>();
  const refuse = (error: unknown) =>
    reject(new HttpProblem("bad_request", `The body is not valid multipart/form-data: ${reasonOf(error)}.`));
  const tooMany = () => reject(new HttpProblem("payload_too_large", `The form has more than ${maxFormFields} fields.`));
  const fields: (readonly [name: string, value: Json])[] = [];
  const add = (name: string, value: Json) => fields.push([textOf(name).slice(0, longestName), value]);
  let form: InstanceType<typeof Busboy>;
  try {
    // Latin-1 has a character for each byte, so that the bytes can be decoded here.
    form = new Busboy({
      headers: { "content-type": type },
      defCharset: "latin1",
      limits: { parts: maxFormFields, fieldSize: body.length + 1 },
    });
  } catch (error) {
    refuse(error);
    return promise;
  }
  onEvent(form, "field", { source, handle: (name: string, value: string) => add(name, textOf(value)) });
  onEvent(form, "file", {
    source,
    handle(name: string, stream: Readable, fileName: string | undefined, _encoding: string, mediaType: string) {
      let size = 0;
      onEvent(stream, "data", {
        source,
        handle(chunk: Buffer) {
          size += chunk.length;
        },
      });
      onEvent(stream, "error", { source, handle: refuse });
      onEvent(stream, "end", {
        source,
        handle: () =>
          add(name, {
            name: textOf(fileName ?? "").slice(0, longestName),
            type: mediaType.slice(0, longestName),
            size,
          }),
      });
    },
  });
  onEvent(form, "partsLimit", { source, handle: tooMany });
  onEvent(form, "error", { source, handle: refuse });
  onEvent(form, "finish", { source, handle: () => resolve(collectFields(fields)) });
  form.end(body);
  return promise;
}

/** A text that was decoded as Latin-1. One that names its own encoding is decoded already. */
function textOf(text: string): string {
  return /[\u0100-\uffff]/.test(text) ? text : decodeFormBytes(Buffer.from(text, "latin1"));
}
