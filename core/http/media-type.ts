/** Checks the declared type of a body: media type, charset and encoding. */
import type { IncomingHttpHeaders } from "node:http";
import { HttpProblem } from "./problem.ts";

interface MediaTypeRule {
  /** Types that nearly every client sends. They are accepted without parsing. */
  readonly usual: readonly string[];
  readonly accepts: RegExp;
  /** The end of the sentence "Content-Type must be ...". */
  readonly expected: string;
}

/** The problem of a request whose declared body has the wrong type or is not in UTF-8, or `undefined`. A missing type is accepted. */
export function checkMediaType(headers: IncomingHttpHeaders, { usual, accepts, expected }: MediaTypeRule): HttpProblem | undefined {
  const encoding = headers["content-encoding"];
  if (encoding !== undefined && encoding.trim().toLowerCase() !== "identity" && encoding.trim() !== "") {
    return new HttpProblem("unsupported_media_type", "The body must not be compressed: send it without Content-Encoding.");
  }
  const type = headers["content-type"];
  if (type === undefined || usual.includes(type)) return undefined;
  const [media = "", ...parameters] = type.split(";");
  if (!accepts.test(media.trim())) return new HttpProblem("unsupported_media_type", `Content-Type must be ${expected}.`);
  for (const parameter of parameters) {
    const [name = "", value = ""] = parameter.split("=");
    if (name.trim().toLowerCase() !== "charset") continue;
    const charset = value.trim().replaceAll('"', "").toLowerCase();
    if (charset !== "utf-8" && charset !== "utf8" && charset !== "us-ascii") {
      return new HttpProblem("unsupported_media_type", "The charset of the body must be UTF-8.");
    }
  }
  return undefined;
}
